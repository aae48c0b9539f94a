"""Where the knots should be: the density that minimises the bias for a given number of bins.

Let p be the density of the values and g that of the edges, both integrating to one, so that a bin at v is 1/(K g(v))
wide. The bias is locally that of equal bins (``many_bins``), and the variance does not depend on g, so what g is to
minimise is the roughness that it leaves:

    hard bins: slope(g) = integral of p lambda'^2 / g^2      best g ~ (p lambda'^2)^(1/3)
    soft bins: bend(g)  = integral of p lambda''^2 / g^4     best g ~ (p lambda''^2)^(1/5)

(integral of f/g^q under integral of g = 1: the derivative -q f/g^(q+1) has to be constant, so g ~ f^(1/(q+1)), and the
minimum is (integral of f^(1/(q+1)))^(q+1)). Equal-width edges have g = 1/range, quantile edges g = p, which is far
more concentrated in the bulk than either best density. For log-loss p is multiplied by pi(1-pi), the weight of a row.

All functions take v on a grid of increasing points and integrate by trapezoids.
"""

from typing import Any, Literal, get_args

import numpy as np

from softbin.theory.design import Floats

Bins = Literal["hard", "soft"]
POWER = {"hard": 2, "soft": 4}  # of the width of a bin in its squared bias


def best_density(points: Any, density: Any, derivative: Any, bins: Bins = "soft") -> Floats:
    """The best density of edges, at the points. ``derivative``: lambda' for hard bins, lambda'' for soft bins.

    Where the derivative is zero everywhere any edges will do, and the answer is even.

    >>> v = np.linspace(-1, 1, 201)
    >>> best_density(v, np.full(201, 0.5), np.full(201, 3.0)).round(3)[[0, 100, 200]]
    array([0.5, 0.5, 0.5])
    """
    v, f = _points(points), _weighted(density, derivative)
    shape = f ** (1 / (_power(bins) + 1))
    total = np.trapezoid(shape, v)
    return shape / total if total > 0 else np.full(len(v), 1 / (v[-1] - v[0]))


def roughness(points: Any, density: Any, derivative: Any, knots: Any, bins: Bins = "soft") -> float:
    """What ``best_n_bins`` takes as slope (hard) or bend (soft), for edges of the density ``knots`` at the points.

    >>> v = np.linspace(0, 1, 1001)
    >>> even = np.ones(1001)
    >>> round(roughness(v, even, 2 * v, even, "hard"), 4)
    1.3333
    """
    f, g = _weighted(density, derivative), np.asarray(knots, np.float64)
    if ((g <= 0) & (f > 0)).any():
        return float("inf")
    per_point = np.divide(f, g ** _power(bins), out=np.zeros_like(f), where=f > 0)
    return float(np.trapezoid(per_point, _points(points)))


def edges_of(points: Any, knots: Any, n_bins: int) -> Floats:
    """K+1 edges of the density ``knots``: equal shares of its integral between neighbours.

    >>> edges_of(np.linspace(0, 1, 101), np.ones(101), 4).round(6)
    array([0.  , 0.25, 0.5 , 0.75, 1.  ])
    """
    v, g = _points(points), np.asarray(knots, np.float64)
    below = np.concatenate([[0.0], np.cumsum(np.diff(v) * (g[1:] + g[:-1]) / 2)])
    if not below[-1] > 0:
        raise ValueError(f"knots: a density that integrates to {below[-1]} has no edges; pass one above 0")
    inner = np.interp(np.arange(1, n_bins) / n_bins * below[-1], below, v)
    return np.concatenate([v[:1], inner, v[-1:]])


def _points(points: Any) -> Floats:
    v = np.asarray(points, np.float64)
    if v.ndim != 1 or len(v) < 2 or (np.diff(v) <= 0).any():
        raise ValueError("points: they do not strictly increase; pass a grid of at least two that do")
    return v


def _weighted(density: Any, derivative: Any) -> Floats:
    return np.asarray(density, np.float64) * np.asarray(derivative, np.float64) ** 2


def _power(bins: Bins) -> int:
    if bins not in get_args(Bins):
        raise ValueError(f"bins: {bins!r} is neither 'hard' nor 'soft'")
    return POWER[bins]
