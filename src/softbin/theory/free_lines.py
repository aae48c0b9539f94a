"""Free lines: a least-squares line of its own in every bin, with jumps at the edges. What Lemmas 3 and 4 reason about.

    W = sum((v - vbar)(o - obar)) / S_vv,   S_vv = sum((v - vbar)^2),   p_i = obar + W (v_i - vbar)

The smoother of a bin is the projection H = 11'/m + (v - vbar)(v - vbar)'/S_vv. With V the variance of lambda and rho
its correlation with v, both over the m rows of the bin,

    squared bias = V (1 - rho^2),   spent = tr(H) = 2,   Correctness = V (1 - rho^2) + 2 s2/m
    Var p_i      = s2 (1/m + (v_i - vbar)^2 / S_vv):   mean 2 s2/m; at the ends of a bin of evenly spread rows 4 s2/m
    Robustness   = s2 a'Ha = s2/m

A line beats the mean if and only if rho^2 V > s2/m: what it explains has to pay for its second parameter. A bin whose
values are all equal has no slope: it is a hard bin, and spends 1.

Paper: ``paper_lines``, the formulas of another line.
"""

import numpy as np

from softbin.theory.design import Design, Floats
from softbin.theory.paper_lines import printed_correctness as printed_correctness
from softbin.theory.paper_lines import printed_robustness as printed_robustness


def predict(design: Design, targets: Floats) -> Floats:
    """Fitted values; the last axis of ``targets`` are the rows."""
    slope = design.sums(_offset(design) * targets) / _square(design)
    return design.spread(design.means(targets)) + design.spread(slope) * _offset(design)


def squared_bias(design: Design) -> Floats:
    """Per bin."""
    residual = design.truth - predict(design, design.truth)  # V (1 - rho^2), without its cancellation
    return design.means(residual**2)


def spent(design: Design) -> Floats:
    """Parameters that each bin uses: 2, or 1 where all values are equal."""
    return 1 + design.sums(_offset(design) ** 2) / _square(design)


def robustness(design: Design) -> Floats:
    """Per bin."""
    return design.noise_variance / design.rows


def pointwise_variance(design: Design) -> Floats:
    """The variance of each row's prediction."""
    tilt = _offset(design) ** 2 / design.spread(_square(design))
    return design.noise_variance * (1 / design.spread(design.rows.astype(float)) + tilt)


def _offset(design: Design) -> Floats:
    return design.centred(design.values)


def _square(design: Design) -> Floats:
    """S_vv of each bin; one where it is zero, so that the slope is zero."""
    square = design.sums(_offset(design) ** 2)
    return np.where(square > 0, square, 1.0)
