"""What a piece of a column costs when one number stands for the target in all of it.

    classes   n log n - sum over classes of n_c log n_c     (log-loss of the class shares, in nats)
    number    sum w y^2 - (sum w y)^2 / sum w               (squared error of the mean)

Both come from running sums over the fine bins, so a piece costs the same to look at however long it is; the running
sums are whole numbers, so what a piece costs does not depend on how it came about.
"""

import math
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy.special import xlogy

from softbin.summaries.target_counts import TargetCounts

Floats = NDArray[np.float64]
Positions = NDArray[np.intp]


@dataclass(frozen=True, eq=False)
class PieceLoss:
    """The loss of pieces [start, stop) of fine bins."""

    counts: TargetCounts

    @cached_property
    def below(self) -> NDArray[np.int64]:
        """(Bins + 1) x slots: the sums of all bins before each."""
        sums = self.counts.sums
        return np.concatenate([np.zeros((1, sums.shape[1]), np.int64), np.cumsum(sums, axis=0)])

    @cached_property
    def units_below(self) -> NDArray[np.int64]:
        """The weight of all bins before each, in whole units; the total at the end."""
        below: NDArray[np.int64] = self.below.sum(axis=1) if self.counts.kind == "classes" else self.below[:, 0]
        return below

    @cached_property
    def weight_below(self) -> Floats:
        """The weight of all bins before each; the total at the end."""
        return self.units_below.astype(np.float64) * self.counts.unit[0]

    def least_units(self, share: float) -> int:
        """The fewest units that are this share of the weight, and at least one."""
        # Why a little less: 7 % of 100 units are 7.000000000000001.
        return max(1, math.ceil(share * int(self.units_below[-1]) * (1 - 1e-12)))

    @cached_property
    def rounding(self) -> float:
        """Losses that differ by no more than this may be equal."""
        weight = float(self.weight_below[-1])
        if self.counts.kind == "classes":
            return 1e-12 * weight * (1 + abs(math.log(weight))) if weight > 0 else 0.0
        return 1e-12 * float(self.below[-1, 2]) * self.counts.unit[2]

    def __call__(self, start: Any, stop: Any) -> Floats:
        """The loss of each piece; ``start`` and ``stop`` broadcast."""
        sums = (self.below[stop] - self.below[start]) * np.array(self.counts.unit)
        if self.counts.kind == "classes":
            weight = sums.sum(axis=-1)
            # Why at least zero: a pure piece loses nothing, and rounding must not make that a gain.
            loss: Floats = np.maximum(xlogy(weight, weight) - xlogy(sums, sums).sum(axis=-1), 0.0)
            return loss
        weight, first, second = np.moveaxis(sums, -1, 0)
        mean = np.divide(first, weight, out=np.zeros_like(first), where=weight > 0)
        return np.maximum(second - first * mean, 0.0)
