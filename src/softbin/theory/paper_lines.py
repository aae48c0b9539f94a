"""A line per bin as the paper prints it: the slope of a regression through the origin, set off to the mean of the bin.

    W = sum(v o) / sum(v^2),   b = mean(o - v W),   p_i = v_i W + b = mean(o) + W (v_i - vbar)

That is not least squares unless the mean of v is zero, and it depends on where the column has its zero. The smoother
of a bin is S = 11'/m + (v - vbar) v' / (v'v). With S_vv = sum (v - vbar)^2, and because 1'(v - vbar) = 0,

    squared bias = (1/m) sum((lambda_i - mean(lambda)) - W_lambda (v_i - vbar))^2,   W_lambda = sum(v lambda)/sum(v^2)
    spent        = tr(SS') = 1 + S_vv / (v'v)
    Var p_i      = s2 (1/m + 2 vbar (v_i - vbar) / (v'v) + (v_i - vbar)^2 / (v'v))
    Robustness   = s2 |S'1/m|^2 = s2/m

Paper: Correctness is the squared bias alone, said to be at most that of hard bins (Lemma 3). It is not: a constant
lambda = c has W_lambda = c vbar m / (v'v), a slope where there is none. Robustness is s2/m^2 (Lemma 4): b is left out
and the products of the v_i are dropped from the square of their sum.
"""

import numpy as np

from softbin.theory.design import Design, Floats


def predict(design: Design, targets: Floats) -> Floats:
    """Fitted values; the last axis of ``targets`` are the rows."""
    return design.spread(design.means(targets)) + design.spread(_slope(design, targets)) * _offset(design)


def squared_bias(design: Design) -> Floats:
    """Per bin."""
    return design.means(
        (design.centred(design.truth) - design.spread(_slope(design, design.truth)) * _offset(design)) ** 2
    )


def spent(design: Design) -> Floats:
    """Parameters that each bin uses."""
    return 1 + design.sums(_offset(design) ** 2) / _square(design)


def robustness(design: Design) -> Floats:
    """Per bin."""
    return design.noise_variance / design.rows


def pointwise_variance(design: Design) -> Floats:
    """The variance of each row's prediction."""
    offset, mean = _offset(design), design.spread(design.means(design.values))
    tilt = (2 * mean * offset + offset**2) / design.spread(_square(design))
    return design.noise_variance * (1 / design.spread(design.rows.astype(float)) + tilt)


def printed_correctness(design: Design) -> Floats:
    """Paper: the proof of Lemma 3 (whose v_j in the last factor has to be v_i)."""
    return squared_bias(design)


def printed_robustness(design: Design) -> Floats:
    """Paper: the proof of Lemma 4."""
    return design.noise_variance / design.rows**2


def _offset(design: Design) -> Floats:
    return design.centred(design.values)


def _square(design: Design) -> Floats:
    """The sum of v^2 of each bin; one where all are zero, so that their slope is zero."""
    square = design.sums(design.values**2)
    return np.where(square > 0, square, 1.0)


def _slope(design: Design, targets: Floats) -> Floats:
    return design.sums(design.values * targets) / _square(design)
