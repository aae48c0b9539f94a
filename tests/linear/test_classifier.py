"""LinearClassifier: scikit-learn's optimum on the encoder's output, and honest about targets, weights and limits."""

import pickle
import time
import warnings
from concurrent.futures import ThreadPoolExecutor

import joblib
import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest
import sklearn
from sklearn.base import clone
from sklearn.exceptions import ConvergenceWarning, NotFittedError
from sklearn.frozen import FrozenEstimator
from sklearn.linear_model import LogisticRegression
from sklearn.model_selection import GridSearchCV
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import FunctionTransformer
from sklearn.utils.estimator_checks import estimator_checks_generator
from tests.columns import each_dtype
from tests.linear.tables import encoder, mixed_table, penalised, penalised_loss, target, weights
from tests.same import assert_same_bits

import softbin.linear.fit
from softbin import Boundaries, Grid, HardBins, LinearClassifier, SoftBins
from softbin.errors import DataError, DataTypeError, OptionError, SoftbinError

X = mixed_table(600)
Y = {"bernoulli": target(X, "bernoulli"), "multinomial": target(X, "multinomial")}
WORDS = np.array(["low", "middle", "top"])
each_kind = pytest.mark.parametrize("kind", ["soft", "hard"])
each_family = pytest.mark.parametrize("family", ["bernoulli", "multinomial"])


def fit(X, y, bins="soft:6", sample_weight=None, **options):
    return LinearClassifier(bins, **options).fit(X, y, sample_weight)


def best(encoded, y, ridge=1.0, sample_weight=None, fit_intercept=True):
    """scikit-learn's optimum."""
    model = LogisticRegression(
        C=1 / ridge, tol=1e-10, max_iter=60, solver="newton-cholesky", fit_intercept=fit_intercept
    )
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # its line search cannot improve the last digit
        return model.fit(encoded.toarray(), y, sample_weight)


def assert_same_optimum(model, X, y, family, sample_weight=None, objective=1e-8, coefficients=1e-4):
    encoded = model.encoder_.transform(np.asarray(X, np.float64))
    expected = best(encoded, y, model.ridge, sample_weight, model.fit_intercept)
    wanted = penalised(encoded, expected.coef_, expected.intercept_, y, family, model.ridge, sample_weight)
    assert model.converged_
    assert penalised_loss(model, X, y, family, sample_weight) <= wanted * (1 + objective)
    np.testing.assert_allclose(model.coef_, expected.coef_, rtol=coefficients, atol=coefficients)
    # Why: without a class to compare with, scikit-learn's intercepts are free to move together.
    shift = expected.intercept_.mean() - model.intercept_.mean() if family == "multinomial" else 0
    np.testing.assert_allclose(model.intercept_ + shift, expected.intercept_, rtol=coefficients, atol=coefficients)


@each_kind
@each_family
@each_dtype
@pytest.mark.parametrize("weighted", [False, True])
@pytest.mark.parametrize("ridge", [1e-3, 1.0, 100.0])
def test_the_optimum_is_scikit_learns(kind, family, dtype, weighted, ridge):
    table, weight = X.astype(dtype), weights(len(X)) if weighted else None
    model = fit(table, Y[family], encoder(kind), weight, ridge=ridge)
    assert_same_optimum(model, table, Y[family], family, weight)


@each_kind
@each_family
def test_the_optimum_without_an_intercept(kind, family):
    model = fit(X, Y[family], encoder(kind), fit_intercept=False)
    assert not model.intercept_.any()
    assert_same_optimum(model, X, Y[family], family)


@each_kind
@pytest.mark.parametrize("missing", ["level", "zero"])
def test_the_optimum_with_missing_levels_and_without(kind, missing):
    model = fit(X, Y["bernoulli"], encoder(kind, missing=missing))
    assert_same_optimum(model, X, Y["bernoulli"], "bernoulli")


def test_the_optimum_on_end_slopes():
    table = np.nan_to_num(X[:, :1])
    bins = SoftBins(edges=[[-0.5, 0.0, 0.5]], outside="linear")
    assert_same_optimum(fit(table, Y["bernoulli"], bins), table, Y["bernoulli"], "bernoulli")


