"""A table is recognised by width, names and order of its columns."""

import numpy as np
import pandas as pd
import polars as pl
import pytest
from tests.columns import each_encoder, make

from softbin.errors import DataError, OptionError
from softbin.values.columns import column_position, per_column

FRAME = pd.DataFrame({"age": [1.0, 2, 3], "size": [4.0, 5, 6]})


@each_encoder
def test_another_width_is_refused(encoder):
    fitted = make(encoder, "quantile").fit(FRAME.to_numpy())
    with pytest.raises(DataError, match=r"X has 1 features, but .* is expecting 2"):
        fitted.transform(FRAME.to_numpy()[:, :1])


@each_encoder
@pytest.mark.parametrize("method", ["transform", "encode_compact"])
def test_other_names_are_named(encoder, method):
    fitted = make(encoder, "quantile").fit(FRAME)
    with pytest.raises(DataError, match=r"(?s)unseen at fit time:\n- weight\n.*now missing:\n- size"):
        getattr(fitted, method)(FRAME.rename(columns={"size": "weight"}))
    with pytest.raises(DataError, match="same order"):
        getattr(fitted, method)(FRAME[["size", "age"]])
    with pytest.raises(DataError, match=r"now missing:\n- age"):
        getattr(fitted, method)(FRAME[["size"]])


@each_encoder
def test_the_kind_of_table_does_not_matter(encoder):
    fitted = make(encoder, "quantile", output="dense").fit(FRAME)
    np.testing.assert_array_equal(fitted.transform(pl.DataFrame(FRAME.to_dict("list"))), fitted.transform(FRAME))


@each_encoder
def test_names_on_one_side_only_are_a_warning_as_in_scikit_learn(encoder):
    fitted = make(encoder, "quantile").fit(FRAME)
    with pytest.warns(UserWarning, match="X does not have valid feature names"):
        fitted.transform(FRAME.to_numpy())
    nameless = make(encoder, "quantile").fit(FRAME.to_numpy())
    with pytest.warns(UserWarning, match="X has feature names, but"):
        nameless.transform(FRAME)


@each_encoder
def test_a_refit_without_names_forgets_them(encoder):
    fitted = make(encoder, "quantile").fit(FRAME).fit(FRAME.to_numpy())
    assert not hasattr(fitted, "feature_names_in_")
    assert fitted.get_feature_names_out()[0].startswith("x0")


def test_columns_are_meant_by_name_or_position():
    labels = ("age", "size")
    assert column_position("size", labels) == column_position(1, labels) == column_position(np.int64(1), labels) == 1
    assert per_column("n_bins", {"size": 3}, labels, 10) == [10, 3]
    assert per_column("n_bins", {1: 3, "age": 4}, labels, 10) == [4, 3]
    assert per_column("n_bins", [1, 2], labels, 10) == [1, 2]


@pytest.mark.parametrize(
    ("given", "word"),
    [
        ({"weight": 3}, "column 'weight': there is no such column; the columns are 'age', 'size'"),
        ({2: 3}, "column 2: there are only columns 0 to 1"),
        ({-1: 3}, "column -1"),
        ({1.5: 3}, "column 1.5"),
        ({True: 3}, "column True"),
        ({"age": 3, 0: 4}, "named twice"),
        ([1, 2, 3], "n_bins: 3 entries for 2 columns"),
    ],
)
def test_a_column_that_is_not_there_is_named(given, word):
    with pytest.raises(OptionError, match=word):
        per_column("n_bins", given, ("age", "size"), 10)
