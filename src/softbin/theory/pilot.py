"""Noise and roughness from a pilot fit: the target's count, sum and sum of squares in some bins of a column.

Bins of n_k rows with mean target y_k and centre c_k. The rows of a bin differ from its mean by noise (and by the little
that lambda does inside the bin), so the pooled variance estimates s2:

    s2 = sum over bins of (sum of squares - n_k y_k^2) / (n - bins)

A difference of means is a difference of lambda plus noise of known variance, so its square is too large on average by
just that. With divided differences over neighbours,

    slope_k = (y_{k+1} - y_k) / (c_{k+1} - c_k)                             lambda' between the two centres
    bend_k  = 2 (slope_{k+1} - slope_k) / (c_{k+2} - c_k)                   lambda'' around the middle one

each a sum of a_j y_j, and slope_k^2 - s2 sum(a_j^2 / n_j) is an unbiased estimate of the squared derivative. Single
ones may be negative. Their integrals are what ``best_n_bins`` takes, and these are cut at zero: a column without signal
has no roughness. Over a stretch of width w that holds the share q of the rows, the density of the values is q/w, and

    quantile edges, g = q/w:        slope = sum of slope_k^2 w^2/q,   bend = sum of bend_k^2 w^4/q^3
    equal widths, g = 1/range:      slope = sum of slope_k^2 q range^2,   bend = sum of bend_k^2 q range^4

each divided by the share of the rows that the stretches cover: the ends of the column are taken to be like the rest.
"""

from dataclasses import dataclass
from typing import Any, Literal

import numpy as np

from softbin.theory.design import Floats
from softbin.theory.number_of_bins import BestBins, best_n_bins

Edges = Literal["quantile", "uniform"]


@dataclass(frozen=True, eq=False)
class Stretches:
    """Parts of a column: the point each is about, its width, its share of the rows, a squared derivative (unbiased)."""

    at: Floats
    width: Floats
    share: Floats
    squared: Floats

    def integral(self, edges: Edges, power: int) -> float:
        """The roughness that edges of this kind leave; ``power`` is that of the bin width in the squared bias."""
        if edges not in ("quantile", "uniform"):
            raise ValueError(f"edges: {edges!r} is neither 'quantile' nor 'uniform'")
        if not len(self.at):
            return 0.0
        relative = self.width / self.share if edges == "quantile" else self.width.sum() / self.share.sum()
        return max(0.0, float((self.squared * self.share * relative**power).sum() / self.share.sum()))


@dataclass(frozen=True, eq=False)
class Pilot:
    """What a pilot fit knows: rows, noise variance, and squared first and second derivatives along the column."""

    n: float
    noise_variance: float
    slopes: Stretches
    bends: Stretches

    def best_n_bins(self, edges: Edges = "quantile", *, most: int | None = None) -> BestBins:
        """The best number of bins of this column, with edges at quantiles or at equal widths."""
        slope, bend = self.slopes.integral(edges, 2), self.bends.integral(edges, 4)
        return best_n_bins(self.n, self.noise_variance, slope, bend, most=most)


def pilot(centres: Any, rows: Any, sums: Any, squares: Any) -> Pilot:
    """Read a pilot fit: per bin its centre, its rows (or weight), the sum of its targets and of their squares.

    Bins without rows are left out. A bend takes three bins, and a noise more rows than bins.

    >>> v = np.linspace(0, 1, 10_000).reshape(10, 1000)  # ten bins
    >>> y = (v - 0.5) ** 2
    >>> found = pilot(v.mean(axis=1), np.full(10, 1000), y.sum(axis=1), (y**2).sum(axis=1))
    >>> found.bends.squared.round(1)
    array([4., 4., 4., 4., 4., 4., 4., 4.])
    """
    c, n, total, square = (np.asarray(x, np.float64) for x in (centres, rows, sums, squares))
    some = n > 0
    c, n, total, square = c[some], n[some], total[some], square[some]
    if n.sum() <= len(n):
        raise ValueError(f"pilot: {n.sum():g} rows in {len(n)} bins leave nothing to see noise by; take fewer bins")
    if (np.diff(c) <= 0).any():
        raise ValueError("centres: they do not strictly increase; pass the bins in the order of their values")
    mean = total / n
    noise = float(np.maximum(square - total * mean, 0).sum() / (n.sum() - len(n)))
    gap, share = np.diff(c), n / n.sum()
    slope = np.diff(mean) / gap
    slope_noise = noise * (1 / n[:-1] + 1 / n[1:]) / gap**2
    span = (c[2:] - c[:-2]) / 2
    first, last = 1 / (gap[:-1] * span), 1 / (gap[1:] * span)
    bend_noise = noise * (first**2 / n[:-2] + (first + last) ** 2 / n[1:-1] + last**2 / n[2:])
    slopes = Stretches((c[1:] + c[:-1]) / 2, gap, (share[1:] + share[:-1]) / 2, slope**2 - slope_noise)
    bends = Stretches(c[1:-1], span, share[1:-1], (np.diff(slope) / span) ** 2 - bend_noise)
    return Pilot(float(n.sum()), noise, slopes, bends)
