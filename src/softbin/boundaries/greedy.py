"""Top-down search of CAIM, CACC and Ameva: the cut that raises a criterion most, again and again, until none does.

All three criteria are a function of the number r of bins and of one sum over the bins, to which each bin adds what its
own classes say. So the best next cut is the one that adds most to the sum, whatever r is, and a piece's best cut does
not depend on the other pieces. Shares of the weight stand in for counts: none of the three asks how many rows there
are. With q the share of a class in a bin, M that of the bin, C that of the class:

    bin scores of CAIM            max q^2 / M
    of CACC and Ameva             sum over classes of q^2 / (M C); over all bins, 1 + chi2 / N
"""

from collections.abc import Callable
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import NDArray

from softbin.boundaries.best_first import Cut, best_first, first_best, room_for_cuts
from softbin.summaries.target_counts import TargetCounts

Floats = NDArray[np.float64]
Score = Callable[["ClassShares", Any, Any], Floats]
RISE = 1e-12  # less than this is rounding


@dataclass(frozen=True, eq=False)
class ClassShares:
    """The share of all weight that each class has in pieces [start, stop) of fine bins."""

    counts: TargetCounts

    @cached_property
    def below(self) -> Floats:
        """(Bins + 1) x classes that any weight is on: the share in all bins before each."""
        sums = self.counts.sums[:, self.counts.sums.any(axis=0)]
        below = np.concatenate([np.zeros((1, sums.shape[1]), np.int64), np.cumsum(sums, axis=0)])
        shares: Floats = below / float(below[-1].sum())
        return shares

    @property
    def n_classes(self) -> int:
        return self.below.shape[1]

    @cached_property
    def weight_below(self) -> Floats:
        weight: Floats = self.below.sum(axis=1)
        return weight

    def __call__(self, start: Any, stop: Any) -> Floats:
        shares: Floats = self.below[stop] - self.below[start]
        return shares


def largest_class(shares: ClassShares, start: Any, stop: Any) -> Floats:
    """max q^2 / M of each piece."""
    q = shares(start, stop)
    score: Floats = q.max(axis=-1) ** 2 / q.sum(axis=-1)
    return score


def chi_squared(shares: ClassShares, start: Any, stop: Any) -> Floats:
    """sum q^2 / (M C) of each piece."""
    q = shares(start, stop)
    score: Floats = (q**2 / shares.below[-1]).sum(axis=-1) / q.sum(axis=-1)
    return score


def greedy_cuts(
    counts: TargetCounts,
    score: Score,
    criterion: Callable[[float, int, int], float],
    n_bins: int,
    min_bin_share: float,
    as_many_as_classes: bool,
) -> tuple[list[int], str]:
    """The cuts, and why there are no more of them.

    ``criterion`` is a function of the sum of scores, the number of bins and of classes. ``as_many_as_classes``: so
    many bins are made before it matters whether the criterion rises.
    """
    shares = ClassShares(counts)
    if shares.n_classes == 1:
        return [], "one class only: nothing to tell apart"

    def best_cut(start: int, stop: int) -> Cut | None:
        at = room_for_cuts(shares.weight_below, start, stop, min_bin_share)
        if len(at) == 0:
            return None
        gain = score(shares, start, at) + score(shares, at, stop) - score(shares, start, stop)
        best = first_best(gain)
        return float(np.round(gain[best], 12)), int(at[best])

    total, reached = float(score(shares, 0, len(counts))), 0.0
    chosen: list[int] = []
    for gain, at in best_first(len(counts), best_cut):
        r = len(chosen) + 2
        rose = criterion(total + gain, r, shares.n_classes)
        if rose <= reached + RISE and not (as_many_as_classes and r <= shares.n_classes):
            break
        if r > n_bins:
            return sorted(chosen), f"capped at {n_bins} bins; the criterion would still rise"
        chosen.append(at)
        total, reached = total + gain, rose
    return sorted(chosen), "" if chosen else "no cut raises the criterion"
