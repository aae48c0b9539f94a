"""LinearClassifier at home in scikit-learn, and fits that fail: nothing is left half done."""

import pickle
from concurrent.futures import ThreadPoolExecutor

import joblib
import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest
import sklearn
from sklearn.base import clone
from sklearn.exceptions import NotFittedError
from sklearn.model_selection import GridSearchCV
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import FunctionTransformer
from sklearn.utils.estimator_checks import estimator_checks_generator
from tests.linear.classifiers import X, Y, each_family, fit
from tests.linear.tables import mixed_table, target, weights
from tests.same import assert_same_bits

import softbin.linear.fit
from softbin import LinearClassifier, SoftBins
from softbin.errors import DataError, SoftbinError

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
