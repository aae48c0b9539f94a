"""The compiled counting passes against their NumPy definitions: integers, so exactly equal."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from tests.columns import CutTable, columns, each_dtype, numpy_definitions, only_compiled
from tests.same import assert_same_bits, assert_same_histogram

from softbin.summaries import radix
from softbin.summaries.rank_histogram import RankHistogram
from softbin.values.tables import Block


def drawn_table(data, dtype, n_columns=2):
    first = data.draw(columns(dtype, infinite=True))
    others = [np.resize(data.draw(columns(dtype, infinite=True, min_size=1)), len(first)) for _ in range(n_columns - 1)]
    weight = data.draw(st.none() | st.lists(st.integers(0, 5), min_size=len(first), max_size=len(first)))
    weight = None if weight is None else np.array(weight, np.int64)
    cuts = tuple(data.draw(st.lists(st.integers(0, 60), max_size=3)))
    return CutTable((first, *others), None, len(first), np.dtype(dtype), weight, cuts)


@only_compiled
@each_dtype
@given(data=st.data())
def test_leading_histograms(dtype, data):
    table = drawn_table(data, dtype)
    got = radix.leading_histograms(table, 1.0, 1)
    with numpy_definitions():
        expected = radix.leading_histograms(table, 1.0, 1)
    for pair in zip(got, expected, strict=True):
        assert_same_histogram(*pair)


@only_compiled
@each_dtype
@given(data=st.data())
def test_refined_histograms(dtype, data):
    table = drawn_table(data, dtype)
    histograms = radix.leading_histograms(table, 1.0, 1)
    for _ in range(3):
        wanted = {}
        for column, histogram in enumerate(histograms):
            coarse = np.flatnonzero(~histogram.is_value)
            some = sorted(data.draw(st.sets(st.sampled_from(coarse.tolist())))) if len(coarse) else []
            if some:
                wanted[column] = np.array(some)
        if not wanted:
            break
        got = radix.refine_histograms(table, histograms, wanted, 2)
        with numpy_definitions():
            expected = radix.refine_histograms(table, histograms, wanted, 1)
        assert got.keys() == expected.keys()
        for column in got:
            assert_same_histogram(got[column], expected[column])
            histograms[column] = got[column]


@each_dtype
@given(data=st.data())
def test_counting_everything_is_sorting(dtype, data):
    """Refined to the end, the counted histogram is the sorted one."""
    table = drawn_table(data, dtype)
    histograms = radix.leading_histograms(table, 1.0, 1)
    while not all(histogram.is_exact for histogram in histograms):
        wanted = {j: np.flatnonzero(~h.is_value) for j, h in enumerate(histograms) if not h.is_exact}
        for column, histogram in radix.refine_histograms(table, histograms, wanted, 1).items():
            histograms[column] = histogram
    for column, histogram in zip(table.columns, histograms, strict=True):
        assert_same_histogram(histogram, RankHistogram.of(column, table.weight))


@only_compiled
@each_dtype
def test_strided_columns(dtype):
    rng = np.random.default_rng(4)
    matrix = rng.normal(size=(1000, 5)).astype(dtype)
    for columns_ in (tuple(matrix.T), tuple(np.asfortranarray(matrix).T), tuple(matrix[::-3, ::-1].T)):
        table = CutTable(columns_, None, len(columns_[0]), np.dtype(dtype), cuts=(300, 556))
        copied = CutTable(tuple(np.array(c) for c in columns_), None, table.n_rows, table.dtype)
        for pair in zip(radix.leading_histograms(table, 1.0, 1), radix.leading_histograms(copied, 1.0, 1), strict=True):
            assert_same_histogram(*pair)


@only_compiled
def test_a_broken_definition_is_noticed(monkeypatch):
    table = CutTable((np.array([1.0, 2.0, -0.0, 0.0]),), None, 4, np.dtype(float))
    (got,) = radix.leading_histograms(table, 1.0, 1)
    monkeypatch.setattr(radix, "order_keys", lambda values: values.view(np.uint64))
    with numpy_definitions():
        (expected,) = radix.leading_histograms(table, 1.0, 1)
    with pytest.raises(AssertionError):
        assert_same_histogram(got, expected)


@each_dtype
def test_one_column_definitions_count_what_they_say(dtype):
    column = np.array([1.0, -0.0, 0.0, np.nan, np.inf, 1.0, -2.0], dtype)
    counts, odd, limits = np.zeros(2**16, np.int64), np.zeros(2, np.int64), np.array([np.inf, -np.inf])
    radix.count_leading(column, np.array([1, 2, 3, 4, 5, 6, 0]), counts, odd, limits)
    assert_same_bits(counts[counts > 0], np.array([5, 7]))
    assert odd.tolist() == [4, 5]
    assert limits.tolist() == [0, 1]


@only_compiled
def test_the_compiled_kernels_refuse_arrays_of_wrong_shapes():
    from softbin import kernels

    block = Block(0, 3, (np.zeros(3),))
    good = np.zeros((1, 2**16), np.int64), np.zeros((1, 2), np.int64), np.zeros((1, 2))
    bad = np.zeros((1, 5), np.int64), np.zeros((2, 2), np.int64), np.zeros((1, 3))
    kernels.compiled.count_leading(block.columns, None, *good)
    for position in range(3):
        arrays = [bad[i] if i == position else good[i] for i in range(3)]
        with pytest.raises((ValueError, TypeError)):
            kernels.compiled.count_leading(block.columns, None, *arrays)
    with pytest.raises((ValueError, TypeError)):
        kernels.compiled.count_leading(block.columns, np.ones(2, np.int64), *good)
    with pytest.raises((ValueError, TypeError)):
        kernels.compiled.count_leading((np.zeros(3), np.zeros(2)), None, *(np.repeat(a, 2, axis=0) for a in good))
    with pytest.raises((ValueError, TypeError)):
        kernels.compiled.count_leading(
            (np.zeros(3), np.zeros(3, np.float32)), None, *(np.repeat(a, 2, 0) for a in good)
        )
