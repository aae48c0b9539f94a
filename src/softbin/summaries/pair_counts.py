"""How often two columns are in these bins together: what a rule needs that decides on several columns at once.

A function that is added up over columns, each constant (or known at one value) in every fine bin, has squared loss

    sum over rows of w (y - sum_j f_j[bin_j])^2

which depends on the data through the target's sums in the bins (target_counts.py) and, for each pair of columns, the
weight of the rows in each pair of bins. The latter is counted here, in one pass and in whole numbers, so counts of
blocks merge by addition, to the same bits in any order.
"""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from itertools import combinations

import numpy as np
from numpy.typing import NDArray

from softbin import kernels
from softbin.engines.threads import reduce_items
from softbin.summaries.bin_totals import compiled_edges
from softbin.summaries.target_counts import FineBins, TargetCounts, column_codes
from softbin.values.tables import Block, Table, Weight

Counts = NDArray[np.int64]


@dataclass(frozen=True, eq=False)
class PairCounts:
    """The tables of all pairs of columns, one after the other: (0, 1), (0, 2), ..., (1, 2), ...

    The table of columns j < l is ``n_codes[j]`` x ``n_codes[l]``: their fine bins and, last, missing values.
    """

    n_codes: tuple[int, ...]
    flat: Counts

    def table(self, left: int, right: int) -> Counts:
        """The weight (in units) of rows in each pair of bins, left < right."""
        n = self.n_codes
        start = sum(n[j] * sum(n[j + 1 :]) for j in range(left)) + n[left] * sum(n[left + 1 : right])
        found: Counts = self.flat[start : start + n[left] * n[right]].reshape(n[left], n[right])
        return found

    def merge(self, other: "PairCounts") -> "PairCounts":
        """The counts of both tables' rows together."""
        if self.n_codes != other.n_codes:
            raise ValueError("counts of other fine bins cannot be merged")
        return replace(self, flat=self.flat + other.flat)


@dataclass(frozen=True, eq=False)
class JointCounts:
    """Several columns beside the target and beside each other; ``pairs`` is of the same fine bins."""

    columns: tuple[TargetCounts, ...]
    pairs: PairCounts

    @classmethod
    def alone(cls, column: TargetCounts) -> "JointCounts":
        """One column, which is in no pair."""
        return cls((column,), PairCounts((len(column) + 1,), np.zeros(0, np.int64)))


def count_pairs(table: Table, fine: Sequence[FineBins], weight: Weight | None, n_threads: int) -> PairCounts:
    """The counts of all pairs of columns, in one pass; ``weight`` is whole numbers, None is a one for every row."""
    edges = [bins.edges for bins in fine]
    n_codes = tuple(len(bins.values) + 1 for bins in fine)
    plan = compiled_edges(edges)

    def add(counts: Counts, block: Block) -> None:
        of_block = None if weight is None else weight[block.start : block.start + block.n_rows]
        if kernels.compiled is not None:
            kernels.compiled.count_pairs(plan, block.columns, of_block, counts)
            return
        codes = [column_codes(*pair) for pair in zip(block.columns, edges, strict=True)]
        counts += pair_tables(codes, n_codes, of_block)

    n_cells = sum(a * b for a, b in combinations(n_codes, 2))
    total = reduce_items(lambda: np.zeros(n_cells, np.int64), add, _add_to, table.blocks(), n_threads)
    return PairCounts(n_codes, total)


def pair_tables(codes: Sequence[NDArray[np.intp]], n_codes: Sequence[int], weight: Weight | None) -> Counts:
    """The tables of all pairs of these columns' bins, flat, as PairCounts has them."""
    tables = [np.zeros((n_codes[j], n_codes[k]), np.int64) for j, k in combinations(range(len(codes)), 2)]
    for counts, (left, right) in zip(tables, combinations(codes, 2), strict=True):
        np.add.at(counts, (left, right), 1 if weight is None else weight)
    return np.concatenate([np.zeros(0, np.int64), *(counts.ravel() for counts in tables)])


def _add_to(total: Counts, other: Counts) -> Counts:
    # Why in place: the tables of many columns are tens of megabytes.
    total += other
    return total
