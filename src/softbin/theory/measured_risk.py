"""The best number of bins by measuring: fit every number to the fine bins of a column, correct what each fit hides.

F fine bins of n_k rows and mean target y_k, a fit of P parameters to these means, weighted by n_k, and the noise
variance s2 from inside the bins (``pilot``). The fit follows the noise, so that its residual is too small; Mallows:

    E sum n_k (y_k - fit_k)^2          = n squared bias + (F - P) s2
    n risk = n squared bias + P s2     = E sum n_k (y_k - fit_k)^2 - (F - 2 P) s2

The right side without the expectation is an unbiased estimate of the risk. P is K for hard bins and K + 1 for soft
bins, whose knots are on fine bins, so that every knot is determined. Nothing is assumed about many bins or smooth
curves: where a few values far out take up most of the range, ``number_of_bins`` asks for several times too many soft
bins with quantile edges, and this does not. Where that applies, it varies less.
"""

from dataclasses import dataclass
from typing import Any

import numpy as np
from scipy.linalg import solveh_banded

from softbin.theory.design import Floats, Positions
from softbin.theory.number_of_bins import BestBins, BestNumber
from softbin.theory.pilot import Edges, FineBins, steps


@dataclass(frozen=True)
class MeasuredRisk:
    """Estimates of the risk for one number of bins."""

    hard: BestNumber
    soft: BestNumber


def measured_best_n_bins(
    centres: Any, rows: Any, sums: Any, squares: Any, *, edges: Edges = "quantile", most: int | None = None
) -> BestBins:
    """The number of bins, from 1 to ``most``, whose measured risk is least. Arguments as for ``pilot``.

    Numbers up to 16 are all tried, then each about a tenth more than the one before, up to a third of the fine bins.

    >>> v = np.linspace(0, 1, 100_000).reshape(200, 500)  # two hundred bins
    >>> y = np.sin(4 * v) + np.random.default_rng(0).normal(size=v.shape)
    >>> best = measured_best_n_bins(v.mean(axis=1), np.full(200, 500), y.sum(axis=1), (y**2).sum(axis=1))
    >>> best.soft.n_bins
    12
    """
    found = measured_risks(centres, rows, sums, squares, edges=edges, most=most)
    return BestBins(*(min((getattr(risk, fit) for risk in found), key=lambda x: x.risk) for fit in ("hard", "soft")))


def measured_risks(
    centres: Any, rows: Any, sums: Any, squares: Any, *, edges: Edges = "quantile", most: int | None = None
) -> tuple[MeasuredRisk, ...]:
    """The measured risk of every number of bins that is tried, from few to many."""
    fine = FineBins.of(centres, rows, sums, squares)
    limit = max(1, len(fine.rows) // 3 if most is None else min(most, len(fine.rows)))
    return tuple(_measure(fine, size, edges) for size in steps(1, limit, 1.1))


def _measure(fine: FineBins, size: int, edges: Edges) -> MeasuredRisk:
    place = fine.place(edges)
    groups = np.unique(np.minimum((place * size).astype(int), size - 1), return_inverse=True)[1]
    # Why midpoints between shares: a knot is the fine bin nearest to where the quantile is, the ends are the end bins.
    knots = np.unique(np.searchsorted((place[1:] + place[:-1]) / 2, np.linspace(0, 1, size + 1)))
    if len(knots) > 1:
        knots[0], knots[-1] = 0, len(place) - 1
    mean = np.bincount(groups, fine.sums) / np.bincount(groups, fine.rows)
    return MeasuredRisk(
        _corrected(fine, mean[groups], size, len(mean)),
        _corrected(fine, _curve(fine, knots), size, len(knots)),
    )


def _corrected(fine: FineBins, fit: Floats, size: int, n_parameters: int) -> BestNumber:
    residual = float(fine.rows @ (fine.means - fit) ** 2)
    variance = n_parameters * fine.noise_variance / fine.n
    bias = (residual - (len(fit) - n_parameters) * fine.noise_variance) / fine.n
    return BestNumber(size, float(size), bias + variance, bias, variance)


def _curve(fine: FineBins, knots: Positions) -> Floats:
    """The least-squares curve on the fine bins, straight between the ones that ``knots`` names."""
    if len(knots) < 2:
        return np.full(len(fine.rows), fine.sums.sum() / fine.n)
    at = fine.centres[knots]
    k = np.clip(np.searchsorted(at, fine.centres, side="right") - 1, 0, len(at) - 2)
    t = (fine.centres - at[k]) / (at[k + 1] - at[k])

    def per_knot(lower: Floats, upper: Floats) -> Floats:
        return np.asarray(np.bincount(k, lower, len(at)) + np.bincount(k + 1, upper, len(at)), np.float64)

    diagonal = per_knot(fine.rows * (1 - t) ** 2, fine.rows * t**2)
    beside = np.bincount(k, fine.rows * t * (1 - t), len(at))
    height = solveh_banded(np.stack([diagonal, beside]), per_knot(fine.sums * (1 - t), fine.sums * t), lower=True)
    return height[k] * (1 - t) + height[k + 1] * t
