"""LinearRegressor: scikit-learn's optimum for every family, and targets that a family cannot have."""

import pickle
import warnings

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest
import sklearn
from sklearn.base import clone
from sklearn.exceptions import ConvergenceWarning, NotFittedError
from sklearn.linear_model import GammaRegressor, PoissonRegressor, Ridge
from sklearn.metrics import d2_tweedie_score, r2_score
from sklearn.model_selection import GridSearchCV
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import FunctionTransformer
from sklearn.utils.estimator_checks import estimator_checks_generator
from tests.columns import each_dtype
from tests.linear.tables import encoder, mixed_table, penalised, penalised_loss, target, weights
from tests.same import assert_same_bits

import softbin.linear.curvature
import softbin.linear.fit
from softbin import HardBins, LinearRegressor, SoftBins
from softbin.errors import DataError, DataTypeError, OptionError, SoftbinError
from softbin.linear.families import REGRESSION

X = mixed_table(600)
Y = {family: target(X, family) for family in REGRESSION}
each_kind = pytest.mark.parametrize("kind", ["soft", "hard"])
each_family = pytest.mark.parametrize("family", REGRESSION)


def fit(X, y, family="gaussian", bins="soft:6", sample_weight=None, **options):
    return LinearRegressor(bins, family=family, **options).fit(X, y, sample_weight)


def best(encoded, y, family, ridge, sample_weight=None, fit_intercept=True):
    """scikit-learn's optimum."""
    if family == "gaussian":
        return Ridge(ridge, fit_intercept=fit_intercept, solver="cholesky").fit(encoded.toarray(), y, sample_weight)
    total = len(y) if sample_weight is None else np.sum(sample_weight)
    kind = {"poisson": PoissonRegressor, "gamma": GammaRegressor}[family]
    model = kind(alpha=ridge / total, tol=1e-10, max_iter=60, solver="newton-cholesky", fit_intercept=fit_intercept)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # its line search cannot improve the last digit
        return model.fit(encoded.toarray(), y, sample_weight)


def assert_same_optimum(model, X, y, sample_weight=None, objective=1e-8, coefficients=1e-4):
    encoded = model.encoder_.transform(np.asarray(X, np.float64))
    expected = best(encoded, y, model.family, model.ridge, sample_weight, model.fit_intercept)
    wanted = penalised(encoded, expected.coef_, expected.intercept_, y, model.family, model.ridge, sample_weight)
    assert model.converged_
    got = penalised_loss(model, X, y, model.family, sample_weight)
    assert got <= wanted + abs(wanted) * objective
    size = 1 + np.abs(expected.coef_).max()
    np.testing.assert_allclose(model.coef_, expected.coef_, rtol=0, atol=coefficients * size)
    np.testing.assert_allclose(model.intercept_, expected.intercept_, rtol=coefficients, atol=coefficients * size)


@each_kind
@each_family
@each_dtype
@pytest.mark.parametrize("weighted", [False, True])
@pytest.mark.parametrize("ridge", [1e-3, 1.0, 100.0])
def test_the_optimum_is_scikit_learns(kind, family, dtype, weighted, ridge):
    table, weight = X.astype(dtype), weights(600) if weighted else None
    model = fit(table, Y[family], family, encoder(kind), weight, ridge=ridge)
    assert_same_optimum(model, table, Y[family], weight)


@each_kind
@each_family
def test_the_optimum_without_an_intercept(kind, family):
    model = fit(X, Y[family], family, encoder(kind), fit_intercept=False)
    assert model.intercept_ == 0
    assert_same_optimum(model, X, Y[family])


@each_kind
@each_family
def test_the_optimum_where_missing_has_no_level(kind, family):
    assert_same_optimum(fit(X, Y[family], family, encoder(kind, missing="zero")), X, Y[family])


@each_family
def test_another_optimum_is_noticed(family):
    model = fit(X, Y[family], family)
    assert_same_optimum(model, X, Y[family])
    model.coef_ = model.coef_ + np.where(np.arange(len(model.coef_)) == 3, 1e-2, 0)
    with pytest.raises(AssertionError):
        assert_same_optimum(model, X, Y[family])


