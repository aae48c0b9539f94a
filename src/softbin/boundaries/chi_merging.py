"""Neighbouring bins merged one pair at a time, the pair whose classes are most alike first.

How unlike two bins are is the chi-squared statistic of their table, 2 bins x k classes:

    chi2 = sum (A - E)^2 / E,  E = (weight of the bin) (weight of the class in both) / (weight of both)

with 1/2 in place of a divisor E that is smaller (Kerber's guard against rare classes). Which pair is next does not
depend on when to stop, so all merges are listed once, down to a single bin, and a rule takes as many as it likes.
"""

import heapq
import math
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

Floats = NDArray[np.float64]
Positions = NDArray[np.intp]

LEAST_EXPECTED = 0.5
GRID = 2.0**30


@dataclass(frozen=True, eq=False)
class Merges:
    """In order: the ``chi2`` of the pair, the fine bin its right bin started at, the weight that becomes inconsistent.

    A bin's weight that is not of its largest class is inconsistent.
    """

    chi2: Floats
    start: Positions
    lost: Floats

    def until(self, threshold: float, after: int = 0) -> int:
        """How many merges there are, ``after`` at least, before a pair is as unlike as the threshold."""
        unlike = np.flatnonzero(self.chi2[after:] >= threshold)
        return after + int(unlike[0]) if len(unlike) else len(self.chi2)

    def left(self, n_merges: int) -> list[int]:
        """The cuts left after so many merges."""
        return sorted(self.start[n_merges:].tolist())


def merge_alike(class_weight: Floats) -> Merges:
    """All merges of bins with these classes (bins x classes). Of pairs equally alike, the left one is first."""
    bins: list[list[float]] = class_weight.tolist()
    n = len(bins)
    before, after = list(range(-1, n - 1)), list(range(1, n + 1))
    current = [pair_chi2(bins[i], bins[i + 1]) for i in range(n - 1)]
    queue = [(chi2, i) for i, chi2 in enumerate(current)]
    heapq.heapify(queue)
    merged: list[tuple[float, int, float]] = []

    def compare(i: int) -> None:
        current[i] = pair_chi2(bins[i], bins[after[i]])
        heapq.heappush(queue, (current[i], i))

    while queue:
        chi2, i = heapq.heappop(queue)
        if current[i] != chi2:
            continue  # an old entry of a pair that changed since, or is gone
        j = after[i]
        both = [a + b for a, b in zip(bins[i], bins[j], strict=True)]
        merged.append((chi2, j, max(bins[i]) + max(bins[j]) - max(both)))
        bins[i], after[i] = both, after[j]
        current[i] = np.nan
        if j < n - 1:
            current[j] = np.nan
        if after[i] < n:
            before[after[i]] = i
            compare(i)
        if before[i] >= 0:
            compare(before[i])
    columns = np.array(merged).reshape(-1, 3)
    return Merges(columns[:, 0], columns[:, 1].astype(np.intp), columns[:, 2])


def pair_chi2(left: Sequence[float], right: Sequence[float]) -> float:
    """The chi-squared statistic of two bins' class weights."""
    of_left, of_right = sum(left), sum(right)
    total = of_left + of_right
    chi2 = 0.0
    for a, b in zip(left, right, strict=True):
        both = a + b
        if both > 0:
            in_left = both * of_left / total
            in_right = both * of_right / total
            away = (a - in_left) * (a - in_left)
            chi2 += away / (in_left if in_left > LEAST_EXPECTED else LEAST_EXPECTED)
            chi2 += away / (in_right if in_right > LEAST_EXPECTED else LEAST_EXPECTED)
    # Why rounded: pairs alike up to rounding are merged from the left.
    return math.floor(chi2 * GRID + 0.5) / GRID


def join_light(class_weight: Floats, cuts: Sequence[int], least: float) -> list[int]:
    """The cuts left when each bin lighter than ``least`` has joined the neighbour more like it, the lightest first."""
    starts = [0, *cuts]
    bins = np.add.reduceat(class_weight, starts, axis=0).tolist()
    while len(bins) > 1:
        weight = [sum(row) for row in bins]
        i = int(np.argmin(weight))
        if weight[i] >= least:
            break
        sides = [k for k in (i - 1, i) if 0 <= k < len(bins) - 1]
        k = min(sides, key=lambda k: pair_chi2(bins[k], bins[k + 1]))
        bins[k : k + 2] = [[a + b for a, b in zip(bins[k], bins[k + 1], strict=True)]]
        del starts[k + 1]
    return starts[1:]
