"""Soft bins: weights sum to one, at most two are not zero, and they decode to the value they stand for."""

import numpy as np
import pytest
from hypothesis import assume, given
from hypothesis import strategies as st
from tests.columns import columns, each_dtype, each_rule, fit_column
from tests.same import dense

N_BINS = st.sampled_from([1, 2, 3, 10, 50])
each_output = pytest.mark.parametrize("output", ["sparse", "dense"])


def soft_weights(rule, dtype, output, data, n_bins, **options):
    """A fitted encoder, new values beside the training ones, and their dense weights."""
    column = data.draw(columns(dtype, missing=False))
    encoder = fit_column("soft", rule, column, n_bins, output=output, **options)
    values = np.concatenate([column, data.draw(columns(dtype, missing=False))])
    return encoder, values, encoder.transform(values[:, None])


@each_rule
@each_dtype
@each_output
@given(data=st.data(), n_bins=N_BINS)
def test_weights_sum_to_one_and_at_most_two_are_not_zero(rule, dtype, output, data, n_bins):
    _, _, weights = soft_weights(rule, dtype, output, data, n_bins)
    weights = dense(weights)
    assert weights.dtype == dtype
    assert np.all((weights >= 0) & (weights <= 1))
    np.testing.assert_allclose(weights.sum(axis=1, dtype=np.float64), 1, rtol=0, atol=np.finfo(dtype).eps)
    assert (weights != 0).sum(axis=1).max() <= 2
    first, last = (weights != 0).argmax(axis=1), weights.shape[1] - 1 - (weights[:, ::-1] != 0).argmax(axis=1)
    assert np.all(last - first <= 1)


@each_rule
@each_dtype
@each_output
@given(data=st.data(), n_bins=N_BINS)
def test_decoding_returns_the_value_inside_the_range(rule, dtype, output, data, n_bins):
    encoder, values, weights = soft_weights(rule, dtype, output, data, n_bins)
    edges = np.array(encoder.grid_[0].edges)
    expected = np.clip(values.astype(np.float64), edges[0], edges[-1])
    at = np.searchsorted(edges[1:-1], expected, side="right")
    around = np.maximum(np.abs(edges[at]), np.abs(edges[np.minimum(at + 1, len(edges) - 1)]))
    error = np.abs(encoder.inverse_transform(weights)[:, 0].astype(np.float64) - expected)
    assert np.all(error <= 4 * np.finfo(dtype).eps * around + 4 * np.finfo(dtype).smallest_subnormal)


@each_rule
@each_output
@given(data=st.data(), n_bins=N_BINS)
def test_the_end_slopes_go_on_outside_when_asked(rule, output, data, n_bins):
    column = data.draw(columns(np.float64, missing=False))
    encoder = fit_column("soft", rule, column, n_bins, output=output, outside="linear")
    edges = np.array(encoder.grid_[0].edges)
    if len(edges) < 2:
        return
    widths = np.diff(edges)
    # One bin width beyond each end: weights 2 and -1, wherever the floats can say so.
    with np.errstate(over="ignore"):
        beyond = np.array([edges[0] - widths[0], edges[-1] + widths[-1]])
    assume(np.all(np.isfinite(beyond)))
    weights = dense(encoder.transform(beyond[:, None]))
    exact = [edges[0] - beyond[0] == widths[0], beyond[1] - edges[-1] == widths[-1]]
    if exact[0]:
        assert weights[0, :2].tolist() == [2, -1]
    if exact[1]:
        assert weights[1, -2:].tolist() == [-1, 2]


@each_rule
@each_dtype
@each_output
@given(data=st.data(), n_bins=N_BINS)
def test_a_missing_row_has_all_its_weight_on_the_missing_level(rule, dtype, output, data, n_bins):
    column = data.draw(columns(dtype))
    encoder = fit_column("soft", rule, column, n_bins, output=output, missing="level")
    row = dense(encoder.transform(np.array([[np.nan]], dtype)))[0]
    assert row[-1] == 1
    assert not row[:-1].any()
    assert np.isnan(encoder.inverse_transform(row[None])).all()


@pytest.mark.parametrize("n_bins", [1, 2, 10])
@pytest.mark.parametrize("extra", [{"missing": "level"}, {"special": [-999]}])
@each_output
def test_weights_of_a_periodic_column_stay_on_its_knots(n_bins, extra, output):
    hours = np.linspace(0, 23.9, 50)
    encoder = fit_column("soft", "quantile", hours, n_bins, period={0: (0, 24)}, output=output, **extra)
    weights = dense(encoder.transform(hours[:, None]))
    np.testing.assert_allclose(weights[:, :-1].sum(axis=1), 1)
    assert not weights[:, -1].any()
