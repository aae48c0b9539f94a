"""A row of weight k is the row k times, a row of weight 0 is no row; weights have no scale.

The last law cannot hold for rules that ask how many rows there are (tests/columns.py names them): to them the sum of
the weights is that number, since weight k has to be the row k times.
"""

import numpy as np
import pytest
from hypothesis import assume, given
from hypothesis import strategies as st
from tests.columns import (
    WEIGHTS_ARE_COUNTS,
    columns,
    counting_path,
    each_dtype,
    each_encoder,
    each_rule,
    each_scale_free_rule,
    labels_of,
    make,
)

N_BINS = st.sampled_from([1, 2, 3, 10])
LONG = 2**17  # rows; one more is counted instead of sorted


WHOLE = st.integers(0, 4)
EIGHTHS = st.integers(0, 800).map(lambda whole: whole / 8)


def weighted_column(data, dtype, weights=WHOLE):
    column = data.draw(columns(dtype))
    weight = np.array(data.draw(st.lists(weights, min_size=len(column), max_size=len(column))))
    assume(weight.any())
    return column[:, None], weight


def assert_same_fit(weighted, repeated):
    (got,), (expected,) = weighted.grid_, repeated.grid_
    assert got.edges == expected.edges
    assert got.weight == expected.weight
    assert (got.missing, got.missing_weight) == (expected.missing, expected.missing_weight)
    # A mean is a sum of floats, so it may differ in its last bits.
    width = max([*np.diff(expected.edges), 0])
    np.testing.assert_allclose(got.mean, expected.mean, rtol=0, atol=1e-13 * max(width, 1e-300) + 1e-323)
    assert weighted.fit_report_[0].distinct == repeated.fit_report_[0].distinct


@each_encoder
def test_a_huge_row_of_weight_zero_leaves_no_trace_in_the_mean(encoder):
    X = np.array([[0.0], [1e-39], [1e300]])
    weighted = make(encoder, "uniform", 1).fit(X, sample_weight=[1, 1, 0])
    assert_same_fit(weighted, make(encoder, "uniform", 1).fit(X[:2]))


@pytest.mark.parametrize("counted", [False, True], ids=["sorted", "counted"])
@each_encoder
@each_rule
@each_dtype
@given(data=st.data(), n_bins=N_BINS)
def test_weight_k_is_the_row_k_times(encoder, rule, dtype, counted, data, n_bins):
    X, weight = weighted_column(data, dtype)
    y, rows = labels_of(X), np.repeat(X, weight, axis=0)
    weighted, repeated = make(encoder, rule, n_bins), make(encoder, rule, n_bins)
    if counted:
        with counting_path():
            weighted.fit(X, y, sample_weight=weight), repeated.fit(rows, labels_of(rows))
    else:
        weighted.fit(X, y, sample_weight=weight), repeated.fit(rows, labels_of(rows))
    assert_same_fit(weighted, repeated)


@each_encoder
@each_scale_free_rule
@given(data=st.data(), n_bins=N_BINS, exponent=st.sampled_from([-1000, -60, -1, 3, 100, 900]))
def test_weights_have_no_scale(encoder, rule, data, n_bins, exponent):
    X, weight = weighted_column(data, np.float64, EIGHTHS)
    fitted = make(encoder, rule, n_bins).fit(X, labels_of(X), sample_weight=weight)
    scaled = make(encoder, rule, n_bins).fit(X, labels_of(X), sample_weight=np.ldexp(weight, exponent))
    assert scaled.grid_[0].edges == fitted.grid_[0].edges
    assert scaled.grid_[0].missing == fitted.grid_[0].missing


@pytest.mark.parametrize("rule", WEIGHTS_ARE_COUNTS)
def test_rules_that_count_rows_see_more_of_them_in_more_weight(rule):
    rng = np.random.default_rng(4)
    X = rng.normal(size=(60, 1))
    y = (X[:, 0] + rng.normal(size=60) > 0).astype(int)
    fits = [make("hard", rule, 50).fit(X, y, sample_weight=np.full(60, weight)) for weight in (1 / 64, 1, 64)]
    assert len({int(fit.n_bins_[0]) for fit in fits}) > 1


@each_encoder
def test_the_tiniest_weights_count_too(encoder):
    X = np.array([[0.0], [1.0], [np.nan]])
    fitted = make(encoder, "quantile").fit(X, sample_weight=[5e-324, 1e-310, 5e-324])
    assert fitted.grid_[0].missing == "level"
    assert len(fitted.grid_[0].edges) == (3 if encoder == "hard" else 2)


@pytest.mark.parametrize("weight", [[0.1, 0.2, 0.3, 0.4], [1e-300, 1, 1e300, 1]])
def test_bins_know_the_weight_they_were_given(weight):
    fitted = make("hard", "quantile", 4).fit(np.arange(4.0)[:, None], sample_weight=weight)
    np.testing.assert_allclose(fitted.grid_[0].weight, weight, rtol=1e-12, atol=sum(weight) * 1e-15)


@each_encoder
@each_rule
def test_a_long_column_does_not_change_by_rows_of_weight_zero(encoder, rule):
    """With them there are too many rows to sort; without them there are not."""
    column = np.random.default_rng(2).normal(size=LONG)[:, None]
    longer = np.concatenate([column, [[1e6]] * 10])
    weight = np.concatenate([np.ones(LONG), np.zeros(10)])
    with_zeros = make(encoder, rule).fit(longer, labels_of(longer), sample_weight=weight)
    assert with_zeros.grid_[0].edges == make(encoder, rule).fit(column, labels_of(column)).grid_[0].edges


@each_encoder
@each_rule
def test_a_long_column_twice_is_the_column_with_weight_two(encoder, rule):
    column = np.random.default_rng(3).normal(size=LONG)[:, None]
    weighted = make(encoder, rule).fit(column, labels_of(column), sample_weight=np.full(LONG, 2))
    twice = make(encoder, rule).fit(np.tile(column, (2, 1)), np.tile(labels_of(column), 2))
    assert weighted.grid_[0].edges == twice.grid_[0].edges
    assert weighted.grid_[0].weight == twice.grid_[0].weight


@each_encoder
def test_fractional_weights_of_the_tiniest_values_have_a_mean_between_them(encoder):
    X = np.array([[0.0], [5e-320], [1e-319]])
    fitted = make(encoder, "uniform", 1).fit(X, sample_weight=[0.1, 0.3, 0.1])
    assert fitted.grid_[0].mean == (5e-320,)