def test_another_optimum_is_noticed():
    model = fit(X, Y["bernoulli"])
    assert_same_optimum(model, X, Y["bernoulli"], "bernoulli")
    model.coef_ = model.coef_ + np.where(np.arange(model.coef_.shape[1]) == 3, 1e-3, 0)
    with pytest.raises(AssertionError):
        assert_same_optimum(model, X, Y["bernoulli"], "bernoulli")


@each_kind
@each_family
def test_many_levels_reach_the_same_optimum(kind, family, monkeypatch):
    monkeypatch.setattr(softbin.linear.fit, "DENSE_LEVELS", 0)
    monkeypatch.setattr(softbin.linear.curvature, "GROUPED_LEVELS", 20)
    model = fit(X, Y[family], encoder(kind), tol=1e-8)
    assert_same_optimum(model, X, Y[family], family)


@each_family
@pytest.mark.parametrize("weighted", [False, True])
def test_a_start_on_a_sample_reaches_the_same_optimum(family, weighted, monkeypatch):
    monkeypatch.setattr(softbin.linear.fit, "SAMPLE_ROWS", 1500)
    table = mixed_table(6000)
    y, weight = target(table, family), weights(6000) if weighted else None
    model = fit(table, y, "soft:3", weight)
    assert_same_optimum(model, table, y, family, weight)


def test_the_sample_leaves_no_trace_in_the_answer(monkeypatch):
    monkeypatch.setattr(softbin.linear.fit, "SAMPLE_ROWS", 1500)
    table = mixed_table(6000)
    models = [fit(table, target(table, "bernoulli"), random_state=seed) for seed in (0, 1, None)]
    for model in models[1:]:
        np.testing.assert_allclose(model.coef_, models[0].coef_, rtol=1e-4, atol=2e-4)


@each_family
def test_the_number_of_threads_leaves_no_trace(family):
    table = mixed_table(40_000, np.float32)
    y = target(table, family)
    models = [fit(table, y, n_jobs=n_jobs) for n_jobs in (1, 2, 3)]
    for model in models[1:]:
        assert_same_bits(model.coef_, models[0].coef_)
        assert_same_bits(model.intercept_, models[0].intercept_)
        assert_same_bits(model.predict_proba(table), models[0].predict_proba(table))


@each_family
def test_refitting_gives_the_same_bits(family):
    model = fit(X, Y[family])
    coef = model.coef_
    assert_same_bits(model.fit(X, Y[family]).coef_, coef)


def test_a_rare_class_is_learnt(monkeypatch):
    monkeypatch.setattr(softbin.linear.fit, "SAMPLE_ROWS", 2000)
    table = np.random.default_rng(0).normal(size=(20_000, 3))
    y = np.zeros(20_000)
    y[np.argsort(table[:, 0])[-5:]] = 1
    model = fit(table, y, "soft:4")
    assert_same_optimum(model, table, y, "bernoulli")
    assert model.predict_proba(table)[y == 1, 1].min() > model.predict_proba(table)[y == 0, 1].mean()


@pytest.mark.parametrize("kind", ["soft:5", "hard:4"])
@pytest.mark.parametrize("ridge", [0, 1e-12])
def test_separable_data_give_finite_coefficients_and_at_most_one_warning(kind, ridge):
    table = np.linspace(-1, 1, 200)[:, None]
    y = table[:, 0] > 0
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        model = fit(table, y, kind, ridge=ridge)
    assert [warning.category for warning in caught] in ([], [ConvergenceWarning])
    assert np.all(np.isfinite(model.coef_))
    assert np.all(np.isfinite(model.intercept_))
    assert np.all(np.isfinite(model.predict_proba(table)))
    assert model.score(table, y) > 0.95


@each_family
@pytest.mark.parametrize("kind", ["soft:5", "hard:5"])
def test_without_ridge_predictions_are_still_the_best(family, kind):
    table = mixed_table(2000)[:, [0, 3]]
    y = target(mixed_table(2000), family)
    model = fit(table, y, kind, ridge=0, tol=1e-8)
    encoded = model.encoder_.transform(table)
    expected = best(encoded, y, 1e-9)
    np.testing.assert_allclose(model.predict_proba(table), expected.predict_proba(encoded.toarray()), atol=1e-4)


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
    with pytest.raises(DataError, match=r"^y: there is only one class"):
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


# Options


