"""No level is dead on the training data, and values that can be told apart are told apart."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from tests.columns import (
    LABEL_FREE,
    OUTPUTS,
    columns,
    each_dtype,
    each_encoder,
    each_rule,
    fit_column,
    labels_of,
    make,
    strategy_named,
    tame_columns,
    ugly_columns,
)
from tests.same import dense

N_BINS = st.sampled_from([1, 2, 3, 10, 50])
each_strategy = pytest.mark.parametrize("strategy", LABEL_FREE)
each_output = pytest.mark.parametrize(("encoder", "output"), OUTPUTS)


@each_rule
@each_encoder
@given(column=tame_columns(missing=True), n_bins=N_BINS)
def test_no_level_is_dead_on_the_training_data(encoder, rule, column, n_bins):
    encoded = fit_column(encoder, rule, column, n_bins, output="dense").transform(column[:, None])
    assert np.all(np.abs(encoded).sum(axis=0) > 0)


@given(column=columns(), n_bins=N_BINS)
@each_encoder
def test_no_quantile_level_is_dead_whatever_the_floats(encoder, column, n_bins):
    encoded = fit_column(encoder, "quantile", column, n_bins, output="dense").transform(column[:, None])
    assert np.all(encoded.sum(axis=0) > 0)


@each_strategy
@each_dtype
@given(data=st.data(), n_bins=N_BINS)
def test_few_values_have_a_bin_each(strategy, dtype, data, n_bins):
    column = data.draw(columns(dtype, missing=False))
    distinct = np.unique(column)
    encoder = fit_column("hard", strategy, column, n_bins, output="ordinal")
    if len(distinct) <= n_bins:
        assert encoder.transform(distinct[:, None])[:, 0].tolist() == list(range(len(distinct)))
    elif strategy == "quantile":
        assert encoder.n_bins_[0] == n_bins


@each_strategy
@each_dtype
@given(data=st.data(), n_bins=N_BINS)
def test_few_values_have_a_knot_each(strategy, dtype, data, n_bins):
    column = data.draw(columns(dtype, missing=False))
    distinct = np.unique(column) + dtype(0)
    encoder = fit_column("soft", strategy, column, n_bins, output="dense")
    if len(distinct) <= n_bins + 1:
        assert encoder.grid_[0].edges == tuple(distinct.tolist())
        assert np.array_equal(encoder.transform(distinct[:, None]), np.eye(len(distinct)))
    elif strategy == "quantile":
        assert len(encoder.grid_[0].edges) == n_bins + 1


@each_rule
@each_output
@pytest.mark.parametrize("name", ugly_columns())
def test_ugly_columns_keep_their_information(name, rule, encoder, output):
    column = ugly_columns()[name]
    fitted = make(encoder, rule, 10, output=output)
    encoded = dense(fitted.fit_transform(column[:, None], labels_of(column[:, None])))
    distinct = np.unique(column[~np.isnan(column)])
    rows = np.unique(encoded[~np.isnan(column)], axis=0)
    if encoder == "soft":
        # Soft weights tell (nearly) all values apart, and nothing is an all-zero row.
        assert len(rows) >= len(distinct) * 0.99
        np.testing.assert_allclose(encoded.sum(axis=1), 1)
    else:
        n_bins = 2 if strategy_named(rule) != rule else 10
        most = min(len(distinct), n_bins)
        # A rule that looks at the target may find nothing to tell apart.
        least = min(most, 2) if rule in LABEL_FREE else min(most, 1)
        assert len(rows) == most if rule == "quantile" else least <= len(rows) <= most
    if np.isnan(column).any():
        missing = np.unique(encoded[np.isnan(column)], axis=0)
        assert len(missing) == 1
        assert missing[0].any() or output == "ordinal"


@each_rule
@each_encoder
@each_dtype
@given(data=st.data(), n_bins=N_BINS)
def test_there_are_as_many_columns_as_names(encoder, rule, dtype, data, n_bins):
    column = data.draw(columns(dtype))
    special = data.draw(st.sampled_from([None, [-999.0], [0.0, 1.0]]))
    fitted = fit_column(encoder, rule, column, n_bins, special=special, missing="level")
    encoded, names = fitted.transform(column[:, None]), fitted.get_feature_names_out()
    assert encoded.shape == (len(column), len(names))
    assert len(names) == fitted.n_parameters_ == len(set(names))