@each_kind
@each_family
def test_many_levels_reach_the_same_optimum(kind, family, monkeypatch):
    monkeypatch.setattr(softbin.linear.fit, "DENSE_LEVELS", 0)
    monkeypatch.setattr(softbin.linear.curvature, "GROUPED_LEVELS", 20)
    assert_same_optimum(fit(X, Y[family], family, encoder(kind), tol=1e-8), X, Y[family])


@each_family
@pytest.mark.parametrize("weighted", [False, True])
def test_a_start_on_a_sample_reaches_the_same_optimum(family, weighted, monkeypatch):
    monkeypatch.setattr(softbin.linear.fit, "SAMPLE_ROWS", 1500)
    table = mixed_table(6000)
    y, weight = target(table, family), weights(6000) if weighted else None
    assert_same_optimum(fit(table, y, family, "soft:3", weight), table, y, weight)


@each_family
def test_the_number_of_threads_leaves_no_trace(family):
    table = mixed_table(40_000, np.float32)
    y = target(table, family)
    models = [fit(table, y, family, n_jobs=n_jobs) for n_jobs in (1, 2, 3)]
    for model in models[1:]:
        assert_same_bits(model.coef_, models[0].coef_)
        assert model.intercept_ == models[0].intercept_
        assert_same_bits(model.predict(table), models[0].predict(table))


# Targets


@each_dtype
@pytest.mark.parametrize("scale", [1e-30, 1e-6, 1e6, 1e30])
@pytest.mark.parametrize("shift", [0.0, 1e4])
def test_the_scale_of_a_gaussian_target_is_that_of_the_model(dtype, scale, shift):
    table, bins = X.astype(dtype), SoftBins(6).fit(X.astype(dtype))
    plain = fit(table, Y["gaussian"], "gaussian", bins)
    scaled = fit(table, (Y["gaussian"] + shift) * scale, "gaussian", bins)
    assert scaled.converged_
    np.testing.assert_allclose(scaled.coef_ / scale, plain.coef_, atol=1e-3)
    np.testing.assert_allclose(scaled.intercept_ / scale, plain.intercept_ + shift, rtol=1e-5, atol=1e-4)


@each_dtype
def test_a_target_far_from_zero_keeps_its_digits(dtype):
    table, far = X.astype(dtype), Y["gaussian"] + 1e8
    model = fit(table, far)
    np.testing.assert_allclose(model.coef_, fit(table, Y["gaussian"]).coef_, atol=1e-3)


@each_dtype
def test_predictions_far_from_zero_keep_the_digits_of_their_dtype(dtype):
    table = X.astype(dtype)
    model = fit(table, Y["gaussian"] + 1e4)
    np.testing.assert_allclose(
        model.predict(table), fit(X, Y["gaussian"]).predict(X) + 1e4, rtol=4 * np.finfo(dtype).eps, atol=1e-3
    )


@pytest.mark.parametrize("family", ["poisson", "gamma"])
@pytest.mark.parametrize("scale", [1e-6, 1e6])
@each_dtype
def test_the_scale_of_a_positive_target_goes_into_the_intercept(family, scale, dtype):
    table, bins = X.astype(dtype), SoftBins(6).fit(X)
    ridge = scale if family == "poisson" else 1.0
    plain, scaled = fit(table, Y[family], family, bins), fit(table, Y[family] * scale, family, bins, ridge=ridge)
    assert scaled.converged_
    np.testing.assert_allclose(scaled.coef_, plain.coef_, atol=2e-3)
    np.testing.assert_allclose(scaled.intercept_, plain.intercept_ + np.log(scale), atol=2e-3)


@each_family
@each_dtype
@pytest.mark.parametrize("value", [1.0, 0.1, 1e-20, 1e20])
def test_a_constant_target_is_the_intercept(family, dtype, value):
    model = fit(X.astype(dtype), np.full(600, value), family)
    assert model.converged_
    np.testing.assert_allclose(model.coef_, 0, atol=1e-6 * max(1.0, value if family == "gaussian" else 0))
    np.testing.assert_allclose(model.predict(X.astype(dtype)), value, rtol=2e-5)


def test_a_constant_target_of_zero():
    model = fit(X, np.zeros(600))
    assert model.converged_
    assert not model.predict(X).any()


