"""Defects reproduced in other libraries (shared/DEMANDS.md), each with proof that ours has none of it.

Where the peer is installed with the tests (scikit-learn), it is shown to be wrong today as well: when one of those
lines fails, the peer has been mended and its line can go.
"""

import warnings

import numpy as np
import pytest
from sklearn.linear_model import LogisticRegression
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import KBinsDiscretizer, SplineTransformer
from tests.columns import each_encoder, make

from softbin import HardBins, SoftBins

RNG = np.random.default_rng(3)
NORMAL = RNG.normal(size=2000)
EXACT = {"subsample": None, "quantile_method": "averaged_inverted_cdf"}
TIED = {
    "top-coded": np.minimum(NORMAL, np.quantile(NORMAL, 0.7)),
    "50/50": (NORMAL > 0).astype(float),
    "integers 0 to 5": RNG.integers(0, 6, 2000).astype(float),
    "constant": np.ones(2000),
}
ONE_BIN = {
    "0/1": (RNG.random(1000) < 0.05).astype(float),
    "90 % zero": np.where(RNG.random(1000) < 0.9, 0.0, RNG.exponential(size=1000)),
}


@pytest.mark.parametrize("name", TIED)
def test_scikit_learn_quantile_spline_gives_all_zero_rows_and_ours_gives_none(name):
    X = TIED[name][:, None]
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        theirs = SplineTransformer(n_knots=11, degree=1, knots="quantile").fit_transform(X)
    assert np.mean(np.abs(np.nan_to_num(theirs)).sum(axis=1) == 0) > 0.1
    np.testing.assert_allclose(SoftBins(10, output="dense").fit_transform(X).sum(axis=1), 1, atol=1e-12)


@pytest.mark.parametrize("name", ONE_BIN)
def test_scikit_learn_quantile_binning_merges_a_tied_column_into_one_bin_and_ours_keeps_it(name):
    X = ONE_BIN[name][:, None]
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        theirs = KBinsDiscretizer(5, encode="ordinal", strategy="quantile", **EXACT).fit_transform(X)
    assert len(np.unique(theirs)) == 1
    codes = HardBins(5, output="ordinal").fit_transform(X)[:, 0]
    zero = X[:, 0] == 0
    assert len(np.unique(codes)) == min(5, len(np.unique(X)))
    assert not set(codes[zero]) & set(codes[~zero])


@pytest.mark.parametrize("name", ONE_BIN)
def test_a_tied_column_keeps_its_information_in_soft_bins(name):
    X = ONE_BIN[name][:, None]
    soft = SoftBins(5, output="dense").fit(X)
    assert np.unique(soft.transform(X), axis=0).shape[0] == len(np.unique(X))


def test_scikit_learn_differs_between_two_fits_above_200000_rows_and_ours_does_not():
    X = np.random.default_rng(0).normal(size=(200_001, 1))

    def theirs(seed):
        discretizer = KBinsDiscretizer(10, strategy="quantile", quantile_method="linear", random_state=seed)
        return discretizer.fit(X).bin_edges_[0]

    assert not np.array_equal(theirs(0), theirs(1))
    assert HardBins(10).fit(X).grid_ == HardBins(10).fit(X).grid_
    assert HardBins(10).fit(X).bin_edges_[0].tolist() == HardBins(10).fit(X[::-1]).bin_edges_[0].tolist()


def test_scikit_learn_loses_all_bins_at_scale_1e_minus_9_and_ours_keeps_them():
    X = NORMAL[:, None] * 1e-9
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        theirs = KBinsDiscretizer(10, encode="ordinal", strategy="quantile", **EXACT).fit(X)
    assert theirs.n_bins_[0] == 0
    ours, large = HardBins(10, output="ordinal"), HardBins(10, output="ordinal")
    np.testing.assert_array_equal(ours.fit_transform(X), large.fit_transform(NORMAL[:, None]))
    assert ours.n_bins_.tolist() == [10]


def test_scikit_learn_sparse_spline_turns_float32_into_float64_and_ours_keeps_it():
    X = NORMAL[:, None].astype(np.float32)
    assert SplineTransformer(degree=1, sparse_output=True).fit_transform(X).dtype == np.float64
    ours = SoftBins(10).fit_transform(X)
    assert ours.dtype == np.float32
    assert ours.indices.dtype == np.int32


