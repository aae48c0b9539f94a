"""What estimation noise costs a logistic regression in AUC.

P parameters fitted on n rows by maximum likelihood add noise to the logit of a row, of variance, in the mean over rows,

    tau2 = P / (n E[p (1-p)])          tr(Phi I^-1 Phi')/n with the information I = Phi' diag(p (1-p)) Phi

Let the logit be normal in both classes. Log-odds that are what they say have means d^2/2 and -d^2/2 and variance d^2:

    AUC  = Phi(d^2 / sqrt(2 d^2)) = Phi(d / sqrt2),   d = sqrt2 Phi^-1(AUC)
    AUC' = Phi(d^2 / sqrt(2 (d^2 + tau2)))            with the noise
"""

from math import log, pi, sqrt

import numpy as np
from scipy.special import expit, ndtr, ndtri


def auc_with_noise(auc: float, n_parameters: float, n: float, information: float | None = None) -> float:
    """The AUC that is left of ``auc``, the AUC of endless rows, after fitting ``n_parameters`` on ``n`` rows.

    ``information``: E[p(1-p)]; from the AUC itself unless given.

    >>> round(auc_with_noise(0.7729, n_parameters=28 * 100, n=105_000), 4)
    0.76
    """
    _check(auc)
    weight = information_of(auc) if information is None else information
    signal = 2 * float(ndtri(auc)) ** 2  # d^2
    return float(ndtr(signal / sqrt(2 * (signal + n_parameters / (n * weight))))) if signal else 0.5


def information_of(auc: float, share: float = 0.5) -> float:
    """E[p(1-p)] of calibrated log-odds that are normal in both classes; ``share`` is that of the ones.

    >>> round(information_of(0.775), 3)
    0.193
    """
    _check(auc)
    if not 0 < share < 1:
        raise ValueError(f"share: {share} leaves one class only; pass a number between 0 and 1")
    d = sqrt(2) * float(ndtri(auc))
    z, weight = np.polynomial.hermite_e.hermegauss(64)
    offset = log(share / (1 - share))
    ones, zeros = (expit(offset + side * d**2 / 2 + d * z) for side in (1, -1))
    mixed = share * ones * (1 - ones) + (1 - share) * zeros * (1 - zeros)
    return float(weight @ mixed / sqrt(2 * pi))


def _check(auc: float) -> None:
    if not 0.5 <= auc < 1:
        raise ValueError(f"auc: {auc} is not from 0.5 to below 1; turn the score around, or look for a leak")
