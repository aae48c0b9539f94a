"""Pair counts: the compiled tables against the NumPy ones, and both against counting row by row."""

from itertools import combinations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from tests.columns import CutTable, each_dtype, numpy_definitions, only_compiled
from tests.parity.grids import random_table

from softbin import kernels
from softbin.boundaries.fine_bins import fine_bins
from softbin.summaries import RankHistogram
from softbin.summaries import pair_counts as module
from softbin.summaries.bin_totals import compiled_edges
from softbin.summaries.pair_counts import count_pairs

SEEDS = st.integers(0, 2**32 - 1)


def with_bins(seed, dtype):
    """A table of several blocks, its fine bins, and weights or none."""
    table, _ = random_table(seed, True, dtype)
    rng = np.random.default_rng(seed)
    weight = rng.integers(0, 2**40, table.n_rows) if rng.random() < 0.5 else None
    cut = CutTable(table.columns, None, table.n_rows, table.dtype, cuts=(100, 300), backwards=True)
    most = int(rng.choice([2, 5, 40, 256]))
    return cut, [fine_bins(RankHistogram.of(column), most) for column in table.columns], weight


@only_compiled
@each_dtype
@given(seed=SEEDS, n_threads=st.sampled_from([1, 2, 3]))
def test_pair_counts(dtype, seed, n_threads):
    table, fine, weight = with_bins(seed, dtype)
    got = count_pairs(table, fine, weight, n_threads)
    with numpy_definitions():
        expected = count_pairs(table, fine, weight, 1)
    assert got.n_codes == expected.n_codes
    np.testing.assert_array_equal(got.flat, expected.flat)


@given(seed=SEEDS)
def test_a_table_holds_the_weight_of_the_rows_in_both_bins(seed):
    table, fine, weight = with_bins(seed, np.float64)
    found = count_pairs(table, fine, weight, 2)
    weight = np.ones(table.n_rows, np.int64) if weight is None else weight
    for left, right in combinations(range(len(fine)), 2):
        expected = np.zeros((found.n_codes[left], found.n_codes[right]), np.int64)
        for row in range(table.n_rows):
            where = []
            for j in (left, right):
                value, n_bins = table.columns[j][row], len(fine[j].values)
                where.append(n_bins if np.isnan(value) or n_bins == 0 else int(np.sum(fine[j].cuts <= value)))
            expected[tuple(where)] += weight[row]
        np.testing.assert_array_equal(found.table(left, right), expected)


@given(seed=SEEDS)
def test_counts_of_parts_merge_to_the_counts_of_all(seed):
    table, fine, weight = with_bins(seed, np.float64)
    part = np.random.default_rng(seed).integers(0, 2, table.n_rows).astype(bool)
    found = []
    for rows in (part, ~part):
        columns = tuple(column[rows] for column in table.columns)
        of_part = CutTable(columns, None, int(rows.sum()), table.dtype)
        found.append(count_pairs(of_part, fine, None if weight is None else weight[rows], 1))
    np.testing.assert_array_equal(found[0].merge(found[1]).flat, count_pairs(table, fine, weight, 1).flat)


def test_counts_of_other_bins_do_not_merge():
    one, two = module.PairCounts((2, 3), np.zeros(6, np.int64)), module.PairCounts((3, 2), np.zeros(6, np.int64))
    with pytest.raises(ValueError, match="other fine bins"):
        one.merge(two)


@pytest.mark.parametrize("n_rows", [1, 255, 256, 257, 4095, 4096, 4097, 8193])
@only_compiled
def test_runs_of_every_length(n_rows):
    rng = np.random.default_rng(n_rows)
    columns = tuple(rng.normal(size=n_rows).astype(np.float32) for _ in range(4))
    table = CutTable(columns, None, n_rows, columns[0].dtype)
    fine = [fine_bins(RankHistogram.of(column), 50) for column in columns]
    got = count_pairs(table, fine, None, 1)
    with numpy_definitions():
        expected = count_pairs(table, fine, None, 1)
    np.testing.assert_array_equal(got.flat, expected.flat)


@only_compiled
def test_a_broken_definition_is_noticed(monkeypatch):
    table, fine, weight = with_bins(3, np.float64)
    got = count_pairs(table, fine, weight, 1)
    original = module.column_codes
    monkeypatch.setattr(module, "column_codes", lambda *of: original(*of)[::-1].copy())
    with numpy_definitions():
        broken = count_pairs(table, fine, weight, 1)
    assert not np.array_equal(got.flat, broken.flat)


@only_compiled
def test_tables_of_another_size_are_refused():
    column = np.zeros(4)
    plan = compiled_edges([(0.0, 1.0), (0.0, 1.0, 2.0)])
    with pytest.raises(ValueError, match="a cell for each pair"):
        kernels.compiled.count_pairs(plan, (column, column), None, np.zeros(5, np.int64))
    with pytest.raises(ValueError, match="one per row"):
        kernels.compiled.count_pairs(plan, (column, column), np.ones(3, np.int64), np.zeros(6, np.int64))
