"""Noise and roughness from a pilot fit: the target's count, sum and sum of squares in fine bins of a column.

Noise. The rows of a bin differ from its mean by noise (and by the little that lambda does in a fine bin), so that

    s2 = sum over bins of (sum of squares - n_k y_k^2) / (n - bins),   n_k rows of mean target y_k

Roughness. Merge the fine bins to J equal shares of the rows, with centres c_k, and take divided differences,

    slope_k = (y_{k+1} - y_k) / (c_{k+1} - c_k)                             lambda' between the two centres
    bend_k  = 2 (slope_{k+1} - slope_k) / (c_{k+2} - c_k)                   lambda'' around the middle one

Each is a sum of a_j y_j. Its square is too large on average by e_k = s2 sum(a_j^2 / n_j), which is subtracted. Over a
stretch of width w with the share q of the rows the density of the values is q/w, and what ``best_n_bins`` takes is

    quantile edges, g = q/w:     slope = sum of (slope_k^2 - e_k) w^2/q,      bend = sum of (bend_k^2 - e_k) w^4/q^3
    equal widths, g = 1/range:   slope = sum of (slope_k^2 - e_k) q range^2,  bend = sum of (bend_k^2 - e_k) q range^4

The ends of the column, where there is no neighbour to subtract, have the derivative of the stretch next to them.

Which J. What is subtracted grows with J^3 (slope) and J^5 (bend), and merging blurs. By ``number_of_bins``, at the best
numbers K of bins it is 2/6 of the slope and 6/180 of the bend, so J = K is clear, and the bend is lost at J = 2 K. The
finest J is taken whose roughness is three times what was subtracted; with no such J, the coarsest, cut at zero:
a column without signal has no roughness.

Targets of 0 and 1 are counted as they are: what matters is roughness over noise, and with p for the share of ones that
is p'^2 / (p(1-p)) here and logit(p)'^2 p(1-p), the same, for the curve of a logistic regression.
"""

from collections.abc import Iterable
from dataclasses import dataclass
from typing import Any, Literal

import numpy as np

from softbin.theory.design import Floats
from softbin.theory.number_of_bins import BestBins, best_n_bins

Edges = Literal["quantile", "uniform"]
FEWEST = 4  # merged bins: two bends
CLEAR = 3  # how many times its noise a roughness has to be


@dataclass(frozen=True, eq=False)
class FineBins:
    """Bins with rows, in the order of their values: centre, rows (or weight), sum of targets; and their noise."""

    centres: Floats
    rows: Floats
    sums: Floats
    noise_variance: float

    @classmethod
    def of(cls, centres: Any, rows: Any, sums: Any, squares: Any) -> "FineBins":
        """Check, leave out bins without rows, and estimate the noise."""
        c, n, total, square = (np.asarray(x, np.float64) for x in (centres, rows, sums, squares))
        some = n > 0
        c, n, total, square = c[some], n[some], total[some], square[some]
        if n.sum() <= len(n):
            raise ValueError(f"rows: {n.sum():g} in {len(n)} bins leave nothing to see noise by; take fewer bins")
        if (np.diff(c) <= 0).any():
            raise ValueError("centres: they do not strictly increase; pass the bins in the order of their values")
        noise = float(np.maximum(square - total**2 / n, 0).sum() / (n.sum() - len(n)))
        return cls(c, n, total, noise)

    @property
    def n(self) -> float:
        return float(self.rows.sum())

    @property
    def means(self) -> Floats:
        return self.sums / self.rows

    def place(self, edges: Edges) -> Floats:
        """Where each bin is along the column, from 0 to 1: by rows for quantile edges, else by value."""
        if edges == "quantile":
            return (np.cumsum(self.rows) - self.rows / 2) / self.n
        if edges != "uniform":
            raise ValueError(f"edges: {edges!r} is neither 'quantile' nor 'uniform'")
        return (self.centres - self.centres[0]) / (np.ptp(self.centres) or 1.0)


@dataclass(frozen=True, eq=False)
class Stretches:
    """Parts of a column: width, share of the rows, a squared derivative, and how much of it is noise on average."""

    width: Floats
    share: Floats
    squared: Floats
    noise: Floats

    def integral(self, edges: Edges, power: int) -> tuple[float, float]:
        """The roughness that such edges leave, and what was subtracted. ``power``: of the bin width in the bias."""
        relative = self.width / self.share if edges == "quantile" else self.width.sum()
        weight = self.share * relative**power
        subtracted = float(weight @ self.noise)
        return float(weight @ self.squared) - subtracted, subtracted