@pytest.mark.parametrize(
    ("family", "y", "words"),
    [
        ("poisson", np.where(np.arange(600) < 3, -1.0, 1.0), "3 values are negative"),
        ("poisson", np.zeros(600), "all values are zero"),
        ("gamma", np.where(np.arange(600) < 3, 0.0, 1.0), "3 values are not positive"),
    ],
)
def test_targets_that_a_family_cannot_have_are_refused(family, y, words):
    with pytest.raises(DataError, match=rf"^y: {words}"):
        fit(X, y, family)


def test_targets_of_weight_zero_are_absent():
    weight = np.where(np.arange(600) < 3, 0.0, 1.0)
    broken = np.where(np.arange(600) < 3, -1.0, Y["gamma"])
    assert_same_bits(fit(X, broken, "gamma", sample_weight=weight).coef_, fit(X[3:], Y["gamma"][3:], "gamma").coef_)


def test_a_poisson_target_that_only_weightless_rows_have_is_refused():
    weight = np.where(np.arange(600) < 3, 0.0, 1.0)
    with pytest.raises(DataError, match="all values are zero"):
        fit(X, np.where(np.arange(600) < 3, 2.0, 0.0), "poisson", sample_weight=weight)


@pytest.mark.parametrize(
    "y",
    [
        Y["gaussian"][:-1],
        np.append(Y["gaussian"], 1),
        np.where(np.arange(600) == 5, np.nan, 1.0),
        np.where(np.arange(600) == 5, np.inf, 1.0),
        np.stack([Y["gaussian"]] * 2, axis=1),
        np.full(600, "a"),
        np.full(600, None),
        Y["gaussian"] + 1j,
        None,
        3.0,
    ],
    ids=["short", "long", "NaN", "infinite", "2-D", "words", "Nones", "complex", "None", "a number"],
)
def test_targets_that_are_no_numbers_are_refused(y):
    with pytest.raises(ValueError, match=r"."):
        fit(X, y)


@pytest.mark.parametrize(
    "of",
    [list, pd.Series, pl.Series, pa.array, lambda y: y.astype(np.float32), lambda y: np.repeat(y, 2)[::2]],
    ids=["list", "pandas", "polars", "arrow", "float32", "strided"],
)
def test_targets_in_any_container(of):
    expected = fit(X, Y["gaussian"].astype(np.float32))
    np.testing.assert_allclose(fit(X, of(Y["gaussian"])).coef_, expected.coef_, atol=1e-6)


def test_whole_numbers_and_bools_are_numbers():
    y = Y["poisson"]
    assert_same_bits(fit(X, y.astype(int), "poisson").coef_, fit(X, y, "poisson").coef_)
    assert_same_bits(fit(X, y > 0).coef_, fit(X, (y > 0).astype(float)).coef_)


def test_a_column_vector_warns_as_scikit_learn_does():
    with pytest.warns(sklearn.exceptions.DataConversionWarning):
        model = fit(X, Y["gaussian"][:, None])
    assert_same_bits(model.coef_, fit(X, Y["gaussian"]).coef_)


def test_words_are_a_type_error():
    with pytest.raises(DataTypeError, match=r"^y: not numbers"):
        fit(X, np.full(600, "a"))


@pytest.mark.parametrize("family", ["tweedie", "", None, 3])
def test_other_families_are_refused_with_a_list(family):
    with pytest.raises(OptionError, match=r"^family: .*'gaussian', 'poisson', 'gamma'"):
        fit(X, Y["gaussian"], family)


# Weights


@each_family
def test_weight_zero_is_a_row_absent(family):
    weight = np.where(np.arange(600) % 3 == 0, 0.0, 1.0)
    kept = weight > 0
    expected = fit(X[kept], Y[family][kept], family)
    np.testing.assert_allclose(fit(X, Y[family], family, sample_weight=weight).coef_, expected.coef_, atol=1e-9)


@each_family
@pytest.mark.parametrize("scale", [1e-12, 1e12])
def test_the_scale_of_weights_is_that_of_ridge(family, scale):
    plain = fit(X, Y[family], family)
    scaled = fit(X, Y[family], family, sample_weight=np.full(600, scale), ridge=scale)
    assert scaled.converged_
    np.testing.assert_allclose(scaled.coef_, plain.coef_, atol=2e-4)


def test_weights_that_are_all_zero_are_refused():
    with pytest.raises(DataError, match="all weights are zero"):
        fit(X, Y["gaussian"], sample_weight=np.zeros(600))


# The fit


