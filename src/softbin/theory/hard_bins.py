"""Hard bins: every row of a bin is predicted by the mean target of the bin (the paper's common discretization, CD).

With V = the variance of lambda over the m rows of the bin, the smoother of the bin is the mean, S = 11'/m, so that

    squared bias = V,   spent = tr(SS') = 1,   Correctness = V + s2/m,   Robustness = s2 |S'1/m|^2 = s2/m.

Paper: Correctness = V (the mean of the targets is replaced by its expectation inside a square, which loses s2/m), and
Robustness = s2/m^2 (the m predictions are summed as if they were independent; they are one and the same number).

A split of the bin into parts of m_j rows changes V + s2/m into (mean of the V_j) + (parts) s2/m. The difference is the
variance between the parts: splitting in two helps if and only if that exceeds s2/m.
"""

import numpy as np

from softbin.theory.design import Design, Floats


def predict(design: Design, targets: Floats) -> Floats:
    """Fitted values; the last axis of ``targets`` are the rows."""
    return design.spread(design.means(targets))


def squared_bias(design: Design) -> Floats:
    """Per bin."""
    return design.means(design.centred(design.truth) ** 2)


def spent(design: Design) -> Floats:
    """Parameters that each bin uses."""
    return np.ones(design.n_bins)


def robustness(design: Design) -> Floats:
    """Per bin."""
    return design.noise_variance / design.rows


def pointwise_variance(design: Design) -> Floats:
    """The variance of each row's prediction."""
    return design.spread(robustness(design))


def printed_correctness(design: Design) -> Floats:
    """Paper: the proof of Lemma 1."""
    return squared_bias(design)


def printed_robustness(design: Design) -> Floats:
    """Paper: the proof of Lemma 2."""
    return design.noise_variance / design.rows**2
