"""The exact histogram: distinct values, ranks, merging, refinement, and travel through JSON."""

import json

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from tests.columns import CutTable, columns, each_dtype
from tests.same import assert_same_bits, assert_same_histogram

from softbin.summaries import RankHistogram
from softbin.summaries.keys import key_values, order_keys
from softbin.summaries.radix import leading_histograms
from softbin.summaries.rank_histogram import TooCoarse


def coarse(column):
    table = CutTable((column,), None, len(column), column.dtype)
    return leading_histograms(table, 1.0, 1)[0]


@each_dtype
@given(data=st.data())
def test_keys_have_the_order_of_their_values_and_lead_back_to_them(dtype, data):
    values = np.unique(data.draw(columns(dtype, missing=False)) + dtype(0))
    keys = order_keys(values)
    assert np.all(keys[1:] > keys[:-1])
    assert_same_bits(key_values(keys, 8 * values.itemsize), values.astype(np.float64))


@each_dtype
def test_both_zeros_have_one_key(dtype):
    low, high = order_keys(np.array([-0.0, 0.0], dtype))
    assert low == high


@each_dtype
@given(data=st.data())
def test_it_counts_what_numpy_counts(dtype, data):
    column = data.draw(columns(dtype, infinite=True))
    histogram = RankHistogram.of(column)
    values, counts = np.unique(column[np.isfinite(column)] + dtype(0), return_counts=True)
    assert histogram.low.tolist() == histogram.high.tolist() == values.tolist()
    assert histogram.weight.tolist() == counts.tolist()
    assert histogram.below.tolist() == [0, *np.cumsum(counts).tolist()]
    assert (histogram.missing, histogram.infinite) == (np.isnan(column).sum(), np.isinf(column).sum())
    assert histogram.is_exact
    assert histogram.n_distinct == len(values)
    if len(values):
        assert (histogram.minimum, histogram.maximum) == (values[0], values[-1])


@each_dtype
@given(data=st.data())
def test_coarse_buckets_hold_their_values(dtype, data):
    column = data.draw(columns(dtype))
    histogram = coarse(column)
    finite = np.sort(column[np.isfinite(column)].astype(np.float64))
    at = np.searchsorted(histogram.low, finite, side="right") - 1
    assert np.all(histogram.low[at] <= finite)
    assert np.all(finite <= histogram.high[at])
    assert np.bincount(at, minlength=len(histogram)).tolist() == histogram.weight.tolist()


def test_asking_inside_a_coarse_bucket_is_an_answer_not_a_guess():
    histogram = coarse(np.array([1.0, 1.0000001, 5.0]))
    with pytest.raises(TooCoarse) as raised:
        histogram.require(np.array([0, 1, 0]))
    assert raised.value.buckets.tolist() == [0, 1]
    RankHistogram.of(np.array([1.0, 2.0])).require(np.array([0, 1]))


@each_dtype
def test_coarse_histograms_on_both_sides_of_zero_merge(dtype):
    """The bucket below zero ends at -0.0, which equals the 0.0 that the next one starts with: no overlap."""
    tiny = np.finfo(dtype).smallest_subnormal
    assert_same_histogram(
        coarse(np.array([0.0], dtype)).merge(coarse(np.array([-tiny], dtype))), coarse(np.array([-tiny, 0.0], dtype))
    )


def test_histograms_of_different_kinds_do_not_merge():
    narrow, wide = (RankHistogram.of(np.ones(3, dtype)) for dtype in (np.float32, np.float64))
    with pytest.raises(ValueError, match="cannot be merged"):
        narrow.merge(wide)
    with pytest.raises(ValueError, match="cannot be merged"):
        wide.merge(RankHistogram.of(np.ones(3), unit=0.5))
    with pytest.raises(ValueError, match="refined differently"):
        coarse(np.array([1.0])).merge(RankHistogram.of(np.array([1.0000001])))


@each_dtype
@given(data=st.data())
def test_coarse_histograms_merge_too(dtype, data):
    a, b = data.draw(columns(dtype, infinite=True)), data.draw(columns(dtype, infinite=True))
    assert_same_histogram(coarse(a).merge(coarse(b)), coarse(np.concatenate([a, b])))


@each_dtype
@given(data=st.data())
def test_it_travels_through_json(dtype, data):
    column = data.draw(columns(dtype, infinite=True))
    for histogram in (RankHistogram.of(column), coarse(column)):
        state = json.loads(json.dumps(histogram.to_dict(), allow_nan=False))
        assert_same_histogram(RankHistogram.from_dict(state), histogram)