@each_family
def test_one_iteration_warns_once_and_keeps_a_finite_point(family, monkeypatch):
    monkeypatch.setattr(softbin.linear.fit, "DENSE_LEVELS", 0)
    with pytest.warns(ConvergenceWarning, match="Raise max_iter") as caught:
        model = fit(X, Y[family], family, encoder("soft"), max_iter=1, tol=1e-12)
    assert len(caught) == 1
    assert not model.converged_
    assert np.all(np.isfinite(model.coef_))


@each_family
@each_dtype
def test_the_objective_never_rises(family, dtype):
    values = np.array([done.objective for done in fit(X.astype(dtype), Y[family], family, ridge=1e-3).history_])
    noise = 1e-13 if dtype == np.float64 else 1e-7
    assert np.all(np.diff(values) <= noise * np.abs(values[:-1]))


@each_family
def test_a_warm_start_takes_fewer_passes(family):
    model = fit(X, Y[family], family, warm_start=True)
    first, coef = len(model.history_), model.coef_
    assert len(model.fit(X, Y[family]).history_) < first
    np.testing.assert_allclose(model.coef_, coef, atol=1e-6)


def test_a_warm_start_in_another_family_is_right_too():
    model = fit(X, Y["gaussian"] * 50, warm_start=True)
    model.set_params(family="poisson").fit(X, Y["poisson"])
    assert_same_optimum(model, X, Y["poisson"])


def test_the_progress_line_is_one_line(capsys):
    fit(X, Y["gamma"], "gamma", verbose=1)
    shown = capsys.readouterr().err
    assert shown.count("\n") == 1
    assert shown.split("\r")[-1].startswith("LinearRegressor: pass ")


@each_family
def test_a_target_that_bins_explain_without_error_is_found(family):
    """The gradient vanishes faster than the scale of the objective."""
    level = np.arange(400) % 4
    y = np.array([0.5, 1.0, 2.0, 4.0])[level]
    model = fit(level[:, None].astype(float), y, family, "hard:4", ridge=1e-9)
    np.testing.assert_allclose(model.predict(level[:, None].astype(float)), y, rtol=1e-4)


def test_a_level_without_counts_stays_finite_under_poisson():
    level = np.arange(400) % 4
    y = np.where(level == 0, 0.0, 2.0)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", ConvergenceWarning)
        model = fit(level[:, None].astype(float), y, "poisson", "hard:4", ridge=0)
    assert np.all(np.isfinite(model.coef_))
    assert np.all(np.isfinite(model.predict(level[:, None].astype(float))))
    np.testing.assert_allclose(model.predict([[1.0]]), 2.0, rtol=1e-3)


# Predictions


@each_kind
@each_family
@each_dtype
def test_predictions_are_the_mean_of_the_score(kind, family, dtype):
    table = X.astype(dtype)
    model = fit(table, Y[family], family, encoder(kind))
    score = model.encoder_.transform(table.astype(np.float64)) @ model.coef_ + model.intercept_
    expected = score if family == "gaussian" else np.exp(score)
    got = model.predict(table)
    assert got.dtype == dtype
    np.testing.assert_allclose(got, expected, rtol=2e-5 if dtype == np.float32 else 1e-10, atol=1e-5)


@each_family
@pytest.mark.parametrize("weighted", [False, True])
def test_the_score_is_the_share_of_deviance_explained(family, weighted):
    model, weight = fit(X, Y[family], family), weights(600) if weighted else None
    power = {"gaussian": 0, "poisson": 1, "gamma": 2}[family]
    expected = d2_tweedie_score(Y[family], model.predict(X), sample_weight=weight, power=power)
    np.testing.assert_allclose(model.score(X, Y[family], weight), expected, rtol=1e-9)
    if family == "gaussian":
        np.testing.assert_allclose(
            model.score(X, Y[family], weight), r2_score(Y[family], model.predict(X), sample_weight=weight)
        )


@each_family
def test_scoring_refuses_what_fitting_refuses(family):
    model = fit(X, Y[family], family)
    for y in (Y[family][:-1], np.full(600, np.nan), np.full(600, "a")):
        with pytest.raises(DataError, match=r"^y: "):
            model.score(X, y)
    for weight in (np.ones(3), np.full(600, np.nan), np.full(600, -1.0), np.zeros(600)):
        with pytest.raises(DataError, match=r"^sample_weight: "):
            model.score(X, Y[family], weight)


