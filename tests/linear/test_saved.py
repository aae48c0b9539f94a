"""Saved linear models: a loaded one is the same, a damaged file is an error, nothing is overwritten by accident."""

import json

import numpy as np
import pandas as pd
import pytest

from softbin import HardBins, LinearClassifier, LinearRegressor, MultiBins, SoftBins
from softbin.errors import SavedFileError

RNG = np.random.default_rng(5)
X = pd.DataFrame({"age": RNG.normal(40, 12, 400).round(), "size": RNG.lognormal(0, 1, 400), "flat": 1.0})
X.loc[::17, "size"] = np.nan
SCORE = np.sin(X["age"] / 8) + np.log1p(X["size"].fillna(3))
CLASSES = {
    "two": (SCORE > 0.8).to_numpy(),
    "text": np.array(["low", "mid", "high"])[np.digitize(SCORE, [0.4, 1.2])],
    "object": np.array(["low", "mid"], dtype=object)[(SCORE > 0.8).to_numpy().astype(int)],
    "numbers": np.digitize(SCORE, [0.4, 1.2]) * 10,
}
BINS = ["soft:6", SoftBins(5), HardBins(7), MultiBins((4, 12), keep=1.0), MultiBins((4, 12), soft=True, keep=0.5)]


@pytest.mark.parametrize("bins", BINS, ids=str)
@pytest.mark.parametrize("kind", CLASSES)
def test_a_loaded_classifier_is_the_same(tmp_path, bins, kind):
    model = LinearClassifier(bins, ridge=0.3).fit(X, CLASSES[kind])
    model.save(tmp_path / "m.json")
    again = LinearClassifier.load(tmp_path / "m.json")
    assert np.array_equal(again.decision_function(X), model.decision_function(X))
    assert np.array_equal(again.predict(X), model.predict(X))
    assert again.predict(X).dtype == model.predict(X).dtype
    assert again.grid_ == model.grid_
    assert again.encoder_.fit_report_ == model.encoder_.fit_report_
    assert again.history_ == model.history_
    assert again.ridge == 0.3
    assert again.feature_names_in_.tolist() == ["age", "size", "flat"]
    for column in X:
        assert np.array_equal(again.curve(column).values, model.curve(column).values)


@pytest.mark.parametrize(
    "options",
    [
        {"smoothness": {0: 1.0, "size": 2}},
        {"smoothness": {np.int64(1): np.float32(0.5)}},
        {"monotonic": {0: "increasing"}},
        {"monotonic": {"age": "increasing"}},
        {"class_weight": {False: 1.0, True: 3.0}},
        {"class_weight": "balanced", "smoothness": np.float64(2)},
    ],
    ids=str,
)
def test_options_by_column_and_class_come_back(tmp_path, options):
    model = LinearClassifier(**options).fit(X, CLASSES["two"])
    model.save(tmp_path / "m.json")
    again = LinearClassifier.load(tmp_path / "m.json")
    for name, value in options.items():
        assert getattr(again, name) == value
    assert np.array_equal(again.set_params(bins="soft:10").fit(X, CLASSES["two"]).coef_, model.coef_)


@pytest.mark.parametrize("smoothness", ["auto", 1.0, 1e4])
def test_a_loaded_smooth_model_knows_its_bands(tmp_path, smoothness):
    model = LinearClassifier("soft:12", smoothness=smoothness).fit(X, CLASSES["two"])
    model.save(tmp_path / "m.json")
    again = LinearClassifier.load(tmp_path / "m.json")
    assert np.array_equal(again.smoothness_, model.smoothness_)
    assert np.array_equal(again.edf_, model.edf_)
    for column in X:
        got, expected = (found.curve(column, confidence=0.9) for found in (again, model))
        assert np.array_equal(got.lower, expected.lower)


@pytest.mark.parametrize("family", ["gaussian", "poisson"])
def test_a_loaded_regressor_is_the_same(tmp_path, family):
    y = np.exp(SCORE).to_numpy()
    model = LinearRegressor("soft:8", family=family).fit(X.to_numpy(), y)
    model.save(tmp_path / "m.json")
    again = LinearRegressor.load(tmp_path / "m.json")
    assert np.array_equal(again.predict(X.to_numpy()), model.predict(X.to_numpy()))
    assert again.score(X.to_numpy(), y) == model.score(X.to_numpy(), y)
    assert not hasattr(again, "feature_names_in_")
    assert again.intercept_ == model.intercept_


def test_saving_a_loaded_model_writes_the_same_file(tmp_path):
    LinearClassifier("soft:6").fit(X, CLASSES["two"]).save(tmp_path / "a.json")
    LinearClassifier.load(tmp_path / "a.json").save(tmp_path / "b.json")
    assert (tmp_path / "a.json").read_bytes() == (tmp_path / "b.json").read_bytes()


def test_nothing_is_overwritten_unless_asked_to(tmp_path):
    model = LinearClassifier("soft:6").fit(X, CLASSES["two"])
    model.save(tmp_path / "m.json")
    with pytest.raises(SavedFileError, match="exists already"):
        model.save(tmp_path / "m.json")
    model.save(tmp_path / "m.json", overwrite=True)


def damaged(state, how):
    if how == "schema":
        state["schema"] = 99
    elif how == "format":
        state["format"] = "softbin.grid"
    elif how == "short":
        state["parameters"][0].pop()
    elif how == "no grid":
        del state["encoder"]["grid"]
    elif how == "family":
        state["family"] = "binomial"
    elif how == "classes":
        state["classes"].append(2)
    elif how == "option":
        state["options"]["colour"] = "red"
    return json.dumps(state)


@pytest.mark.parametrize("how", ["schema", "format", "short", "no grid", "family", "classes", "option"])
def test_a_damaged_file_is_a_saved_file_error(tmp_path, how):
    path = tmp_path / "m.json"
    LinearClassifier("soft:6").fit(X, CLASSES["two"]).save(path)
    path.write_text(damaged(json.loads(path.read_text()), how))
    with pytest.raises(SavedFileError, match=r"m\.json"):
        LinearClassifier.load(path)


def test_a_cut_off_file_a_missing_one_and_another_estimators(tmp_path):
    path = tmp_path / "m.json"
    with pytest.raises(SavedFileError, match="no such file"):
        LinearClassifier.load(path)
    LinearClassifier("soft:6").fit(X, CLASSES["two"]).save(path)
    with pytest.raises(SavedFileError, match=r"LinearClassifier\.load"):
        LinearRegressor.load(path)
    path.write_text(path.read_text()[:-40])
    with pytest.raises(SavedFileError, match="cut off"):
        LinearClassifier.load(path)


def test_classes_that_json_cannot_hold_are_an_error(tmp_path):
    model = LinearClassifier("soft:6").fit(X, CLASSES["two"])
    model.classes_ = np.array([b"a", b"b"])
    with pytest.raises(SavedFileError, match="neither text nor numbers"):
        model.save(tmp_path / "m.json")
    assert not list(tmp_path.iterdir())