@each_encoder
@pytest.mark.parametrize("strategy", ["quantile", "uniform", "kmeans"])
def test_optbinning_drops_a_perfectly_separating_column_and_ours_keeps_it(encoder, strategy):
    rng = np.random.default_rng(4)
    y = rng.permutation(600) < 180
    X = np.where(y, rng.uniform(5, 6, 600), rng.uniform(-6, -5, 600))[:, None]
    model = make_pipeline(make(encoder, strategy), LogisticRegression(C=100)).fit(X, y)
    assert model.score(X, y) == 1


@each_encoder
@pytest.mark.parametrize("strategy", ["quantile", "kmeans"])
def test_ebm_edges_ignore_sample_weights_and_ours_do_not(encoder, strategy):
    X = np.linspace(0, 1, 1001)[:, None]
    weight = np.where(X[:, 0] < 0.1, 100, 1)
    plain = make(encoder, strategy, 5).fit(X).bin_edges_[0]
    weighted = make(encoder, strategy, 5).fit(X, sample_weight=weight).bin_edges_[0]
    assert np.median(weighted) < np.median(plain) * (0.5 if strategy == "quantile" else 0.97)


def test_pytorch_quantile_fails_above_2_to_24_rows_and_ours_is_exact():
    n = 2**24 + 1
    column = np.arange(n, dtype=np.float64)
    column[::2] *= -1
    grid = HardBins(4).fit(column[:, None]).grid_
    ordered = np.sort(column)
    assert grid[0].edges == (
        ordered[0],
        ordered[n // 4],
        ordered[(n + 1) // 2],
        ordered[(3 * n // 2 + 1) // 2],
        ordered[-1],
    )
    assert sum(grid[0].weight) == n


@each_encoder
@pytest.mark.parametrize("missing", ["auto", "level", "zero"])
def test_patsy_drops_all_rows_for_one_nan_and_ours_keeps_every_row(encoder, missing):
    X = NORMAL[:, None].copy()
    X[17] = np.nan
    encoded = make(encoder, "quantile", missing=missing, output="dense").fit_transform(X)
    assert len(encoded) == len(X)
    without = make(encoder, "quantile", output="dense").fit_transform(np.delete(X, 17, axis=0))
    np.testing.assert_array_equal(np.delete(encoded, 17, axis=0)[:, : without.shape[1]], without)


@each_encoder
@pytest.mark.parametrize("strategy", ["quantile", "uniform", "kmeans"])
@pytest.mark.parametrize("value", [7.0, np.nan])
def test_tabm_crashes_on_constant_and_all_missing_columns_and_ours_gives_one_level(encoder, strategy, value):
    X = np.stack([np.full(50, value), NORMAL[:50]], axis=1)
    fitted = make(encoder, strategy, output="dense").fit(X)
    encoded = fitted.transform(X)
    own = fitted.n_parameters_ - make(encoder, strategy).fit(X[:, 1:]).n_parameters_
    assert own == 1
    assert np.all(encoded[:, 0] == 1)


def test_pandas_qcut_with_dropped_duplicates_merges_zero_and_one_and_ours_does_not():
    pandas = pytest.importorskip("pandas")
    column = ONE_BIN["0/1"]
    assert pandas.qcut(column, 5, labels=False, duplicates="drop").max() == 0
    assert HardBins(5).fit(column[:, None]).n_bins_[0] == 2


def test_scikit_learn_linear_extrapolation_is_right_in_the_first_column_only_and_ours_in_all():
    X = np.random.default_rng(0).normal(size=(500, 3))
    ours = SoftBins(4, outside="linear", output="dense").fit(X)
    knots = np.stack(ours.bin_edges_, axis=1)
    theirs = SplineTransformer(degree=1, knots=knots, extrapolation="linear").fit(X)
    outside = np.array([[9.0, 9.0, 9.0], [-9.0, -9.0, -9.0]])

    def decoded(encoded):
        return np.einsum("ijk,kj->ij", encoded.reshape(2, 3, 5), knots)

    np.testing.assert_allclose(decoded(ours.transform(outside)), outside)
    wrong = np.abs(decoded(theirs.transform(outside)) - outside).max(axis=0)
    assert wrong[0] < 1e-9
    assert (wrong[1:] > 0.1).all()