def test_a_family_changed_after_the_fit_changes_nothing_until_the_next():
    model = fit(X, Y["poisson"], "poisson")
    expected = model.predict(X)
    model.set_params(family="gaussian")
    np.testing.assert_array_equal(model.predict(X), expected)


@each_kind
@each_family
def test_explanations_add_up_to_the_score(kind, family):
    model = fit(X, Y[family], family, encoder(kind))
    score = model.explain(X).sum(axis=1) + model.intercept_
    expected = model.predict(X) if family == "gaussian" else np.log(model.predict(X))
    np.testing.assert_allclose(score, expected, atol=1e-9)


@each_kind
def test_a_curve_is_what_the_prediction_does_when_one_column_moves(kind):
    model = fit(X, Y["gaussian"], "gaussian", encoder(kind))
    for position in range(5):
        curve = model.curve(position)
        values = curve.knots if kind == "soft" else (curve.knots[:-1] + curve.knots[1:]) / 2
        rows = np.repeat(np.nan_to_num(X[:1]), len(values), axis=0)
        rows[:, position] = values
        moved = model.predict(rows)
        np.testing.assert_allclose(moved - moved[0], curve.values - curve.values[0], atol=1e-9)


def test_a_known_curve_is_recovered():
    table = np.random.default_rng(0).uniform(-1, 1, (20_000, 2))
    model = fit(table, np.abs(table[:, 0]) + 3, bins=SoftBins(edges=[[-1, -0.5, 0, 0.5, 1], [-1, 1]]), ridge=1e-6)
    np.testing.assert_allclose(model.curve(0).values, np.abs(model.curve(0).knots) - 0.5, atol=1e-2)
    np.testing.assert_allclose(np.diff(model.curve(0).values), [-0.5, -0.5, 0.5, 0.5], atol=1e-3)
    np.testing.assert_allclose(model.curve(1).values, 0, atol=1e-3)


def test_missing_values_that_training_had_not_are_a_named_error():
    model = fit(np.nan_to_num(X), Y["gaussian"])
    with pytest.raises(DataError, match=r"^column 'x1': .* missing values"):
        model.predict(X)


def test_end_slopes_go_on_beyond_the_knots():
    table = np.linspace(0, 1, 200)[:, None]
    model = fit(table, 2 * table[:, 0], bins=SoftBins(4, outside="linear"), ridge=1e-9)
    np.testing.assert_allclose(model.predict([[-1.0], [3.0]]), [-2, 6], atol=1e-3)
    with pytest.raises(DataError, match="infinite"):
        model.predict([[np.inf]])


# At home in scikit-learn


def checks():
    for options in ({}, {"family": "poisson"}, {"family": "gamma"}, {"bins": "hard:10"}):
        for estimator, check in estimator_checks_generator(LinearRegressor(**options)):
            name = getattr(check, "func", check).__name__
            words = "-".join(options.values()) or "default"
            yield pytest.param(estimator, check, id=f"{words}-{name}")


@pytest.mark.parametrize(("estimator", "check"), list(checks()))
@pytest.mark.filterwarnings("default")
def test_check_estimator(estimator, check):
    check(estimator)


@each_family
def test_pickles_and_clones(family):
    model = fit(X, Y[family], family, ridge=0.5)
    copy = pickle.loads(pickle.dumps(model))
    assert_same_bits(copy.predict(X), model.predict(X))
    assert clone(model).get_params() == model.get_params()
    with pytest.raises(NotFittedError):
        clone(model).predict(X)


def test_a_search_over_bins_and_ridge():
    grid = {"bins": ["soft:1", "soft:8"], "ridge": [0.1, 1e6]}
    search = GridSearchCV(LinearRegressor(), grid, cv=3).fit(X, Y["gaussian"])
    assert search.best_params_ == {"bins": "soft:8", "ridge": 0.1}


def test_weights_are_routed_through_a_pipeline():
    weight = weights(600)
    with sklearn.config_context(enable_metadata_routing=True):
        last = LinearRegressor("soft:6").set_fit_request(sample_weight=True)
        model = make_pipeline(FunctionTransformer(), last).fit(X, Y["gaussian"], sample_weight=weight)
    assert_same_bits(model[-1].coef_, fit(X, Y["gaussian"], sample_weight=weight).coef_)