@pytest.mark.parametrize(
    ("name", "value"),
    [
        ("ridge", -1.0), ("ridge", np.nan), ("ridge", np.inf), ("ridge", "1"), ("ridge", None), ("ridge", True),
        ("tol", -1e-3), ("tol", np.nan), ("tol", "small"),
        ("max_iter", 0), ("max_iter", 1.5), ("max_iter", None), ("max_iter", True),
        ("random_state", "a"), ("random_state", -1), ("n_jobs", 0), ("n_jobs", 1.5),
        ("bins", "firm:3"), ("bins", None), ("bins", 10),
    ],
)  # fmt: skip
def test_options_that_cannot_be_used_are_named(name, value):
    with pytest.raises(OptionError, match=rf"^{name}: "):
        LinearClassifier(**{name: value}).fit(X, Y["bernoulli"])


@pytest.mark.parametrize("state", [None, 3, np.int64(3), np.random.RandomState(3)])
def test_seeds_of_any_kind(state):
    assert fit(X, Y["bernoulli"], random_state=state).converged_


def test_options_may_be_numpy_numbers():
    model = fit(X, Y["bernoulli"], ridge=np.float32(1), tol=np.float64(1e-6), max_iter=np.int32(50), n_jobs=np.int64(1))
    assert model.converged_


def test_one_iteration_warns_once_and_keeps_a_finite_point():
    with pytest.warns(ConvergenceWarning, match="Raise max_iter") as caught:
        model = fit(X, Y["multinomial"], max_iter=1, tol=1e-12)
    assert len(caught) == 1
    assert not model.converged_
    assert model.n_iter_ == 1
    assert np.all(np.isfinite(model.coef_))
    assert model.score(X, Y["multinomial"]) > 0.5


def test_the_warning_points_at_the_callers_line():
    with pytest.warns(ConvergenceWarning) as caught:
        LinearClassifier(max_iter=1, tol=0).fit(X, Y["bernoulli"])
    assert caught[0].filename == __file__


@each_family
@pytest.mark.parametrize("ridge", [1e-3, 1.0])
def test_the_objective_never_rises(family, ridge):
    history = fit(X, Y[family], ridge=ridge).history_
    values = np.array([done.objective for done in history])
    assert np.all(np.diff(values) <= 1e-13 * values[:-1])
    assert all(done.gradient >= 0 and done.seconds >= 0 for done in history)


@each_family
def test_the_last_objective_is_the_models(family):
    model = fit(X, Y[family])
    np.testing.assert_allclose(model.history_[-1].objective, penalised_loss(model, X, Y[family], family), rtol=1e-10)


def test_a_warm_start_takes_fewer_iterations():
    model = fit(X, Y["bernoulli"], warm_start=True)
    first, coef = model.n_iter_, model.coef_
    assert len(model.fit(X, Y["bernoulli"]).history_) < first + 1
    np.testing.assert_allclose(model.coef_, coef, atol=1e-6)


def test_a_warm_start_of_another_size_starts_cold():
    model = fit(X, Y["bernoulli"], warm_start=True)
    model.fit(X, Y["multinomial"])
    assert_same_optimum(model, X, Y["multinomial"], "multinomial")
    model.set_params(bins="hard:3").fit(X[:, :2], Y["bernoulli"])
    assert_same_optimum(model, X[:, :2], Y["bernoulli"], "bernoulli")


@pytest.mark.parametrize("dtype", [np.float32, np.float64])
def test_the_progress_line_is_one_line(dtype, capsys):
    fit(X.astype(dtype), Y["bernoulli"], verbose=1)
    shown = capsys.readouterr()
    assert shown.out == ""
    assert shown.err.count("\n") == 1
    assert shown.err.endswith("\n")
    last = shown.err.strip().split("\r")[-1]
    assert last.startswith("LinearClassifier: pass ")
    assert "objective" in last


def test_without_verbose_nothing_is_printed(capsys):
    fit(X, Y["bernoulli"])
    shown = capsys.readouterr()
    assert shown.out + shown.err == ""


# Predictions


@each_kind
@each_family
@each_dtype
def test_predictions_belong_together(kind, family, dtype):
    table = X.astype(dtype)
    model = fit(table, Y[family], encoder(kind))
    scores, share = model.decision_function(table), model.predict_proba(table)
    assert scores.dtype == share.dtype == dtype
    assert scores.shape == ((600,) if family == "bernoulli" else (600, 3))
    np.testing.assert_allclose(share.sum(axis=1), 1, rtol=4 * np.finfo(dtype).eps)
    np.testing.assert_array_equal(model.predict(table), model.classes_[share.argmax(axis=1)])
    np.testing.assert_allclose(model.predict_log_proba(table), np.log(share))
    encoded = model.encoder_.transform(table.astype(np.float64))
    expected = encoded @ model.coef_.T + model.intercept_
    np.testing.assert_allclose(scores.reshape(expected.shape), expected, atol=1e-5 if dtype == np.float32 else 1e-12)


