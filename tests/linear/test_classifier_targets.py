"""LinearClassifier's targets and weights: classes of any kind, rows that count more or not at all."""

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest
from tests.linear.classifiers import WORDS, X, Y, each_family, fit
from tests.linear.tables import weights
from tests.same import assert_same_bits

from softbin import SoftBins
from softbin.errors import DataError, OptionError, SoftbinError

# Targets


@pytest.mark.parametrize(
    "y",
    [
        np.array(["no", "yes"])[Y["bernoulli"].astype(int)],
        np.array(["no", "yes"], object)[Y["bernoulli"].astype(int)],
        Y["bernoulli"] == 1,
        Y["bernoulli"].astype(int) * 7 - 3,
        Y["bernoulli"].astype(np.int8),
        Y["bernoulli"].tolist(),
        pd.Series(Y["bernoulli"]),
        pd.Series(np.array(["no", "yes"])[Y["bernoulli"].astype(int)], dtype="category"),
        pl.Series(np.array(["no", "yes"])[Y["bernoulli"].astype(int)]),
        pa.array(Y["bernoulli"].astype(int)),
    ],
    ids=["str", "object", "bool", "-3 and 4", "int8", "list", "pandas", "category", "polars", "arrow"],
)
def test_labels_of_any_kind_are_classes(y):
    model, plain = fit(X, y), fit(X, Y["bernoulli"])
    assert_same_bits(model.coef_, plain.coef_)
    expected = model.classes_[plain.predict(X).astype(int)]
    assert model.predict(X).tolist() == expected.tolist()
    assert model.predict(X).dtype == model.classes_.dtype
    assert model.score(X, np.asarray(y)) == plain.score(X, Y["bernoulli"])


@pytest.mark.parametrize("y", [np.zeros(600), np.full(600, "a"), np.ones(600, bool)], ids=["zero", "word", "true"])
def test_one_class_is_an_error_that_says_which(y):
    with pytest.raises(DataError, match=rf"^y: there is only one class, {y.tolist()[0]!r};"):
        fit(X, y)


@pytest.mark.parametrize(
    "y",
    [
        Y["bernoulli"][:-1],
        np.append(Y["bernoulli"], 1),
        np.where(np.arange(600) == 5, np.nan, Y["bernoulli"]),
        np.random.default_rng(0).normal(size=600),
        np.stack([Y["bernoulli"]] * 2, axis=1),
        Y["bernoulli"] + 1j,
        None,
        [],
        3.0,
    ],
    ids=["short", "long", "NaN", "continuous", "2-D", "complex", "None", "empty", "a number"],
)
def test_targets_that_are_no_classes_are_refused(y):
    with pytest.raises(ValueError, match=r"."):
        fit(X, y)


@pytest.mark.parametrize(
    "table",
    [X[:, 0], X[:0], X[:, :0], np.full((600, 2), "a"), X + 1j, None, X[None]],
    ids=["1-D", "no row", "no column", "words", "complex", "None", "3-D"],
)
def test_tables_that_are_none_are_refused(table):
    with pytest.raises((SoftbinError, TypeError)):
        fit(table, Y["bernoulli"])


# Weights


@each_family
def test_weight_zero_is_a_row_absent(family):
    weight = np.where(np.arange(600) % 3 == 0, 0.0, 1.0)
    kept = weight > 0
    assert_same_bits(fit(X, Y[family], sample_weight=weight).coef_, fit(X[kept], Y[family][kept]).coef_)


def test_a_class_without_weight_is_absent():
    y = Y["multinomial"]
    model = fit(X, WORDS[y.astype(int)], sample_weight=np.where(y == 1, 0.0, 1.0))
    assert model.classes_.tolist() == ["low", "top"]


def test_nan_targets_of_weight_zero_may_be_anything_a_class_can_be():
    weight = np.where(np.arange(600) < 3, 0.0, 1.0)
    y = np.where(np.arange(600) < 3, 7.0, Y["bernoulli"])
    assert fit(X, y, sample_weight=weight).classes_.tolist() == [0, 1]


@each_family
def test_weight_two_is_the_row_twice(family):
    count = 1 + np.arange(600) % 2
    twice = np.repeat(np.arange(600), count)
    weighed, repeated = fit(X, Y[family], sample_weight=count), fit(X[twice], Y[family][twice])
    assert [b.edges for b in weighed.grid_] == [b.edges for b in repeated.grid_]
    np.testing.assert_allclose(weighed.coef_, repeated.coef_, atol=1e-5)


@pytest.mark.parametrize("scale", [1e-12, 1e-3, 1e6, 1e12])
def test_the_scale_of_weights_is_that_of_ridge(scale):
    plain, scaled = fit(X, Y["bernoulli"]), fit(X, Y["bernoulli"], sample_weight=np.full(600, scale), ridge=scale)
    assert scaled.converged_
    np.testing.assert_allclose(scaled.coef_, plain.coef_, atol=1e-4)


@pytest.mark.parametrize(
    ("weight", "words"),
    [
        (np.zeros(600), "all weights are zero"),
        (np.full(600, -1.0), "negative"),
        (np.full(600, np.nan), "NaN or infinite"),
        (np.ones(3), "3 weights for 600 rows"),
        (np.ones((600, 2)), "must be 1D"),
        (["a"] * 600, "not numbers"),
    ],
)
def test_weights_that_are_none_are_refused(weight, words):
    with pytest.raises(DataError, match=rf"^sample_weight: .*{words}"):
        fit(X, Y["bernoulli"], sample_weight=weight)


@pytest.mark.parametrize("given", [{"low": 1, "middle": 5, "top": 0.5}, "balanced"])
@pytest.mark.parametrize("weighted", [False, True])
def test_class_weights_are_weights_of_rows(given, weighted):
    number = Y["multinomial"].astype(int)
    own = weights(600) if weighted else np.ones(600)
    share = np.bincount(number, own)
    factor = own.sum() / (3 * share) if given == "balanced" else np.array(list(given.values()))
    bins = SoftBins(6).fit(X)
    model = fit(X, WORDS[number], bins, own if weighted else None, class_weight=given)
    expected = fit(X, WORDS[number], bins, own * factor[number])
    np.testing.assert_allclose(model.coef_, expected.coef_, atol=1e-5)


def test_class_weights_leave_the_boundaries_alone():
    assert fit(X, Y["bernoulli"], class_weight={0: 1, 1: 50}).grid_ == fit(X, Y["bernoulli"]).grid_


@pytest.mark.parametrize(
    "given", ["equal", {7: 1.0}, {0: -1.0, 1: 1.0}, {0: 0.0, 1: 1.0}, {0: np.nan, 1: 1.0}, {0: np.inf, 1: 1.0}, 3]
)
def test_class_weights_that_are_none_are_refused(given):
    with pytest.raises(OptionError, match=r"^class_weight: "):
        fit(X, Y["bernoulli"], class_weight=given)