@each_family
def test_a_failed_refit_leaves_the_old_model(family):
    model = fit(X, Y[family], family)
    expected = model.predict(X)
    with pytest.raises(SoftbinError):
        model.fit(X[:, :2], np.full(600, np.nan))
    assert_same_bits(model.predict(X), expected)


def test_a_wide_table_with_more_levels_than_rows():
    wide = np.random.default_rng(0).normal(size=(40, 60))
    model = fit(wide, wide[:, 0], bins="soft:3")
    assert_same_optimum(model, wide, wide[:, 0])


@pytest.mark.parametrize("bins", [SoftBins(200), HardBins(200)])
def test_two_hundred_bins(bins):
    table = np.random.default_rng(0).uniform(0, 6, (3000, 2)).astype(np.float32)
    y = np.sin(table[:, 0]).astype(float)
    assert_same_optimum(fit(table, y, bins=bins), table, y)


# Numbers at the ends of what floats can say


def outcome(family, table, y, **options):
    """The fitted model, or None for a clear error; warnings other than of convergence are errors."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", ConvergenceWarning)
        try:
            return fit(table, y, family, **options)
        except SoftbinError:
            return None


@each_family
@each_dtype
@pytest.mark.parametrize("scale", [1e-200, 1e-40, 1e38, 1e39, 1e200])
def test_targets_of_any_size_give_a_right_model_or_a_clear_error(family, dtype, scale):
    table, y = X.astype(dtype), Y[family] * scale
    model = outcome(family, table, y)
    if model is None:
        return
    assert np.all(np.isfinite(model.coef_))
    assert np.isfinite(model.intercept_)
    if family == "gaussian":
        np.testing.assert_allclose(model.coef_ / scale, fit(table, Y[family]).coef_, atol=1e-3)
    if scale < float(np.finfo(dtype).max) / 100:
        assert np.all(np.isfinite(model.predict(table)))


@each_family
@each_dtype
@pytest.mark.parametrize("scale", [1e-200, 1e-50, 1e39, 1e200])
def test_weights_of_any_size_give_a_right_model_or_a_clear_error(family, dtype, scale):
    table = X.astype(dtype)
    model = outcome(family, table, Y[family], sample_weight=np.full(600, scale), ridge=min(scale, 1e300))
    if model is not None:
        np.testing.assert_allclose(model.coef_, fit(table, Y[family], family).coef_, atol=1e-3)


@pytest.mark.parametrize("family", ["poisson", "gamma"])
@each_dtype
def test_one_target_far_beyond_the_others_raises_no_warning_from_inside(family, dtype):
    y = Y[family].copy()
    y[0] = 1e6
    table, bins = X.astype(dtype), SoftBins(6).fit(X)
    model = fit(table, y, family, bins)
    assert_same_optimum(model, table, y, objective=1e-6, coefficients=1e-2)


@each_dtype
def test_large_counts_converge(dtype):
    """The gradient is as large as the counts; so must be what counts as none."""
    table = X.astype(dtype)
    model = fit(table, np.round(1e6 * np.exp(0.5 * Y["gaussian"])), "poisson")
    assert model.converged_
    assert model.n_iter_ < 30


def test_arrow_targets_with_nulls_are_missing_targets():
    with pytest.raises(DataError, match=r"^y: 1 values are NaN"):
        fit(X, pa.array([None, *Y["gaussian"][1:]]))


@pytest.mark.parametrize("kind", ["m8[s]", "M8[s]"])
def test_times_are_no_targets(kind):
    with pytest.raises(DataTypeError, match=r"^y: "):
        fit(X, np.arange(600).astype(kind))


def test_words_that_look_like_numbers_are_no_targets():
    with pytest.raises(DataTypeError, match=r"^y: not numbers"):
        fit(X, np.arange(600).astype(str))


@pytest.mark.parametrize("scale", [1e-200, 1e-160, 1.0, 1e200, 1e300])
def test_the_score_does_not_depend_on_the_scale_of_a_gaussian_target(scale):
    x = np.linspace(0, 6, 600)[:, None]
    y = np.sin(x[:, 0])
    expected = LinearRegressor("soft:8").fit(x, y).score(x, y)
    assert 0.9 < expected < 1
    np.testing.assert_allclose(LinearRegressor("soft:8").fit(x, scale * y).score(x, scale * y), expected, rtol=1e-9)
