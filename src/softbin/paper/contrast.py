"""Differences of AUCs with intervals: paired, because all methods are scored on the same test rows.

The AUC is the mean over positive rows of the share of negative rows with a lower score, and the other way round. These
shares are a row's *placement* (DeLong, DeLong and Clarke-Pearson 1988). A contrast sum_i c_i AUC_i has the placements
sum_i c_i V_i, and with those of m positive and n negative rows

    variance over test rows  =  var(positive placements) / m + var(negative placements) / n,

in which everything that the methods share cancels. Several seeds on the same test rows: their placements are averaged,
and the variance of the contrast between seeds, divided by their number, is added. Folds have test rows of their own:
the variances of their contrasts are averaged, and what the contrasts vary beyond these is added. Degrees of freedom are
Welch's and Satterthwaite's, so few seeds that disagree widen the interval.

Three seeds know little about a variance, but a table has many methods: ``seed_noise`` pools them. With a_is the AUC of
method i at seed s, the residuals a_is - a_i. - a_.s + a_.. of M methods and S seeds have (M - 1)(S - 1) degrees of
freedom, and a contrast whose coefficients sum to zero has variance sum_i c_i^2 times theirs, divided by S.

A method that no seed changes ran once. It has no such noise, is no part of the pool, and stands beside every seed of
the others.
"""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import scipy.stats
from numpy.typing import NDArray

Floats = NDArray[np.float64]


@dataclass(frozen=True)
class Placements:
    """Of every positive and every negative test row."""

    positive: Floats
    negative: Floats

    @property
    def auc(self) -> float:
        return float(self.positive.mean())

    @property
    def variance(self) -> float:
        """Of the AUC, over test rows."""
        return sum(float(side.var(ddof=1)) / len(side) for side in (self.positive, self.negative))


@dataclass(frozen=True)
class Contrast:
    """An estimate with its standard error and degrees of freedom. ``between_seeds`` is False with a single seed."""

    estimate: float
    error: float
    freedom: float
    between_seeds: bool

    def interval(self, level: float) -> tuple[float, float]:
        """Covers the truth with this probability."""
        reach = float(scipy.stats.t.ppf((1 + level) / 2, self.freedom)) * self.error
        return self.estimate - reach, self.estimate + reach


def placements(y: NDArray[np.integer], scores: Floats) -> Placements:
    """Ties count half."""
    sides = scores[y == 1], scores[y == 0]
    orders = [np.argsort(side) for side in sides]
    positive, negative = (side[order] for side, order in zip(sides, orders, strict=True))
    return Placements(_share_below(positive, negative, orders[0]), 1 - _share_below(negative, positive, orders[1]))


@dataclass(frozen=True)
class SeedNoise:
    """The variance of one method's AUC between seeds, apart from what a seed does to all methods."""

    variance: float
    freedom: float


NO_NOISE = SeedNoise(0.0, np.inf)


def seed_noise(aucs: Floats) -> SeedNoise:
    """From AUCs, methods x seeds: the mean square of their interaction."""
    methods, seeds = aucs.shape
    freedom = (methods - 1) * (seeds - 1)
    rest = aucs - aucs.mean(axis=0) - aucs.mean(axis=1, keepdims=True) + aucs.mean()
    return SeedNoise(float(np.sum(rest**2)) / max(freedom, 1), freedom)


def contrast(
    coefficients: Sequence[float],
    placed: Sequence[Sequence[Placements]],
    same_rows: bool,
    noise: Sequence[SeedNoise] | None = None,
) -> Contrast:
    """sum_i c_i AUC_i, averaged over seeds. ``placed`` is methods x seeds, ``same_rows`` is False for folds.

    A method may have one run instead, for all seeds. ``noise`` is the pooled noise of each method, for contrasts that
    sum to zero among the methods that were pooled.
    """
    n_seeds = max(map(len, placed))
    every = [runs * n_seeds if len(runs) == 1 else runs for runs in map(list, placed)]
    by_seed = [_combined(coefficients, of_seed) for of_seed in zip(*every, strict=True)]
    estimates = np.array([one.auc for one in by_seed])
    tests = _combined([1 / n_seeds] * n_seeds, by_seed).variance if same_rows else _mean_variance(by_seed)
    if same_rows and noise is not None:
        parts = [c**2 * one.variance / n_seeds for c, one in zip(coefficients, noise, strict=True)]
        seeds, known = sum(parts), min(one.freedom for one in noise)
    else:
        spread = float(estimates.var(ddof=1)) / n_seeds if n_seeds > 1 else 0.0
        seeds, known = (spread if same_rows else max(0.0, spread - tests)), n_seeds - 1
    total = tests + seeds
    # Welch and Satterthwaite, with the test rows as a source of endless degrees of freedom.
    freedom = known * (total / seeds) ** 2 if seeds > 0 else np.inf
    return Contrast(float(estimates.mean()), float(np.sqrt(total)), float(freedom), n_seeds > 1)


def _share_below(scores: Floats, others: Floats, order: NDArray[np.intp]) -> Floats:
    """Both sorted, which is four times as fast to search; the answer is put back in order."""
    below = np.searchsorted(others, scores, "left") + np.searchsorted(others, scores, "right")
    shares = np.empty(len(scores))
    shares[order] = below / (2 * len(others))
    return shares


def _combined(coefficients: Sequence[float], placed: Sequence[Placements]) -> Placements:
    pairs = list(zip(coefficients, placed, strict=True))
    return Placements(sum(c * p.positive for c, p in pairs), sum(c * p.negative for c, p in pairs))  # type: ignore[arg-type]


def _mean_variance(by_fold: Sequence[Placements]) -> float:
    return sum(one.variance for one in by_fold) / len(by_fold) ** 2