@each_family
def test_far_scores_have_finite_probabilities(family):
    model = fit(X, Y[family])
    parameters = np.column_stack([model.coef_ * 1e6, model.intercept_])
    far = softbin.linear.fit.LinearFit(parameters, model._level_weight, model.history_, 1, True)
    model._set_fitted(model.encoder_, model._family, far)
    share = model.predict_proba(X)
    assert np.all(np.isfinite(share))
    np.testing.assert_allclose(share.sum(axis=1), 1)


@each_kind
@each_family
def test_explanations_add_up_to_the_scores(kind, family):
    model = fit(X, Y[family], encoder(kind))
    shares = model.explain(X)
    assert shares.shape == ((600, 5) if family == "bernoulli" else (600, 5, 3))
    scores = shares.sum(axis=1) + (model.intercept_[0] if family == "bernoulli" else model.intercept_)
    np.testing.assert_allclose(scores, model.decision_function(X), atol=1e-9)


@each_kind
@each_family
@pytest.mark.parametrize("position", range(5))
def test_a_curve_is_what_the_score_does_when_one_column_moves(kind, family, position):
    model = fit(X, Y[family], encoder(kind))
    curve = model.curve(position)
    values = curve.knots if kind == "soft" else (curve.knots[:-1] + curve.knots[1:]) / 2
    rows = np.repeat(np.nan_to_num(X[:1]), len(values), axis=0)
    rows[:, position] = values
    moved = model.decision_function(rows).T
    shape = np.asarray(curve.values)
    assert shape.shape[-1] == len(values)
    np.testing.assert_allclose(moved - moved[..., :1], shape - shape[..., :1], atol=1e-9)


@each_kind
@each_family
def test_curves_are_centred_on_the_training_rows(kind, family):
    weight = weights(600)
    model = fit(X, Y[family], encoder(kind), weight)
    for position in range(5):
        average = np.average(model.explain(X)[:, position], axis=0, weights=weight)
        np.testing.assert_allclose(model.curve(position).average, average, atol=1e-9)


@each_kind
def test_curves_know_special_codes_and_missing(kind):
    model = fit(X, Y["bernoulli"], encoder(kind))
    shares = model.explain(X)
    whole, skewed = model.curve(2), model.curve(1)
    assert list(whole.special) == [-999.0]
    at = X[:, 2] == -999
    np.testing.assert_allclose(shares[at, 2], whole.special[-999.0] + whole.average)
    assert whole.missing is None
    gone = np.isnan(X[:, 1])
    np.testing.assert_allclose(shares[gone, 1], skewed.missing + skewed.average)
    assert skewed.special == {}


def test_curves_are_found_by_name_and_by_position():
    frame = pd.DataFrame(X, columns=list("abcde"))
    model = fit(frame, Y["bernoulli"])
    by_name, by_position = model.curve("c"), model.curve(2)
    assert by_name.column == by_position.column == "c"
    assert_same_bits(by_name.values, by_position.values)
    assert fit(X, Y["bernoulli"]).curve("x2").column == "x2"
    for wrong in ("z", 5, -1, 1.5, None):
        with pytest.raises(OptionError, match=r"^column "):
            model.curve(wrong)


def test_changing_a_curve_or_an_explanation_changes_no_model():
    model = fit(X, Y["bernoulli"])
    expected = model.decision_function(X)
    model.curve(0).values[:] = 99
    model.explain(X)[:] = 99
    assert_same_bits(model.decision_function(X), expected)


def test_missing_values_that_training_had_not_are_a_named_error():
    frame = pd.DataFrame(np.nan_to_num(X), columns=list("abcde"))
    model = fit(frame, Y["bernoulli"])
    broken = frame.copy()
    broken.loc[3, "d"] = np.nan
    for method in ("predict", "predict_proba", "predict_log_proba", "decision_function", "explain"):
        with pytest.raises(DataError, match=r"^column 'd': 1 missing values"):
            getattr(model, method)(broken)


