"""At home in scikit-learn: its own checks, pipelines, search, routing, containers, pickles, processes, threads."""

import pickle
from concurrent.futures import ProcessPoolExecutor, ThreadPoolExecutor
from multiprocessing import get_context

import joblib
import numpy as np
import pandas as pd
import polars as pl
import pytest
import sklearn
from sklearn.base import clone
from sklearn.compose import ColumnTransformer
from sklearn.linear_model import LogisticRegression, Ridge
from sklearn.model_selection import GridSearchCV
from sklearn.pipeline import FeatureUnion, make_pipeline
from sklearn.utils.estimator_checks import estimator_checks_generator
from tests.columns import OUTPUTS, each_encoder, make
from tests.same import assert_same_matrix

from softbin import HardBins, SoftBins

RNG = np.random.default_rng(8)
X = RNG.normal(size=(400, 4))
Y = np.sin(2 * X[:, 0]) + 0.1 * RNG.normal(size=400)
FRAME = pd.DataFrame(X, columns=list("abcd"))
each_output = pytest.mark.parametrize(("encoder", "output"), OUTPUTS)
DENSE = [(encoder, output) for encoder, output in OUTPUTS if output != "sparse"]


def checks():
    for encoder, output in OUTPUTS:
        for estimator, check in estimator_checks_generator(make(encoder, "quantile", output=output)):
            name = getattr(check, "func", check).__name__
            yield pytest.param(estimator, check, id=f"{encoder}-{output}-{name}")


@pytest.mark.parametrize(("estimator", "check"), list(checks()))
@pytest.mark.filterwarnings("default")
def test_check_estimator(estimator, check):
    check(estimator)


@each_output
def test_clone_and_parameters(encoder, output):
    made = make(encoder, "kmeans", 7, output=output, special={"a": [1]})
    copy = clone(made.fit(FRAME))
    assert copy.get_params() == made.get_params()
    assert not hasattr(copy, "fit_report_")
    assert copy.set_params(n_bins=3).n_bins == 3
    assert "n_bins=7" in repr(made)


@each_output
def test_pickle_and_joblib_round_trip(encoder, output, tmp_path):
    fitted = make(encoder, "quantile", output=output).fit(FRAME)
    expected = fitted.transform(FRAME)
    joblib.dump(fitted, tmp_path / "encoder")
    for copy in (pickle.loads(pickle.dumps(fitted)), joblib.load(tmp_path / "encoder")):
        assert_same_matrix(copy.transform(FRAME), expected)
        assert copy.grid_ == fitted.grid_
        assert copy.fit_report_ == fitted.fit_report_


@pytest.mark.parametrize("container", ["pandas", "polars"])
@pytest.mark.parametrize(("encoder", "output"), DENSE)
def test_set_output(encoder, output, container):
    fitted = make(encoder, "quantile", output=output).set_output(transform=container).fit(FRAME)
    frame = fitted.transform(FRAME)
    assert isinstance(frame, pd.DataFrame if container == "pandas" else pl.DataFrame)
    assert list(frame.columns) == fitted.get_feature_names_out().tolist()
    plain = make(encoder, "quantile", output=output).fit(FRAME).transform(FRAME)
    np.testing.assert_array_equal(frame.to_numpy(), plain)
    assert frame.to_numpy().dtype == plain.dtype


@each_encoder
def test_sparse_output_in_a_frame_is_an_error_that_says_what_to_do(encoder):
    fitted = make(encoder, "quantile").set_output(transform="pandas").fit(FRAME)
    with pytest.raises(ValueError, match=r"does not support sparse data.*output='dense'"):
        fitted.transform(FRAME)
    with sklearn.config_context(transform_output="polars"), pytest.raises(ValueError, match="sparse"):
        make(encoder, "quantile").fit_transform(FRAME)


