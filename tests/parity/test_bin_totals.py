"""Weights and means of bins: the compiled sums against the NumPy ones, bit for bit."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from tests.columns import CutTable, each_dtype, numpy_definitions, only_compiled
from tests.parity.grids import random_table

from softbin.summaries import bin_totals as module
from softbin.summaries.bin_totals import bin_totals

SEEDS = st.integers(0, 2**32 - 1)


def with_edges(seed, dtype):
    table, grid = random_table(seed, True, dtype)
    rng = np.random.default_rng(seed)
    weight = rng.integers(0, 5, table.n_rows) if rng.random() < 0.5 else None
    cut = CutTable(table.columns, None, table.n_rows, table.dtype, weight, cuts=(100, 300))
    return cut, [boundaries.edges for boundaries in grid]


@only_compiled
@each_dtype
@given(seed=SEEDS)
def test_totals(dtype, seed):
    table, edges = with_edges(seed, dtype)
    got = bin_totals(table, edges, 2)
    with numpy_definitions():
        expected = bin_totals(table, edges, 1)
    assert got == expected


@given(seed=SEEDS)
def test_totals_are_those_of_the_values_in_each_bin(seed):
    table, edges = with_edges(seed, np.float64)
    for column, cuts, (weight, mean) in zip(table.columns, edges, bin_totals(table, edges, 1), strict=True):
        if len(cuts) < 2:
            continue
        units = np.ones(len(column)) if table.weight is None else table.weight
        finite = np.isfinite(column)
        bins = np.searchsorted(np.array(cuts[1:-1]), column[finite], side="right")
        for position in range(len(cuts) - 1):
            inside, w = np.clip(column[finite][bins == position], cuts[0], cuts[-1]), units[finite][bins == position]
            assert weight[position] == w.sum()
            expected = np.average(inside, weights=w) if w.sum() else (cuts[position] + cuts[position + 1]) / 2
            scale = max(np.abs(inside).max(initial=0), abs(cuts[0]), abs(cuts[-1]))
            assert mean[position] == pytest.approx(expected, abs=1e-12 * scale, rel=0)


def test_huge_values_beyond_user_edges_leave_a_finite_mean():
    column = np.full(100, 1e308)
    table = CutTable((column, -column), None, 100, column.dtype)
    for _, mean in bin_totals(table, [(0.0, 1.0), (0.0, 1.0)], 1):
        assert np.all(np.isfinite(mean))


@only_compiled
def test_a_broken_definition_is_noticed(monkeypatch):
    table, edges = with_edges(3, np.float64)
    got = bin_totals(table, edges, 1)
    monkeypatch.setattr(module, "column_totals", lambda *a: _off_by_one(*a))
    original = module.column_scale

    def _off_by_one(column, cuts, weight):
        n_bins = max(1, len(cuts) - 1)
        return np.ones((n_bins, 2)) * original(cuts)

    with numpy_definitions():
        assert bin_totals(table, edges, 1) != got
