"""Fitted things are values: a refit is equal, a saved file loads equal, a copy is equal."""

import copy
import pickle

import numpy as np
from hypothesis import given
from hypothesis import strategies as st
from tests.columns import columns, each_encoder, each_rule, fit_column, labels_of, ugly_columns
from tests.same import assert_same_matrix

from softbin import Grid


@each_encoder
@each_rule
@given(data=st.data(), n_bins=st.sampled_from([1, 3, 10]))
def test_a_refit_gives_an_equal_grid_and_a_saved_one_loads_equal(encoder, rule, data, n_bins):
    column = data.draw(columns(infinite=True))
    special = data.draw(st.sampled_from([None, [-999.0, 0.1]]))
    fitted = fit_column(encoder, rule, column, n_bins, missing="level", special=special)
    grid = fitted.grid_
    assert fitted.fit(column[:, None], labels_of(column[:, None])).grid_ == grid
    assert hash(fitted.grid_) == hash(grid)
    assert Grid.from_json(grid.to_json()) == grid
    assert pickle.loads(pickle.dumps(grid)) == grid
    assert copy.deepcopy(grid) == grid


@each_encoder
@each_rule
def test_ugly_tables_refit_save_and_load_equal(encoder, rule, tmp_path):
    X = np.stack(list(ugly_columns().values()), axis=1)
    fitted = fit_column(encoder, rule, X[:, 0])
    grid = fitted.fit(X, labels_of(X)).grid_
    assert fitted.fit(X, labels_of(X)).grid_ == grid
    grid.save(tmp_path / "grid.json")
    loaded = Grid.load(tmp_path / "grid.json")
    assert loaded == grid
    again = type(fitted).from_grid(loaded)
    assert_same_matrix(again.transform(X), fitted.transform(X))


def test_a_different_column_gives_a_different_grid():
    grids = {fit_column("soft", "quantile", column).grid_ for column in ugly_columns().values()}
    assert len(grids) == len(ugly_columns())
