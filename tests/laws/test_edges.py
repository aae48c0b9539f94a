"""Edges strictly increase, bins cover the reals in order, and float32 values keep the bin they have as float64."""

from itertools import pairwise

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from tests.columns import columns, each_dtype, each_encoder, each_label_free_rule, each_rule, fit_column

N_BINS = st.sampled_from([1, 2, 3, 10, 50])


@each_rule
@each_encoder
@each_dtype
@given(data=st.data(), n_bins=N_BINS)
def test_edges_strictly_increase_and_span_the_column(encoder, rule, dtype, data, n_bins):
    column = data.draw(columns(dtype, infinite=True))
    (boundaries,) = fit_column(encoder, rule, column, n_bins, missing="level").grid_
    finite = column[np.isfinite(column)].astype(np.float64)
    assert all(left < right for left, right in pairwise(boundaries.edges))
    if len(finite) == 0:
        assert boundaries.edges == ()
        return
    assert boundaries.edges[0] == finite.min()
    assert finite.max() <= boundaries.edges[-1] <= np.nextafter(finite.max(), np.inf)


@each_rule
@each_dtype
@given(data=st.data(), n_bins=N_BINS)
def test_every_real_number_has_a_bin_and_larger_ones_no_smaller_bin(rule, dtype, data, n_bins):
    encoder = fit_column("hard", rule, data.draw(columns(dtype, missing=False)), n_bins, output="ordinal")
    new = np.concatenate([data.draw(columns(dtype, missing=False, infinite=True)), [-np.inf, np.inf, 0.0]])
    codes = encoder.transform(np.sort(new).astype(dtype)[:, None])[:, 0].astype(int)
    assert np.all(np.diff(codes) >= 0)
    assert codes[0] == 0
    assert codes[-1] == encoder.n_bins_[0] - 1


@each_rule
@each_encoder
@given(column=columns(np.float64, missing=False), n_bins=N_BINS, data=st.data())
def test_a_float32_value_has_the_bin_it_has_as_float64(encoder, rule, column, n_bins, data):
    fitted = fit_column(encoder, rule, column, n_bins)
    with np.errstate(over="ignore", under="ignore"):
        near = np.array(fitted.grid_[0].edges).astype(np.float32)
        around = [near, np.nextafter(near, np.float32(-np.inf)), np.nextafter(near, np.float32(np.inf))]
    values = np.concatenate([*around, data.draw(columns(np.float32, missing=False))])[:, None]
    narrow, _ = fitted.encode_compact(values)
    wide, _ = fitted.encode_compact(values.astype(np.float64))
    np.testing.assert_array_equal(narrow, wide)


@each_rule
@each_encoder
@given(column=columns(np.float32), n_bins=N_BINS)
def test_a_float32_column_has_the_edges_it_has_as_float64(encoder, rule, column, n_bins):
    narrow, wide = (fit_column(encoder, rule, values, n_bins) for values in (column, column.astype(np.float64)))
    assert narrow.grid_[0].edges == wide.grid_[0].edges


def test_bins_are_closed_on_the_left_and_the_last_one_on_both_sides():
    encoder = fit_column("hard", "quantile", [0.0], edges=[[0, 1, 2]], output="ordinal")
    values = [-5, 0, np.nextafter(1, 0), 1, np.nextafter(2, 0), 2, 7]
    assert encoder.transform(np.array(values)[:, None])[:, 0].tolist() == [0, 0, 0, 1, 1, 1, 1]


@pytest.mark.parametrize("low", [1.79769313486231e308, -1.7976931348623157e308])
@each_encoder
@each_label_free_rule
def test_neighbours_at_the_end_of_the_floats_are_told_apart(encoder, rule, low):
    column = [low, np.nextafter(low, np.inf)]
    encoded = fit_column(encoder, rule, column, 10, output="dense").transform(np.array(column)[:, None])
    assert encoded.tolist() == [[1, 0], [0, 1]]