@each_dtype
@pytest.mark.parametrize("n_bins", [5, 40])
def test_infinities_on_a_circle_are_an_error_for_every_number_of_bins(dtype, n_bins):
    table = np.random.default_rng(0).uniform(0, 24, (300, 1)).astype(dtype)
    model = fit(table, table[:, 0] > 12, SoftBins(n_bins, period={0: (0, 24)}))
    with pytest.raises(DataError, match="nowhere on a circle"):
        model.predict(np.array([[np.inf]], dtype))


@pytest.mark.parametrize("method", ["predict", "predict_proba", "decision_function", "explain", "score"])
def test_an_unfitted_model_says_so(method):
    arguments = (X, Y["bernoulli"]) if method == "score" else (X,)
    with pytest.raises(NotFittedError):
        getattr(LinearClassifier(), method)(*arguments)
    with pytest.raises(NotFittedError):
        LinearClassifier().curve(0)


@pytest.mark.timing
def test_one_row_is_predicted_in_less_than_a_millisecond():
    table = np.random.default_rng(0).normal(size=(5000, 28)).astype(np.float32)
    model, row = fit(table, table[:, 0] > 0), table[:1]
    model.predict_proba(row)
    took = []
    for _ in range(200):
        began = time.perf_counter()
        model.predict_proba(row)
        took.append(time.perf_counter() - began)
    assert min(took) < 1e-3  # the target is 100 microseconds; benchmarks/ measures it


# Encoders as bins


def test_a_fitted_encoder_is_used_as_it_is():
    fitted = SoftBins(3, missing="level").fit(mixed_table(50, seed=9))
    grid = fitted.grid_
    model = fit(X, Y["bernoulli"], fitted)
    assert model.encoder_.plan_ is fitted.plan_
    assert model.grid_ is grid
    assert_same_optimum(model, X, Y["bernoulli"], "bernoulli")


def test_refitting_the_encoder_later_leaves_the_model_whole():
    bins = SoftBins(5).fit(X)
    model = fit(X, Y["bernoulli"], bins)
    curve, grid, scores = model.curve(0), model.grid_, model.decision_function(X)
    bins.set_params(n_bins=2).fit(X)
    assert_same_bits(model.decision_function(X), scores)
    assert model.grid_ == grid
    assert model.n_parameters_ == model.coef_.shape[1]
    assert_same_bits(model.curve(0).values, curve.values)


def test_an_unfitted_encoder_stays_unfitted():
    bins = SoftBins(3)
    before = bins.get_params()
    model = fit(X, Y["bernoulli"], bins)
    assert not bins.__sklearn_is_fitted__()
    assert bins.get_params() == before
    assert model.grid_ == SoftBins(3).fit(X).grid_


def test_a_frozen_encoder_stays_fitted_through_clones():
    fitted = HardBins(4, missing="level").fit(mixed_table(50, seed=9))
    model = clone(LinearClassifier(FrozenEstimator(fitted))).fit(X, Y["bernoulli"])
    assert model.grid_ == fitted.grid_


def test_an_encoder_from_a_grid():
    grid = Grid((Boundaries((-1.0, 0.0, 1.0)),))
    table = np.clip(X[:, :1], -2, 2)
    model = fit(table, Y["bernoulli"], SoftBins.from_grid(grid))
    assert model.n_parameters_ == 3
    assert_same_optimum(model, table, Y["bernoulli"], "bernoulli")


def test_a_fitted_encoder_refuses_rows_it_does_not_know():
    fitted = SoftBins(3).fit(np.nan_to_num(X))
    with pytest.raises(DataError, match=r"column 'x1': .* missing values"):
        fit(X, Y["bernoulli"], fitted)
    with pytest.raises(DataError, match="features"):
        fit(X[:, :2], Y["bernoulli"], fitted)
    strict = SoftBins(3, outside="error", missing="level").fit(X[:50])
    with pytest.raises(DataError, match="outside"):
        fit(X * 3, Y["bernoulli"], strict)


@pytest.mark.parametrize("output", ["dense", "ordinal"])
def test_the_output_of_the_encoder_does_not_matter(output):
    expected = fit(X, Y["bernoulli"], HardBins(4))
    assert_same_bits(fit(X, Y["bernoulli"], HardBins(4, output=output)).coef_, expected.coef_)


