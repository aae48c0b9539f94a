"""Target counts: the compiled sums against the NumPy ones, and both against counting row by row."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from tests.columns import CutTable, each_dtype, numpy_definitions, only_compiled
from tests.parity.grids import random_table

from softbin.boundaries.fine_bins import fine_bins
from softbin.summaries import RankHistogram
from softbin.summaries import target_counts as module
from softbin.summaries.target_counts import count_targets
from softbin.values.targets import read_target, statistics

SEEDS = st.integers(0, 2**32 - 1)


def with_target(seed, dtype):
    """A table of several blocks, its fine bins, and what is counted of a random target."""
    table, _ = random_table(seed, True, dtype)
    rng = np.random.default_rng(seed)
    weight = rng.integers(0, 5, table.n_rows) if rng.random() < 0.5 else None
    if weight is not None and not weight.any():
        weight[0] = 1
    cut = CutTable(table.columns, None, table.n_rows, table.dtype, weight, cuts=(100, 300), backwards=True)
    most = int(rng.choice([2, 5, 40, 4096]))
    fine = [fine_bins(RankHistogram.of(column, weight), most) for column in table.columns]
    numbers = rng.random() < 0.5
    y = rng.normal(size=table.n_rows) if numbers else rng.integers(0, rng.integers(1, 5), table.n_rows)
    seen = statistics(read_target(y, table.n_rows, "number" if numbers else "classes"), weight, 1.0)
    if rng.random() < 0.5:
        seen = seen.in_folds(rng.integers(0, 3, table.n_rows), 3)
    return cut, fine, seen


def sums_of(found):
    return [np.concatenate([counts.sums, counts.missing[None]]) for counts in found]


@only_compiled
@each_dtype
@given(seed=SEEDS, n_threads=st.sampled_from([1, 2, 3]))
def test_target_counts(dtype, seed, n_threads):
    table, fine, seen = with_target(seed, dtype)
    got = sums_of(count_targets(table, fine, seen, n_threads))
    with numpy_definitions():
        expected = sums_of(count_targets(table, fine, seen, 1))
    for ours, theirs in zip(got, expected, strict=True):
        np.testing.assert_array_equal(ours, theirs)


@given(seed=SEEDS)
def test_sums_are_those_of_the_rows_in_each_bin(seed):
    table, fine, seen = with_target(seed, np.float64)
    parts = np.ones((1, table.n_rows), np.int64) if seen.parts is None else seen.parts
    for column, bins, counts in zip(table.columns, fine, count_targets(table, fine, seen, 2), strict=True):
        for position in range(len(counts) + 1):
            low = -np.inf if position in (0, len(counts)) else bins.edges[position]
            high = np.inf if position >= len(counts) - 1 else bins.edges[position + 1]
            rows = (column >= low) & ((column < high) | (high == np.inf)) & (position < len(counts))
            if position == len(counts):
                rows = np.isnan(column) | (len(counts) == 0)
            expected = np.zeros(seen.n_slots, np.int64)
            for row in np.flatnonzero(rows):
                expected[seen.slot[row] : seen.slot[row] + len(parts)] += parts[:, row]
            got = counts.missing if position == len(counts) else counts.sums[position]
            assert got.tolist() == expected.tolist()


@pytest.mark.parametrize("n_rows", [1, 255, 256, 257, 4095, 4096, 4097, 8193])
@only_compiled
def test_runs_of_every_length(n_rows):
    rng = np.random.default_rng(n_rows)
    columns = tuple(rng.normal(size=n_rows).astype(np.float32) for _ in range(3))
    table = CutTable(columns, None, n_rows, columns[0].dtype)
    fine = [fine_bins(RankHistogram.of(column), 50) for column in columns]
    seen = statistics(read_target(rng.normal(size=n_rows), n_rows, "number"), None, 1.0)
    got = sums_of(count_targets(table, fine, seen, 1))
    with numpy_definitions():
        expected = sums_of(count_targets(table, fine, seen, 1))
    for ours, theirs in zip(got, expected, strict=True):
        np.testing.assert_array_equal(ours, theirs)


@only_compiled
def test_a_broken_definition_is_noticed(monkeypatch):
    table, fine, seen = with_target(3, np.float64)
    got = sums_of(count_targets(table, fine, seen, 1))
    original = module.column_counts
    monkeypatch.setattr(module, "column_counts", lambda *of: np.roll(original(*of), 1, axis=0))
    with numpy_definitions():
        broken = sums_of(count_targets(table, fine, seen, 1))
    assert any(not np.array_equal(ours, theirs) for ours, theirs in zip(got, broken, strict=True))


@only_compiled
def test_a_slot_beyond_the_last_is_refused():
    from softbin import kernels

    column = np.zeros(4)
    plan = module.compiled_edges([(0.0, 1.0)])
    for slot in ([0, 0, 0, 2], [0, -1, 0, 0]):
        with pytest.raises(ValueError, match="slot: beyond the last"):
            kernels.compiled.count_target(plan, (column,), np.array(slot, np.int32), None, np.zeros((2, 2), np.int64))
