"""Every compiled encoding against its NumPy definition, bit for bit, errors included."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from tests.columns import each_dtype, numpy_definitions, only_compiled
from tests.parity.grids import random_table
from tests.same import assert_same_bits, assert_same_matrix

import softbin.encodings.tables as tables
from softbin import Boundaries, Grid
from softbin.encodings.hat import hat, hat_entries
from softbin.encodings.locate import locate, wrap
from softbin.encodings.one_hot import one_hot
from softbin.encodings.plan import Levels, Plan
from softbin.errors import DataError
from softbin.values.tables import Table

SEEDS = st.integers(0, 2**32 - 1)
each_kind = pytest.mark.parametrize("soft", [False, True], ids=["hard", "soft"])
each_output_dtype = pytest.mark.parametrize("out", [np.float32, np.float64], ids=["to-float32", "to-float64"])


def outcome(encode, table, grid, soft, *rest, **named):
    """The result, or the text of the error."""
    try:
        return encode(table, Plan(grid, soft), *rest, 1, **named)
    except DataError as error:
        return str(error)


def assert_same_outcome(got, expected, assert_same):
    assert isinstance(got, str) == isinstance(expected, str), (got, expected)
    if isinstance(expected, str):
        assert got == expected
    else:
        assert_same(got, expected)


@only_compiled
@each_kind
@each_dtype
@each_output_dtype
@settings(max_examples=100)
@given(seed=SEEDS)
def test_csr(soft, dtype, out, seed):
    table, grid = random_table(seed, soft, dtype)
    got = outcome(tables.encode_csr, table, grid, soft, np.dtype(out))
    with numpy_definitions():
        expected = outcome(tables.encode_csr, table, grid, soft, np.dtype(out))
    assert_same_outcome(got, expected, assert_same_matrix)


@only_compiled
@each_kind
@each_dtype
@each_output_dtype
@settings(max_examples=100)
@given(seed=SEEDS)
def test_dense(soft, dtype, out, seed):
    table, grid = random_table(seed, soft, dtype)
    got = outcome(tables.encode_dense, table, grid, soft, np.dtype(out))
    with numpy_definitions():
        expected = outcome(tables.encode_dense, table, grid, soft, np.dtype(out))
    assert_same_outcome(got, expected, assert_same_bits)


@only_compiled
@each_kind
@each_dtype
@settings(max_examples=100)
@given(seed=SEEDS)
def test_codes_and_fractions(soft, dtype, seed):
    table, grid = random_table(seed, soft, dtype)
    got = outcome(tables.encode_codes, table, grid, soft, with_fractions=True)
    with numpy_definitions():
        expected = outcome(tables.encode_codes, table, grid, soft, with_fractions=True)
    if isinstance(got, str) or isinstance(expected, str):
        assert got == expected
        return
    assert_same_bits(got[0], expected[0])
    assert_same_bits(got[1], expected[1])


@each_kind
@each_dtype
@given(seed=SEEDS)
def test_csr_dense_and_the_definition_of_one_column_agree(soft, dtype, seed):
    """Whatever runs, a table's output is the definitions' output side by side."""
    table, grid = random_table(seed, soft, dtype)
    plan = Plan(grid, soft)
    expected = []
    for values, boundaries in zip(table.columns, grid, strict=True):
        expected.append((hat if soft else one_hot)(values, Levels(boundaries, soft), np.float64))
        if locate(values, Levels(boundaries, soft))[2] != type(locate(values, Levels(boundaries, soft))[2])():
            with pytest.raises(DataError, match="column 'x"):
                tables.encode_dense(table, plan, np.dtype(float), 1)
            return
    expected = np.concatenate(expected, axis=1)
    np.testing.assert_array_equal(tables.encode_dense(table, plan, np.dtype(float), 1), expected)
    np.testing.assert_array_equal(tables.encode_csr(table, plan, np.dtype(float), 1).toarray(), expected)


@only_compiled
def test_wide_index_types_hold_the_same_numbers(monkeypatch):
    table, grid = random_table(5, True, np.float32)
    grid = Grid(tuple(Boundaries(b.edges, "level") for b in grid))
    narrow = tables.encode_csr(table, Plan(grid, True), np.dtype(np.float32), 1)
    monkeypatch.setattr(tables, "LARGEST_INT32", 3)
    wide = tables.encode_csr(table, Plan(grid, True), np.dtype(np.float32), 1)
    assert (narrow.indices.dtype, wide.indices.dtype) == (np.int32, np.int64)
    assert wide.indptr.dtype == np.int64
    np.testing.assert_array_equal(wide.indices, narrow.indices)
    assert_same_bits(wide.data, narrow.data)


@only_compiled
@pytest.mark.parametrize("n_edges", [255, 256, 257, 65536, 70000])
def test_codes_of_every_width(n_edges):
    grid = Grid((Boundaries(tuple(range(n_edges)), "level"),))
    values = np.random.default_rng(0).uniform(-5, n_edges + 5, 500)
    values[::50] = np.nan
    table = Table((values,), None, len(values), values.dtype)
    got = tables.encode_codes(table, Plan(grid, False), 1, with_fractions=True)
    with numpy_definitions():
        expected = tables.encode_codes(table, Plan(grid, False), 1, with_fractions=True)
    assert_same_bits(got[0], expected[0])
    assert_same_bits(got[1], expected[1])


@only_compiled
def test_a_special_code_too_large_for_float32_is_no_infinity():
    grid = Grid((Boundaries((0, 1), special=(1e300,)),))
    values = np.array([0.5, np.inf, -np.inf], np.float32)
    table = Table((values,), None, 3, values.dtype)
    got = tables.encode_codes(table, Plan(grid, False), 1, with_fractions=False)[0]
    with numpy_definitions():
        expected = tables.encode_codes(table, Plan(grid, False), 1, with_fractions=False)[0]
    assert got[:, 0].tolist() == expected[:, 0].tolist() == [0, 0, 0]


@only_compiled
def test_infinity_in_a_column_without_bins_is_the_same_fault_both_ways():
    grid = Grid((Boundaries((), "level", outside="linear"),))
    values = np.array([np.inf, 1.0])
    table = Table((values,), None, 2, values.dtype)
    got = outcome(tables.encode_dense, table, grid, True, np.dtype(float))
    with numpy_definitions():
        expected = outcome(tables.encode_dense, table, grid, True, np.dtype(float))
    assert_same_outcome(got, expected, assert_same_bits)


@only_compiled
@each_kind
@pytest.mark.parametrize("value", [-0.0, 0.0])
def test_the_sign_of_zero_leaves_no_trace(soft, value):
    grid = Grid((Boundaries((-1, 0, 1)),))
    values = np.array([value])
    table = Table((values,), None, 1, values.dtype)
    got = tables.encode_codes(table, Plan(grid, soft), 1, with_fractions=True)
    with numpy_definitions():
        expected = tables.encode_codes(table, Plan(grid, soft), 1, with_fractions=True)
    assert_same_bits(got[1], expected[1])


@only_compiled
@pytest.mark.parametrize("outside", ["clip", "error"])
def test_a_circle_with_one_knot_is_the_same_both_ways(outside):
    grid = Grid((Boundaries((0, 24), "level", outside=outside, period=(0, 24)),))
    values = np.array([0.0, 12.0, 24.0, 30.0, -1.0, np.nan])
    table = Table((values,), None, 6, values.dtype)
    got = outcome(tables.encode_dense, table, grid, True, np.dtype(float))
    with numpy_definitions():
        expected = outcome(tables.encode_dense, table, grid, True, np.dtype(float))
    assert_same_outcome(got, expected, assert_same_bits)
    assert got.tolist() == [[1, 0]] * 5 + [[0, 1]]


@each_dtype
@settings(max_examples=300)
@given(value=st.floats(-1e3, 1e3, width=32), low=st.floats(-10, 10), width=st.floats(0.1, 10))
def test_a_value_inside_its_period_stays_what_it_is(dtype, value, low, width):
    values = np.array([value], dtype)
    once = wrap(values, (low, low + width))
    assert wrap(once, (low, low + width)) == once
    if low <= value < low + width:
        assert once == values


@each_kind
@pytest.mark.parametrize("encode", [tables.encode_csr, tables.encode_dense])
def test_a_table_without_any_level_has_no_column(soft, encode):
    """All columns were missing in training, and missing is to be all zeros."""
    values = np.array([np.nan, 1.0])
    table = Table((values,), None, 2, values.dtype)
    grid = Grid((Boundaries((), "zero"),))
    assert encode(table, Plan(grid, soft), np.dtype(float), 1).shape == (2, 0)
    with numpy_definitions():
        assert encode(table, Plan(grid, soft), np.dtype(float), 1).shape == (2, 0)


@only_compiled
def test_a_broken_definition_is_noticed(monkeypatch):
    """The comparison above fails as soon as a definition swaps its two weights."""
    grid = Grid((Boundaries((0, 1, 2)),))
    values = np.array([0.25, 1.75])
    table = Table((values,), None, 2, values.dtype)
    got = tables.encode_csr(table, Plan(grid, True), np.dtype(float), 1)

    def swapped(level, fraction, levels):
        entries, weights = hat_entries(level, fraction, levels)
        return entries, weights[:, ::-1]

    monkeypatch.setattr(tables, "hat_entries", swapped)
    with numpy_definitions():
        expected = tables.encode_csr(table, Plan(grid, True), np.dtype(float), 1)
    with pytest.raises(AssertionError):
        assert_same_matrix(got, expected)