@dataclass(frozen=True, eq=False)
class Pilot:
    """What a pilot fit knows: rows, noise variance, and derivatives along the column, from coarse to fine."""

    n: float
    noise_variance: float
    slopes: tuple[Stretches, ...]
    bends: tuple[Stretches, ...]

    def best_n_bins(self, edges: Edges = "quantile", *, most: int | None = None) -> BestBins:
        """The best number of bins of this column, with edges at quantiles or at equal widths."""
        slope, bend = self.roughness(edges)
        return best_n_bins(self.n, self.noise_variance, slope, bend, most=most)

    def roughness(self, edges: Edges = "quantile") -> tuple[float, float]:
        """The slope and the bend that such edges leave."""
        if edges not in ("quantile", "uniform"):
            raise ValueError(f"edges: {edges!r} is neither 'quantile' nor 'uniform'")
        slope = _finest_clear(level.integral(edges, 2) for level in self.slopes)
        return slope, _finest_clear(level.integral(edges, 4) for level in self.bends)


@dataclass(frozen=True, eq=False)
class Merged:
    """Bins by centre, rows, mean target and, one more than bins, borders."""

    centres: Floats
    rows: Floats
    mean: Floats
    borders: Floats


def pilot(centres: Any, rows: Any, sums: Any, squares: Any) -> Pilot:
    """Read fine bins: the centre of each, its rows (or weight), the sum of its targets and of their squares.

    Fine bins of about equal rows, 30 to 1000 of them; those without rows are left out. A noise takes more rows than
    bins, and with fewer than three bins there is no roughness.

    >>> v = np.linspace(0, 1, 100_000).reshape(100, 1000)  # a hundred bins
    >>> y = np.sin(4 * v) + np.random.default_rng(0).normal(size=v.shape)
    >>> found = pilot(v.mean(axis=1), np.full(100, 1000), y.sum(axis=1), (y**2).sum(axis=1))
    >>> found.best_n_bins().hard.n_bins, found.best_n_bins().soft.n_bins
    (55, 9)
    """
    fine = FineBins.of(centres, rows, sums, squares)
    sizes = steps(FEWEST, len(fine.rows), 1.25) if len(fine.rows) >= 3 else []
    levels = [_differences(_merged(fine, size), fine.noise_variance) for size in sizes]
    return Pilot(fine.n, fine.noise_variance, tuple(level[0] for level in levels), tuple(level[1] for level in levels))


def steps(fewest: int, most: int, factor: float) -> list[int]:
    """Whole numbers up to ``most``, each about ``factor`` times the one before, or the next."""
    sizes = [min(fewest, most)]
    while sizes[-1] < most:
        sizes.append(min(most, max(sizes[-1] + 1, round(sizes[-1] * factor))))
    return sizes


def _merged(fine: FineBins, size: int) -> Merged:
    """``size`` bins (fewer if some are heavy) of about equal rows."""
    c, n = fine.centres, fine.rows
    group = np.unique((fine.place("quantile") * size).astype(int), return_inverse=True)[1]
    rows = np.bincount(group, n).astype(np.float64)
    between = (c[1:] + c[:-1]) / 2
    # Why mirrored: the centres are all that is known, and the end bins are often the ones that count.
    ends = (2 * c[:1] - between[:1], 2 * c[-1:] - between[-1:])
    borders = np.concatenate([ends[0], between[np.diff(group) > 0], ends[1]])
    return Merged(np.bincount(group, n * c) / rows, rows, np.bincount(group, fine.sums) / rows, borders)


def _differences(bins: Merged, noise: float) -> tuple[Stretches, Stretches]:
    """First differences over gaps and the halves beyond them, second differences over bins; ends like neighbours."""
    c, n = bins.centres, bins.rows
    gap, share = np.diff(c), n / n.sum()
    slope = np.diff(bins.mean) / gap
    slope_noise = noise * (1 / n[:-1] + 1 / n[1:]) / gap**2
    span = (c[2:] - c[:-2]) / 2
    first, last = 1 / (gap[:-1] * span), 1 / (gap[1:] * span)
    bend_noise = noise * (first**2 / n[:-2] + (first + last) ** 2 / n[1:-1] + last**2 / n[2:])
    bend = np.diff(slope) / span
    halves = np.concatenate([c[:1] - bins.borders[:1], gap, bins.borders[-1:] - c[-1:]])
    half_shares = np.concatenate([share[:1] / 2, (share[1:] + share[:-1]) / 2, share[-1:] / 2])
    return (
        Stretches(halves, half_shares, _with_ends(slope**2), _with_ends(slope_noise)),
        Stretches(np.diff(bins.borders), share, _with_ends(bend**2), _with_ends(bend_noise)),
    )


def _with_ends(x: Floats) -> Floats:
    return np.pad(x, 1, mode="edge")


def _finest_clear(levels: Iterable[tuple[float, float]]) -> float:
    """From coarse to fine, the last roughness that is clear of what was subtracted; else the first, if positive."""
    found = list(levels)
    clear = [value for value, subtracted in found if value >= CLEAR * subtracted]
    return max(0.0, clear[-1] if clear else found[0][0] if found else 0.0)
