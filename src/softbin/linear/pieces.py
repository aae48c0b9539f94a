"""Between coefficients and the kernels: every code of a column is one affine piece of its curve.

A value's *code* is its bin, or stands behind the bins for a special code or, last, for missing. Code c stands on the
levels left[c] and right[c]: its piece has value beta[left] and slope beta[right] - beta[left]. Hard bins, special codes
and missing have left = right. What has no level points at one coefficient more, which is always zero. The gradient
goes the same way back (the transpose), from sums per code to sums per level.
"""

from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import NDArray

from softbin.encodings.locate import locate
from softbin.encodings.plan import Levels, Plan

Floats = NDArray[np.floating[Any]]
Indices = NDArray[np.int64]


@dataclass(frozen=True, eq=False)
class Pieces:
    """The pieces of every column of a plan, one behind the other."""

    plan: Plan

    @cached_property
    def code_start(self) -> Indices:
        """The first code of each column; the number of codes at the end."""
        return np.cumsum([0, *(n_codes(levels) for levels in self.plan.columns)])

    @property
    def n_codes(self) -> int:
        return int(self.code_start[-1])

    @cached_property
    def ends(self) -> tuple[Indices, Indices]:
        """Left and right level of every code."""
        n = self.plan.n_levels
        pairs = [
            _code_levels(levels, start, n)
            for levels, start in zip(self.plan.columns, self.plan.level_start[:-1].tolist(), strict=True)
        ]
        left, right = (np.concatenate(side) for side in zip(*pairs, strict=True))
        return left, right

    def of(self, coef: Floats) -> tuple[Floats, Floats]:
        """Value and slope of every code, outputs x codes, from coefficients, outputs x levels."""
        left, right = self.ends
        padded = np.pad(coef, ((0, 0), (0, 1)))
        value = padded[:, left]
        return value, padded[:, right] - value

    def back(self, sums: Floats) -> Floats:
        """Outputs x levels, from outputs x codes x (sum, sum times fraction): the transpose of ``of``."""
        left, right = self.ends
        n = self.plan.n_levels + 1
        with np.errstate(invalid="ignore"):  # a step too far has infinite sums; the line search goes back
            rows = [np.bincount(left, s[:, 0] - s[:, 1], n) + np.bincount(right, s[:, 1], n) for s in sums]
        return np.stack(rows)[:, :-1]


def n_codes(levels: Levels) -> int:
    b = levels.boundaries
    return b.n_bins + len(b.special) + 1


def _code_levels(levels: Levels, start: int, nothing: int) -> tuple[Indices, Indices]:
    b, regular = levels.boundaries, levels.n_regular
    left = np.arange(b.n_bins)
    right = (left + 1) % max(regular, 1) if levels.soft and regular > 1 else left
    special = regular + np.arange(len(b.special))
    missing = [start + levels.missing if b.missing == "level" else nothing]
    sides = (np.concatenate([start + side, start + special, missing]) for side in (left, right))
    left, right = (side.astype(np.int64) for side in sides)
    return left, right


def locate_codes(values: Floats, levels: Levels) -> tuple[Indices, Floats]:
    """Code and fraction of a column's values: the definition."""
    level, fraction, _ = locate(values, levels)
    return codes_of_levels(level, levels), fraction


def codes_of_levels(level: NDArray[np.integer[Any]], levels: Levels) -> Indices:
    """Levels count knots, codes count bins; what has no level at all has the code of missing."""
    shifted = level.astype(np.int64) + np.where(
        level >= levels.n_regular, levels.boundaries.n_bins - levels.n_regular, 0
    )
    return np.minimum(shifted, n_codes(levels) - 1)
