"""LinearClassifier: scikit-learn's optimum on the encoder's output, and honest about targets, weights and limits."""

import warnings

import numpy as np
import pytest
from sklearn.exceptions import ConvergenceWarning
from tests.columns import each_dtype
from tests.linear.classifiers import X, Y, assert_same_optimum, best, each_family, each_kind, fit
from tests.linear.tables import encoder, mixed_table, target, weights
from tests.same import assert_same_bits

import softbin.linear.fit
from softbin import SoftBins


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
