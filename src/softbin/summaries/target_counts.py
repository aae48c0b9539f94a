"""One column beside the target, as a fine histogram: all that a rule which looks at the label ever sees.

The fine bins are chosen first, from the column alone (boundaries/fine_bins.py): its distinct values where they are
few, bins of equal weight otherwise. One pass then adds up the target's whole-number statistics (values/targets.py) in
every fine bin of every column, so counts of blocks merge by addition, to the same bits in any order.
"""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import cached_property

import numpy as np
from numpy.typing import NDArray

from softbin import kernels
from softbin.engines.threads import reduce_items
from softbin.summaries.bin_totals import compiled_edges
from softbin.values.tables import Block, Column, Table
from softbin.values.targets import Kind, Statistics

Floats = NDArray[np.float64]
Counts = NDArray[np.int64]  # codes x slots: a row per fine bin, the last for values that are missing


@dataclass(frozen=True, eq=False)
class FineBins:
    """A column cut as finely as a rule may look. ``values`` stand for the bins: the value, or that at middle rank."""

    edges: tuple[float, ...]
    values: Floats
    minimum: float
    maximum: float

    @property
    def n_bins(self) -> int:
        return max(1, len(self.edges) - 1) if self.edges else 0

    @property
    def cuts(self) -> Floats:
        return np.array(self.edges[1:-1])


@dataclass(frozen=True, eq=False)
class TargetCounts:
    """What the target is in each fine bin, of which none is empty: ``sums`` is bins x slots.

    ``cuts`` lie between the bins, ``values`` in them. ``missing`` are the sums of rows without a value. ``unit`` and
    ``shift`` turn sums into the caller's numbers.
    """

    kind: Kind
    cuts: Floats
    values: Floats
    minimum: float
    maximum: float
    sums: Counts
    missing: NDArray[np.int64]
    unit: tuple[float, ...]
    shift: float = 0.0

    @classmethod
    def of(cls, column: Column, fine: FineBins, statistics: Statistics) -> "TargetCounts":
        """The counts of one column, by the definition."""
        return _told_apart(column_counts(column, fine.edges, statistics), fine, statistics)

    def __len__(self) -> int:
        return len(self.sums)

    @cached_property
    def class_weight(self) -> Floats:
        """Bins x classes."""
        return self.sums * np.array(self.unit)

    @cached_property
    def moments(self) -> tuple[Floats, Floats, Floats]:
        """Weight, weighted sum of y and of y^2 in each bin, with y measured from ``shift``."""
        weight, first, second = (self.sums * np.array(self.unit)).T
        return weight, first, second

    @cached_property
    def weight(self) -> Floats:
        """The weight of each bin."""
        return self.class_weight.sum(axis=1) if self.kind == "classes" else self.moments[0]

    @property
    def n_classes(self) -> int:
        return len(self.unit) if self.kind == "classes" else 0

    def joined(self, starts: NDArray[np.intp]) -> "TargetCounts":
        """The same with fewer fine bins, which start at these; each is stood for by the value in its middle."""
        sums = np.add.reduceat(self.sums, starts, axis=0)
        middle = (starts + np.append(starts[1:], len(self)) - 1) // 2
        return replace(self, sums=sums, cuts=self.cuts[starts[1:] - 1], values=self.values[middle])

    def merge(self, other: "TargetCounts") -> "TargetCounts":
        """The counts of both columns' rows together."""
        same = (self.kind, self.unit, self.shift) == (other.kind, other.unit, other.shift)
        if not (same and np.array_equal(self.cuts, other.cuts)):
            raise ValueError("counts of other fine bins or of another target cannot be merged")
        low, high = min(self.minimum, other.minimum), max(self.maximum, other.maximum)
        sums, missing = self.sums + other.sums, self.missing + other.missing
        return replace(self, minimum=low, maximum=high, sums=sums, missing=missing)


def count_targets(table: Table, fine: Sequence[FineBins], statistics: Statistics, n_threads: int) -> list[TargetCounts]:
    """The counts of every column, in one pass."""
    edges = [bins.edges for bins in fine]
    n_codes = [bins.n_bins + 1 for bins in fine]
    plan = compiled_edges(edges)

    def add(counts: Counts, block: Block) -> None:
        rows = slice(block.start, block.start + block.n_rows)
        slot = statistics.slot[rows]
        parts = None if statistics.parts is None else statistics.parts[:, rows]
        if kernels.compiled is not None:
            kernels.compiled.count_target(plan, block.columns, slot, parts, counts)
            return
        of_block = replace(statistics, slot=slot, parts=parts)
        for column, ends, part in zip(block.columns, edges, np.split(counts, np.cumsum(n_codes)[:-1]), strict=True):
            part += column_counts(column, ends, of_block)

    total = reduce_items(
        lambda: np.zeros((sum(n_codes), statistics.n_slots), np.int64), add, np.add, table.blocks(), n_threads
    )
    parts = np.split(total, np.cumsum(n_codes)[:-1])
    return [_told_apart(*pair, statistics) for pair in zip(parts, fine, strict=True)]


def column_counts(column: Column, edges: tuple[float, ...], statistics: Statistics) -> Counts:
    """The sums of the target in each bin of one column; the last row is that of missing values."""
    n_bins = max(1, len(edges) - 1) if edges else 0
    code = column_codes(column, edges)
    counts = np.zeros((n_bins + 1, statistics.n_slots), np.int64)
    parts = np.ones((1, len(column)), np.int64) if statistics.parts is None else statistics.parts
    for position, part in enumerate(parts):
        np.add.at(counts, (code, statistics.slot + position), part)
    return counts


def column_codes(column: Column, edges: tuple[float, ...]) -> NDArray[np.intp]:
    """The bin of each value; missing values are behind the last."""
    n_bins = max(1, len(edges) - 1) if edges else 0
    code = np.searchsorted(np.array(edges[1:-1]), column.astype(np.float64), side="right")
    code[np.isnan(column) | (n_bins == 0)] = n_bins
    return code


def _told_apart(counts: Counts, fine: FineBins, statistics: Statistics) -> TargetCounts:
    s = statistics
    return TargetCounts(
        s.kind, fine.cuts, fine.values, fine.minimum, fine.maximum, counts[:-1], counts[-1], s.unit, s.shift
    )
