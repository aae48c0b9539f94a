"""Rank histograms of long columns by counting, block by block, in memory that does not grow with the rows.

The first pass counts the leading 16 bits of every key. Each further pass splits only the buckets that a rule
asked about (``TooCoarse``) by as many bits as fit a fixed budget of counters; ten quantiles of a float32 column
take three passes. Counts are whole units of weight: blocks may come in any order, from any thread.

The NumPy lines define the result; the compiled copies give the same counts.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from typing import Any

import numpy as np
from numpy.typing import NDArray

from softbin import kernels
from softbin.engines.threads import reduce_items
from softbin.summaries.keys import Keys, order_keys
from softbin.summaries.rank_histogram import Indices, RankHistogram
from softbin.values.tables import Block, Column, Source, Weight

LEADING_BITS = 16
COUNTERS = 2**17  # for all columns of one pass together: 1 MiB a thread, so that they stay in its cache
COLUMNS_PER_PASS = 128  # half a MiB each, a thread


class _Leading:
    """One thread's counts of the leading bits of some columns."""

    def __init__(self, columns: range) -> None:
        self.columns = columns
        self.counts = np.zeros((len(columns), 2**LEADING_BITS), np.int64)
        self.odd = np.zeros((len(columns), 2), np.int64)
        self.range = np.tile([np.inf, -np.inf], (len(columns), 1))

    def add(self, block: Block) -> None:
        columns = block.columns[self.columns.start : self.columns.stop]
        if kernels.compiled is not None:
            kernels.compiled.count_leading(columns, block.weight, self.counts, self.odd, self.range)
            return
        for i, column in enumerate(columns):
            count_leading(column, block.weight, self.counts[i], self.odd[i], self.range[i])

    def merge(self, other: "_Leading") -> "_Leading":
        self.counts += other.counts
        self.odd += other.odd
        self.range[:, 0] = np.minimum(self.range[:, 0], other.range[:, 0])
        self.range[:, 1] = np.maximum(self.range[:, 1], other.range[:, 1])
        return self


def leading_histograms(source: Source, unit: float, n_threads: int) -> list[RankHistogram]:
    """Every column's histogram over the leading 16 bits: one pass for each 128 columns."""
    width = 8 * source.dtype.itemsize
    histograms = []
    for first in range(0, len(source.labels), COLUMNS_PER_PASS):
        columns = range(first, min(first + COLUMNS_PER_PASS, len(source.labels)))
        total = reduce_items(partial(_Leading, columns), _Leading.add, _Leading.merge, source.blocks(), n_threads)
        for counts, odd, limits in zip(total.counts, total.odd, total.range, strict=True):
            prefix = np.flatnonzero(counts).astype(np.uint64)
            depth = np.full(len(prefix), LEADING_BITS, np.uint8)
            low, high = limits.tolist()
            missing, infinite = odd.tolist()
            histograms.append(
                RankHistogram(prefix, depth, counts[counts > 0], width, low, high, missing, infinite, unit)
            )
    return histograms


@dataclass(frozen=True, eq=False)
class Split:
    """Buckets of one column, all of one depth, to be split by the next bits."""

    column: int
    prefix: Keys
    depth: int
    bits: int

    @property
    def n_counters(self) -> int:
        return len(self.prefix) << self.bits


def refine_histograms(
    source: Source, histograms: Mapping[int, RankHistogram], wanted: Mapping[int, Indices], n_threads: int
) -> dict[int, RankHistogram]:
    """The histograms of the wanted columns with their wanted buckets split, in one pass."""
    splits = _plan_splits(histograms, wanted)
    ends = np.cumsum([split.n_counters for split in splits])
    plan = _compiled_splits(splits)

    def add(counts: NDArray[np.int64], block: Block) -> None:
        if kernels.compiled is not None:
            kernels.compiled.count_below(block.columns, block.weight, plan, counts)
            return
        for split, part in zip(splits, np.split(counts, ends[:-1]), strict=True):
            count_below(block.columns[split.column], block.weight, split, part)

    total = reduce_items(lambda: np.zeros(int(ends[-1]), np.int64), add, lambda a, b: a + b, source.blocks(), n_threads)
    refined: dict[int, RankHistogram] = {}
    for split, counts in zip(splits, np.split(total, ends[:-1]), strict=True):
        histogram = refined.get(split.column, histograms[split.column])
        # Why: looked up by prefix, because splitting one group of buckets moves the others.
        at = np.flatnonzero((histogram.depth == split.depth) & np.isin(histogram.prefix, split.prefix))
        refined[split.column] = histogram.refine(at, counts.reshape(len(at), -1), split.bits)
    return refined


def _plan_splits(histograms: Mapping[int, RankHistogram], wanted: Mapping[int, Indices]) -> list[Split]:
    room = COUNTERS // max(1, sum(len(buckets) for buckets in wanted.values()))
    budget = max(4, room.bit_length() - 1)
    splits = []
    for column, buckets in wanted.items():
        histogram = histograms[column]
        for depth in np.unique(histogram.depth[buckets]).tolist():
            same = buckets[histogram.depth[buckets] == depth]
            bits = min(budget, LEADING_BITS, histogram.width - depth)
            splits.append(Split(column, histogram.prefix[same], depth, bits))
    return splits


def _compiled_splits(splits: Sequence[Split]) -> Any:
    if kernels.compiled is None:
        return None
    plan = kernels.compiled.Splits()
    for split in splits:
        plan.add(split.column, split.prefix.tolist(), split.depth, split.bits)
    return plan


def count_leading(
    column: Column,
    weight: Weight | None,
    counts: NDArray[np.int64],
    odd: NDArray[np.int64],
    limits: NDArray[np.float64],
) -> None:
    """Adds a block's weights to the bucket of each finite value's leading bits, and to odd (NaN, infinite)."""
    weight = np.ones(len(column), np.int64) if weight is None else weight
    odd += weight[np.isnan(column)].sum(), weight[np.isinf(column)].sum()
    kept = np.isfinite(column) & (weight > 0)
    values = column[kept]
    if len(values):
        limits[:] = min(limits[0], values.min() + 0.0), max(limits[1], values.max() + 0.0)
        shift = np.uint64(8 * column.dtype.itemsize - LEADING_BITS)
        np.add.at(counts, (order_keys(values) >> shift).astype(np.intp), weight[kept])


def count_below(column: Column, weight: Weight | None, split: Split, counts: NDArray[np.int64]) -> None:
    """Adds a block's weights to the parts of the buckets that are being split."""
    finite = np.isfinite(column)
    keys = order_keys(column[finite])
    skip = 8 * column.dtype.itemsize - split.depth
    prefix = keys >> np.uint64(skip)
    slot = np.minimum(np.searchsorted(split.prefix, prefix), len(split.prefix) - 1)
    hit = split.prefix[slot] == prefix
    part = (keys[hit] >> np.uint64(skip - split.bits)) & np.uint64(2**split.bits - 1)
    units = 1 if weight is None else weight[finite][hit]
    np.add.at(counts, (slot[hit] << split.bits) | part.astype(np.intp), units)