def test_a_table_without_any_level_is_an_error():
    with pytest.raises(DataError, match="no column has a level"):
        fit(np.full((10, 2), np.nan), np.arange(10) % 2, SoftBins(missing="zero"))


# At home in scikit-learn


def checks():
    for bins in ("soft:10", "hard:10"):
        for estimator, check in estimator_checks_generator(LinearClassifier(bins)):
            name = getattr(check, "func", check).__name__
            yield pytest.param(estimator, check, id=f"{bins}-{name}")


@pytest.mark.parametrize(("estimator", "check"), list(checks()))
@pytest.mark.filterwarnings("default")
def test_check_estimator(estimator, check):
    check(estimator)


@each_family
def test_pickle_and_joblib_round_trip(family, tmp_path):
    model = fit(X, Y[family])
    joblib.dump(model, tmp_path / "model")
    for copy in (pickle.loads(pickle.dumps(model)), joblib.load(tmp_path / "model")):
        assert_same_bits(copy.predict_proba(X), model.predict_proba(X))
        assert copy.grid_ == model.grid_
        assert_same_bits(copy.curve(0).values, model.curve(0).values)
        assert copy.history_ == model.history_


def test_clone_keeps_the_options_and_nothing_else():
    model = fit(X, Y["bernoulli"], SoftBins(4), ridge=3.0)
    copy = clone(model)
    assert copy.ridge == 3.0
    assert copy.bins.n_bins == 4
    assert not hasattr(copy, "coef_")


def test_a_search_over_bins_and_ridge():
    grid = {"bins": ["hard:2", SoftBins(8)], "ridge": [1.0, 1e6]}
    search = GridSearchCV(LinearClassifier(), grid, cv=3).fit(X, Y["bernoulli"])
    assert search.best_params_["ridge"] == 1.0
    assert search.best_params_["bins"] is grid["bins"][1]
    nested = GridSearchCV(LinearClassifier(SoftBins()), {"bins__n_bins": [2, 8]}, cv=3).fit(X, Y["bernoulli"])
    assert nested.best_params_ == {"bins__n_bins": 8}


def test_weights_are_routed_through_a_pipeline():
    weight = weights(600)
    with sklearn.config_context(enable_metadata_routing=True):
        last = LinearClassifier("soft:6").set_fit_request(sample_weight=True)
        model = make_pipeline(FunctionTransformer(), last).fit(X, Y["bernoulli"], sample_weight=weight)
    assert_same_bits(model[-1].coef_, fit(X, Y["bernoulli"], sample_weight=weight).coef_)
    assert model.score(X, Y["bernoulli"]) > 0.5


@pytest.mark.parametrize(
    "of",
    [
        lambda X: pd.DataFrame(X, columns=list("abcde")),
        lambda X: pl.DataFrame(X, schema=list("abcde")),
        lambda X: pa.table(dict(zip("abcde", X.T, strict=True))),
        lambda X: np.asfortranarray(X),
        lambda X: np.repeat(X, 2, axis=1)[:, ::2],
        lambda X: X.tolist(),
    ],
    ids=["pandas", "polars", "arrow", "F order", "strided", "lists"],
)
def test_tables_of_any_kind_give_the_same_model(of):
    model = fit(of(X), Y["bernoulli"])
    assert_same_bits(model.coef_, fit(X, Y["bernoulli"]).coef_)
    assert_same_bits(model.predict_proba(of(X)), fit(X, Y["bernoulli"]).predict_proba(X))
    assert hasattr(model, "feature_names_in_") == hasattr(of(X), "columns")


def test_columns_in_another_order_are_refused():
    frame = pd.DataFrame(X, columns=list("abcde"))
    model = fit(frame, Y["bernoulli"])
    with pytest.raises(DataError, match="same order"):
        model.predict(frame[list("edcba")])


def test_one_model_serves_eight_threads():
    table = mixed_table(4000, np.float32)
    model = pickle.loads(pickle.dumps(fit(table, target(table, "multinomial"), n_jobs=2)))
    parts = [table[start::16] for start in range(16)] * 4
    with ThreadPoolExecutor(8) as pool:
        got = list(pool.map(model.predict_proba, parts))
        explained = list(pool.map(model.explain, parts))
    for part, share, contribution in zip(parts, got, explained, strict=True):
        assert_same_bits(share, model.predict_proba(part))
        assert_same_bits(contribution, model.explain(part))


