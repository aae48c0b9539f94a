"""The limits for many evenly spread rows and many equal bins, in units where a bin of m rows costs hard bins s2/m.

Bias, bins of width h: to leading order lambda is a line, or a parabola, in a bin. Its mean leaves lambda'^2 h^2/12, the
variance of a uniform on h. Around x = t h the chord misses the parabola by lambda''/2 h^2 t(1-t), whose mean square is
lambda''^2 h^4/120; the best continuous curve lies 1/12 lambda'' h^2 closer everywhere (the mean of what the chord
misses, so a constant shift), which leaves the variance of that: lambda''^2 h^4 (1/120 - 1/144) = lambda''^2 h^4/720.

Variance, inner bins: with m rows per bin G is m times the Toeplitz matrix of 2/3 with 1/6 beside it, whose inverse has
entries sqrt3 r^|j-k| / m, r = sqrt3 - 2. At position t of a bin the soft fit has the variance

    sqrt3 ((1-t)^2 + t^2) + 2 t (1-t) (3 - 2 sqrt3)       mean 1: tr(H) = K+1 is one parameter per bin
    knots sqrt3 = 1.73, bin centre (3 - sqrt3)/2 = .634; the same .634 is its robustness (u = half and half)

At the end of the data the first entry of the inverse is 2 sqrt3, falling by the same r: the extreme knot has 2 sqrt3 =
3.46 and the end bin a robustness of sqrt3/2 = .866. A free line has 1 + 12 (t - 1/2)^2: 4 at the edges, 2 in the mean.
"""

from math import sqrt

import numpy as np

from softbin.theory.design import Floats

HARD_BIAS = 1 / 12  # times h^2 and the integral of lambda'^2
SOFT_BIAS = 1 / 720  # times h^4 and the integral of lambda''^2
INTERPOLATION_BIAS = 1 / 120  # the same, for the curve through the true values

INNER_KNOT = sqrt(3)
END_KNOT = 2 * sqrt(3)
INNER_CENTRE = INNER_BIN = (3 - sqrt(3)) / 2
END_BIN = sqrt(3) / 2
FREE_LINE_END = 4.0


def variance_in_bin(position: Floats, fit: str = "soft") -> Floats:
    """Variance of the prediction at positions 0 to 1 of an inner bin, in units of s2/m.

    >>> variance_in_bin(np.array([0, 0.5, 1])).round(3)
    array([1.732, 0.634, 1.732])
    """
    t = np.asarray(position, np.float64)
    if fit == "hard":
        return np.ones_like(t)
    if fit == "lines":
        return 1 + 12 * (t - 0.5) ** 2
    if fit == "soft":
        return sqrt(3) * ((1 - t) ** 2 + t**2) + 2 * t * (1 - t) * (3 - 2 * sqrt(3))
    raise ValueError(f"fit: {fit!r} is none of 'hard', 'lines', 'soft'")
