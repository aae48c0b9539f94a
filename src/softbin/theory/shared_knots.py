"""Soft bins: one continuous curve, straight between knots. What local linear encoding (LLE) really fits.

Phi is the n x (K+1) matrix of hats: row i stands on knots k and k+1 with weights 1 - t and t, t its position in bin k.
Least squares is the projection H = Phi G^-1 Phi', with G = Phi'Phi tridiagonal and, for any K, well conditioned. Then

    squared bias of bin B = (1/m) sum over B of ((I - H) lambda)_i^2
    spent by bin B        = sum over B of H_ii,   over all bins tr(H) = K+1: sharing knots costs one parameter, not K
    Var p_i               = s2 H_ii = s2 ((1-t)^2 Z_kk + 2 t (1-t) Z_k,k+1 + t^2 Z_k+1,k+1),   Z = G^-1
    Robustness of bin B   = s2 a'Ha = s2 u'Zu,   u = Phi'a = the mean weights of B's rows on its two knots

so that nothing but the tridiagonal part of Z is needed. From the Cholesky factor G = L L' with diagonal d and
subdiagonal e, the equation L'Z = L^-1 gives it from the last knot to the first:

    Z_KK = 1/d_K^2,   Z_k,k+1 = -(e_k/d_k) Z_k+1,k+1,   Z_kk = 1/d_k^2 - (e_k/d_k) Z_k,k+1

which makes everything here O(n + K). a'Ha <= a'a = 1/m since H is a projection, and equal only if the curve could jump
at the edges of B: the mean prediction of a bin is steadier than with hard bins.

Paper: Lemmas 3 and 4 reason about a line per bin with ends of its own, which the encoding does not have.
"""

import numpy as np
from scipy.linalg import LinAlgError, cho_solve_banded, cholesky_banded

from softbin.theory.design import Design, Floats
from softbin.theory.paper_lines import printed_correctness as printed_correctness
from softbin.theory.paper_lines import printed_robustness as printed_robustness

FAINT = 1e-12  # a pivot below this share of its diagonal is rounding


def predict(design: Design, targets: Floats) -> Floats:
    """Fitted values; the last axis of ``targets`` are the rows."""
    t = design.fraction
    lower, upper = design.sums((1 - t) * targets), design.sums(t * targets)
    ends = [(0, 0)] * (lower.ndim - 1)
    sums = np.pad(lower, [*ends, (0, 1)]) + np.pad(upper, [*ends, (1, 0)])
    height = cho_solve_banded((_factor(design), True), sums.T).T
    return height[..., design.bin] * (1 - t) + height[..., design.bin + 1] * t


def squared_bias(design: Design) -> Floats:
    """Per bin."""
    return design.means((design.truth - predict(design, design.truth)) ** 2)


def spent(design: Design) -> Floats:
    """Parameters that each bin uses; they sum to K+1."""
    return design.sums(leverage(design))


def robustness(design: Design) -> Floats:
    """Per bin."""
    diagonal, beside = selected_inverse(design)
    u = design.means(design.fraction)
    return design.noise_variance * _quadratic(u, diagonal[:-1], beside, diagonal[1:])


def pointwise_variance(design: Design) -> Floats:
    """The variance of each row's prediction."""
    return design.noise_variance * leverage(design)


def leverage(design: Design) -> Floats:
    """H_ii of each row."""
    diagonal, beside = selected_inverse(design)
    k = design.bin
    return _quadratic(design.fraction, diagonal[k], beside[k], diagonal[k + 1])


def gram(design: Design) -> Floats:
    """G in two rows of K+1 numbers: its diagonal, and the entries beside it, followed by a zero."""
    t = design.fraction
    diagonal = np.append(design.sums((1 - t) ** 2), 0) + np.append(0, design.sums(t**2))
    return np.stack([diagonal, np.append(design.sums(t * (1 - t)), 0)])


def selected_inverse(design: Design) -> tuple[Floats, Floats]:
    """The diagonal of G^-1 (K+1 numbers) and the entries beside it (K)."""
    pivot, below = _factor(design)
    ratio = (below[:-1] / pivot[:-1]).tolist()
    diagonal = (1 / pivot**2).tolist()  # Why lists: each entry needs the one after it, and NumPy's items are slow
    beside = [0.0] * len(ratio)
    for k in reversed(range(len(ratio))):
        beside[k] = -ratio[k] * diagonal[k + 1]
        diagonal[k] -= ratio[k] * beside[k]
    return np.array(diagonal), np.array(beside)


def _quadratic(t: Floats, first: Floats, between: Floats, second: Floats) -> Floats:
    return (1 - t) ** 2 * first + 2 * t * (1 - t) * between + t**2 * second


def _factor(design: Design) -> Floats:
    banded = gram(design)
    try:
        factor: Floats = cholesky_banded(banded, lower=True)
    except LinAlgError:
        factor = np.zeros_like(banded)
    if (factor[0] ** 2 <= FAINT * banded[0]).any():
        raise ValueError(f"edges: the rows do not determine {design.n_bins + 1} knots; take fewer, or knots on values")
    return factor