def test_models_fitted_side_by_side_are_those_fitted_alone():
    expected = fit(X, Y["multinomial"]).coef_
    with ThreadPoolExecutor(8) as pool:
        for model in pool.map(lambda _: fit(X, Y["multinomial"], n_jobs=2), range(8)):
            assert_same_bits(model.coef_, expected)


# Fits that fail


def fail_by_data(model):
    with pytest.raises(SoftbinError):
        model.fit(X, Y["bernoulli"][:5])


def fail_by_option(model):
    with pytest.raises(SoftbinError):
        model.set_params(ridge=-1).fit(X[:, :2], Y["bernoulli"])


def fail_by_interrupt(model):
    calls = iter(range(4))

    def interrupt(*arguments, **named):
        if next(calls, None) is None:
            raise KeyboardInterrupt
        return original(*arguments, **named)

    original = softbin.linear.objective.block_pass
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(softbin.linear.objective, "block_pass", interrupt)
        with pytest.raises(KeyboardInterrupt):
            model.fit(X[:, :2], Y["multinomial"])


@pytest.mark.parametrize("fail", [fail_by_data, fail_by_option, fail_by_interrupt])
@pytest.mark.parametrize("warm_start", [False, True])
def test_a_failed_refit_leaves_the_old_model(fail, warm_start):
    model = fit(X, Y["bernoulli"], warm_start=warm_start)
    fitted = {name: value for name, value in vars(model).items() if name not in model.get_params()}
    expected = model.predict_proba(X)
    fail(model)
    assert {name: value for name, value in vars(model).items() if name not in model.get_params()} == fitted
    assert_same_bits(model.predict_proba(X), expected)


@pytest.mark.parametrize("fail", [fail_by_data, fail_by_option, fail_by_interrupt])
def test_a_failed_fit_leaves_nothing(fail):
    model = LinearClassifier()
    fail(model)
    with pytest.raises(NotFittedError):
        model.predict(X)


def test_a_failed_fit_ends_the_progress_line(capsys):
    model = LinearClassifier(verbose=1)
    fail_by_interrupt(model)
    shown = capsys.readouterr().err
    assert shown == "" or shown.endswith("\n")


# Ugly data


@each_dtype
@pytest.mark.parametrize("scale", [1e-30, 1e-6, 1e6, 1e30])
def test_the_scale_of_a_column_does_not_matter(dtype, scale):
    plain = np.random.default_rng(0).normal(size=(500, 2))
    y = plain[:, 0] + plain[:, 1] ** 2 > 0.8
    model = fit((plain * scale).astype(dtype), y)
    np.testing.assert_allclose(model.coef_, fit(plain, y).coef_, atol=2e-3)
    assert model.converged_


@each_kind
def test_numbers_at_the_ends_of_float32(kind):
    largest = np.finfo(np.float32).max / 4
    table = np.random.default_rng(0).choice([-largest, -1e-45, 0.0, 1e-45, 1.0, largest], (400, 2)).astype(np.float32)
    y = table[:, 0] > 0
    model = fit(table, y, encoder(kind, special=None, period=None) if kind == "soft" else HardBins(6))
    assert np.all(np.isfinite(model.predict_proba(table)))
    assert_same_optimum(model, table, y.astype(float), "bernoulli")


def test_infinities_in_training_fall_into_the_end_bins():
    table = np.random.default_rng(0).normal(size=(400, 1))
    table[:20], table[20:40] = np.inf, -np.inf
    y = table[:, 0] > 0
    model = fit(table, y)
    assert np.all(np.isfinite(model.coef_))
    assert model.predict([[np.inf], [-np.inf]]).tolist() == [True, False]


@pytest.mark.parametrize("bins", ["soft:10", "hard:10"])
def test_two_rows(bins):
    model = fit([[0.0], [1.0]], ["a", "b"], bins)
    assert model.predict([[0.0], [1.0]]).tolist() == ["a", "b"]


def test_one_row_per_class_of_three_hundred():
    table = np.arange(300.0)[:, None]
    model = fit(table, np.arange(300), "hard:300", ridge=0.01)
    assert model.converged_
    assert model.score(table, np.arange(300)) == 1
    np.testing.assert_allclose(model.predict_proba(table).sum(axis=1), 1)


