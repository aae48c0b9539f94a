"""Rank histograms of long columns by counting, block by block, in memory that does not grow with the rows.

The first pass counts the leading 16 bits of every key. Each further pass splits only the buckets that a rule
asked about (``TooCoarse``) by as many bits as fit a fixed budget of counters; ten quantiles of a float32 column
take three passes in all. Counts are whole units of weight: blocks may come in any order, from any thread.

The NumPy lines define the result; the compiled copies give the same counts.
"""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from softbin import kernels
from softbin.engines.threads import reduce_items
from softbin.summaries.keys import Keys, order_keys
from softbin.summaries.rank_histogram import Indices, RankHistogram
from softbin.values.tables import Block, Column, Source, Weight

LEADING_BITS = 16
COUNTERS = 2**21  # for all columns of one pass together: 16 MiB a thread
COLUMNS_PER_PASS = 128  # half a MiB each, a thread


class _Leading:
    """One thread's counts of the leading bits of some columns."""

    def __init__(self, columns: range) -> None:
        self.columns = columns
        self.counts = np.zeros((len(columns), 2**LEADING_BITS), np.int64)
        self.odd = np.zeros((len(columns), 2), np.int64)
        self.range = np.tile([np.inf, -np.inf], (len(columns), 1))

    def add(self, block: Block) -> None:
        for i, j in enumerate(self.columns):
            count_leading(block.columns[j], block.weight, self.counts[i], self.odd[i], self.range[i])

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
        total = reduce_items(
            lambda columns=columns: _Leading(columns), _Leading.add, _Leading.merge, source.blocks(), n_threads
        )
        for counts, odd, limits in zip(total.counts, total.odd, total.range, strict=True):
            prefix = np.flatnonzero(counts)
            depth = np.full(len(prefix), LEADING_BITS, np.uint8)
            histograms.append(
                RankHistogram(
                    prefix.astype(np.uint64), depth, counts[prefix], width, float(limits[0]), float(limits[1]),
                    int(odd[0]), int(odd[1]), unit,
                )  # fmt: skip
            )
    return histograms


@dataclass(frozen=True, eq=False)
class _Split:
    """Buckets of one column, all of one depth, to be split by the next bits."""

    column: int
    buckets: Indices
    prefix: Keys
    first: NDArray[np.int32]
    depth: int
    bits: int

    def empty(self) -> NDArray[np.int64]:
        return np.zeros(len(self.prefix) << self.bits, np.int64)

    def add(self, block: Block, counts: NDArray[np.int64]) -> None:
        count_below(block.columns[self.column], block.weight, self, counts)


def refine_histograms(
    source: Source, histograms: Sequence[RankHistogram], wanted: dict[int, Indices], n_threads: int
) -> dict[int, RankHistogram]:
    """The histograms of the wanted columns with their wanted buckets split, in one pass."""
    splits = _plan_splits(histograms, wanted)

    def empty() -> list[NDArray[np.int64]]:
        return [split.empty() for split in splits]

    def add(partial: list[NDArray[np.int64]], block: Block) -> None:
        for split, counts in zip(splits, partial, strict=True):
            split.add(block, counts)

    def merge(a: list[NDArray[np.int64]], b: list[NDArray[np.int64]]) -> list[NDArray[np.int64]]:
        return [x + y for x, y in zip(a, b, strict=True)]

    total = reduce_items(empty, add, merge, source.blocks(), n_threads)
    refined = {}
    # Why: looked up by prefix, because splitting one group of buckets moves the others.
    for split, counts in zip(splits, total, strict=True):
        histogram = refined.get(split.column, histograms[split.column])
        at = np.flatnonzero(
            (histogram.depth == split.depth) & np.isin(histogram.prefix, split.prefix)
        )
        refined[split.column] = histogram.refine(at, counts.reshape(len(at), -1), split.bits)
    return refined


def _plan_splits(histograms: Sequence[RankHistogram], wanted: dict[int, Indices]) -> list[_Split]:
    room = COUNTERS // max(1, sum(len(buckets) for buckets in wanted.values()))
    budget = max(4, room.bit_length() - 1)
    splits = []
    for column, buckets in wanted.items():
        histogram = histograms[column]
        for depth in np.unique(histogram.depth[buckets]).tolist():
            same = buckets[histogram.depth[buckets] == depth]
            prefix = histogram.prefix[same]
            lead = prefix >> np.uint64(depth - LEADING_BITS)
            first = np.searchsorted(lead, np.arange(2**LEADING_BITS + 1, dtype=np.uint64))
            bits = min(budget, LEADING_BITS, histogram.width - depth)
            splits.append(_Split(column, same, prefix, first.astype(np.int32), depth, bits))
    return splits


def count_leading(
    column: Column,
    weight: Weight | None,
    counts: NDArray[np.int64],
    odd: NDArray[np.int64],
    limits: NDArray[np.float64],
) -> None:
    """Adds a block's weights to the bucket of each finite value's leading bits, and to odd (NaN, infinite)."""
    if kernels.compiled is not None:
        kernels.compiled.count_leading(column, weight, counts, odd, limits)
        return
    weight = np.ones(len(column), np.int64) if weight is None else weight
    odd += weight[np.isnan(column)].sum(), weight[np.isinf(column)].sum()
    kept = np.isfinite(column) & (weight > 0)
    values = column[kept]
    if len(values):
        limits[:] = min(limits[0], values.min() + 0.0), max(limits[1], values.max() + 0.0)
        shift = np.uint64(8 * column.dtype.itemsize - LEADING_BITS)
        np.add.at(counts, (order_keys(values) >> shift).astype(np.intp), weight[kept])


def count_below(
    column: Column, weight: Weight | None, split: _Split, counts: NDArray[np.int64]
) -> None:
    """Adds a block's weights to the parts of the buckets that are being split."""
    if kernels.compiled is not None:
        kernels.compiled.count_below(
            column, weight, split.prefix, split.first, split.depth, split.bits, counts
        )
        return
    finite = np.isfinite(column)
    keys = order_keys(column[finite])
    skip = 8 * column.dtype.itemsize - split.depth
    prefix = keys >> np.uint64(skip)
    slot = np.minimum(np.searchsorted(split.prefix, prefix), len(split.prefix) - 1)
    hit = split.prefix[slot] == prefix
    part = (keys[hit] >> np.uint64(skip - split.bits)) & np.uint64(2**split.bits - 1)
    units = 1 if weight is None else weight[finite][hit]
    np.add.at(counts, (slot[hit] << split.bits) | part.astype(np.intp), units)