@each_output
def test_weights_are_routed_through_a_pipeline(encoder, output):
    weight = np.where(X[:, 0] > 0, 50.0, 1.0)
    with sklearn.config_context(enable_metadata_routing=True):
        first = make(encoder, "quantile", output=output).set_fit_request(sample_weight=True)
        last = Ridge().set_fit_request(sample_weight=True)
        model = make_pipeline(first, last).fit(X, Y, sample_weight=weight)
    alone = make(encoder, "quantile", output=output).fit(X, sample_weight=weight)
    assert model[0].grid_ == alone.grid_
    assert model[0].grid_ != make(encoder, "quantile").fit(X).grid_


@each_output
def test_fit_transform_takes_weights(encoder, output):
    weight = np.where(X[:, 0] > 0, 50.0, 1.0)
    together = make(encoder, "quantile", output=output).fit_transform(X, sample_weight=weight)
    apart = make(encoder, "quantile", output=output).fit(X, sample_weight=weight).transform(X)
    assert_same_matrix(together, apart)


@each_encoder
def test_a_search_over_n_bins_finds_a_good_one(encoder):
    search = GridSearchCV(make_pipeline(make(encoder, "quantile"), Ridge(0.1)), {f"{encoder}bins__n_bins": [1, 12]})
    search.fit(X, Y)
    assert search.best_params_ == {f"{encoder}bins__n_bins": 12}
    assert search.best_score_ > 0.7


@each_output
def test_column_transformers_and_unions_take_it(encoder, output):
    both = FeatureUnion([("wide", make(encoder, "quantile", 3, output=output)), ("raw", "passthrough")])
    some = ColumnTransformer([("bins", make(encoder, "quantile", 3, output=output), ["a", "c"])])
    n_own = 2 if output == "ordinal" else 2 * (3 + (encoder == "soft"))
    assert some.fit_transform(FRAME).shape == (400, n_own)
    assert some.get_feature_names_out()[0].startswith("bins__a")
    assert both.fit_transform(FRAME).shape == (400, 2 * n_own + 4)


@each_encoder
def test_one_encoder_serves_eight_threads(encoder):
    fitted = make(encoder, "quantile", n_jobs=2).fit(X)
    parts = [X[start::8] for start in range(8)] * 8
    expected = [fitted.transform(part) for part in parts]
    fresh = pickle.loads(pickle.dumps(fitted))  # its compiled plan is not made yet
    with ThreadPoolExecutor(8) as pool:
        got = list(pool.map(fresh.transform, parts))
    for pair in zip(got, expected, strict=True):
        assert_same_matrix(*pair)


def encode(encoder, part):
    return encoder.transform(part)


def fit_and_encode(encoder, part):
    return encoder.fit(part).transform(part)


@pytest.mark.parametrize("method", ["fork", "spawn"])
@pytest.mark.filterwarnings("ignore:.*multi-threaded.*fork:DeprecationWarning")
def test_a_process_pool_encodes_and_fits(method):
    encoders = [HardBins(n_jobs=2).fit(X), SoftBins(n_jobs=2).fit(X)]
    with ProcessPoolExecutor(2, mp_context=get_context(method)) as pool:
        for work in (encode, fit_and_encode):
            got = [pool.submit(work, encoder, X[:99]).result(timeout=60) for encoder in encoders]
            for encoder, matrix in zip(encoders, got, strict=True):
                assert_same_matrix(matrix, work(clone(encoder).fit(X), X[:99]))


def test_joblib_workers_fit_and_encode():
    encoders = [HardBins(5), SoftBins(5)]
    got = joblib.Parallel(n_jobs=2)(joblib.delayed(fit_and_encode)(encoder, X) for encoder in encoders)
    for encoder, matrix in zip(encoders, got, strict=True):
        assert_same_matrix(matrix, fit_and_encode(clone(encoder), X))


def test_soft_bins_let_a_linear_model_fit_a_curve():
    y = np.abs(X[:, 0]) > 0.7
    straight = LogisticRegression().fit(X, y).score(X, y)
    curved = make_pipeline(SoftBins(10), LogisticRegression()).fit(X, y).score(X, y)
    assert curved > 0.95 > straight