def test_one_column_of_zeros_and_ones():
    table = (np.arange(400) % 2).astype(float)[:, None]
    y = np.where(np.arange(400) % 5 == 0, 1 - table[:, 0], table[:, 0])
    for kind in ("soft", "hard"):
        assert_same_optimum(fit(table, y, encoder(kind, special=None, **({"period": None} if kind == "soft" else {}))),
                            table, y, "bernoulli")  # fmt: skip


def test_a_constant_column_and_an_all_missing_one_take_no_part():
    wide = np.column_stack([X[:, 0], np.full(600, 3.25), np.full(600, np.nan)])
    model = fit(wide, Y["bernoulli"])
    assert_same_optimum(model, wide, Y["bernoulli"], "bernoulli")
    alone = fit(X[:, :1], Y["bernoulli"]).decision_function(X[:, :1])
    np.testing.assert_allclose(model.decision_function(wide), alone, atol=1e-4)


def test_the_same_column_twice_shares_its_curve():
    model = fit(np.repeat(X[:, :1], 2, axis=1), Y["bernoulli"])
    np.testing.assert_allclose(model.curve(0).values, model.curve(1).values, atol=1e-6)
    assert_same_optimum(model, np.repeat(X[:, :1], 2, axis=1), Y["bernoulli"], "bernoulli")


@each_dtype
@pytest.mark.parametrize("ridge", [1e-6, 1e-3])
def test_which_class_comes_first_does_not_matter(dtype, ridge):
    """Residuals of sure rows must keep their digits on both sides."""
    table = np.random.default_rng(0).normal(size=(2000, 2)).astype(dtype)
    y = table[:, 0] > 0.01
    bins = SoftBins(edges=[[-2.0, 0.0, 0.02, 2.0], [-2.0, 2.0]])
    model, other = fit(table, y, bins, ridge=ridge), fit(table, ~y, bins, ridge=ridge)
    np.testing.assert_allclose(other.coef_, -model.coef_, rtol=1e-3, atol=1e-3)


@each_dtype
@pytest.mark.parametrize("heavy", [1e6, 1e9])
def test_one_row_that_outweighs_all_others(dtype, heavy):
    table, weight = X.astype(dtype), np.ones(600)
    weight[7] = heavy
    bins = SoftBins(5, missing="level").fit(table)
    model = fit(table, Y["bernoulli"], bins, weight)
    assert_same_optimum(model, table, Y["bernoulli"], "bernoulli", weight, coefficients=1e-2)


def test_the_table_is_left_as_it_was():
    table, y, weight = X.copy(), Y["bernoulli"].copy(), weights(600)
    for array in (table, y, weight):
        array.flags.writeable = False
    model = fit(table, y, encoder("soft"), weight)
    model.predict_proba(table)
    assert_same_bits(table, X)


def test_errors_of_types_are_type_errors():
    with pytest.raises(DataTypeError):
        fit(np.array([["a"], ["b"]]), [0, 1])


@each_dtype
@pytest.mark.parametrize("scale", [1e-200, 1e-50, 1e39, 1e300])
def test_weights_of_any_size_give_a_right_model_or_a_clear_error(dtype, scale):
    table = X.astype(dtype)
    try:
        model = fit(table, Y["bernoulli"], sample_weight=np.full(600, scale), ridge=scale)
    except SoftbinError:
        return
    np.testing.assert_allclose(model.coef_, fit(table, Y["bernoulli"]).coef_, atol=1e-3)


@pytest.mark.parametrize("weight", [1e39, 1e300])
def test_class_weights_beyond_float32_give_a_model_or_a_clear_error(weight):
    try:
        model = fit(X.astype(np.float32), Y["bernoulli"], class_weight={0: weight, 1: 1.0})
    except SoftbinError:
        return
    assert np.all(np.isfinite(model.coef_))


@pytest.mark.parametrize("values", [["a", "b"], [True, False], [1, 2]])
@pytest.mark.parametrize("chunked", [False, True])
def test_arrow_labels_are_classes(values, chunked):
    y = pa.chunked_array([values * 300]) if chunked else pa.array(values * 300)
    assert fit(X, y).classes_.tolist() == sorted(values)


@pytest.mark.parametrize(
    "y", [np.array([1, "a"] * 300, object), np.array([None, "a"] * 300, object), np.full(600, b"a")]
)
def test_labels_of_no_or_two_kinds_are_an_error(y):
    with pytest.raises((ValueError, TypeError)):
        fit(X, y)
