"""HardBins against scikit-learn's KBinsDiscretizer: the same edges give the same bins."""

import numpy as np
import pytest
from sklearn.preprocessing import KBinsDiscretizer
from tests.columns import each_dtype
from tests.same import dense

from softbin import HardBins

RNG = np.random.default_rng(12)
X = RNG.normal(size=(400, 3))
NEW = np.concatenate([RNG.normal(size=(300, 3)) * 2, X[:50]])
SORT = {"subsample": None, "quantile_method": "averaged_inverted_cdf"}


def theirs_with(edges, encode, dtype):
    """KBinsDiscretizer with these edges."""
    discretizer = KBinsDiscretizer(4, encode=encode, strategy="uniform", dtype=dtype, subsample=None).fit(X)
    discretizer.bin_edges_ = edges
    discretizer.n_bins_ = np.array([len(e) - 1 for e in edges])
    if encode == "onehot":
        discretizer._encoder.fit(np.zeros((1, 3))).categories_ = [np.arange(len(e) - 1) for e in edges]
    return discretizer


@pytest.mark.parametrize("strategy", ["quantile", "uniform", "kmeans"])
@pytest.mark.parametrize("n_bins", [1, 2, 10, 50])
@each_dtype
def test_the_same_edges_give_the_same_ordinals(strategy, n_bins, dtype):
    ours = HardBins(n_bins, strategy, output="ordinal").fit(X.astype(dtype))
    new = np.concatenate([NEW, *(np.tile(edges[:, None], 3) for edges in ours.bin_edges_)]).astype(dtype)
    edges = np.empty(3, object)
    edges[:] = list(ours.bin_edges_)
    expected = theirs_with(edges, "ordinal", np.float64).transform(new.astype(np.float64))
    np.testing.assert_array_equal(ours.transform(new), expected)


def test_uniform_edges_and_one_hot_output_are_scikit_learns():
    ours = HardBins(6, "uniform").fit(X)
    theirs = KBinsDiscretizer(6, encode="onehot", strategy="uniform", subsample=None).fit(X)
    for got, expected in zip(ours.bin_edges_, theirs.bin_edges_, strict=True):
        np.testing.assert_allclose(got, expected, rtol=1e-14)
    np.testing.assert_array_equal(dense(ours.transform(NEW)), theirs.transform(NEW).toarray())


@pytest.mark.parametrize("n_bins", [2, 4, 10])
def test_quantile_bins_hold_the_same_training_rows(n_bins):
    """400 rows divide evenly, so there is one way to fill the bins equally."""
    ours = HardBins(n_bins, output="ordinal").fit_transform(X)
    theirs = KBinsDiscretizer(n_bins, encode="ordinal", strategy="quantile", **SORT).fit_transform(X)
    np.testing.assert_array_equal(ours, theirs)


def test_k_means_settles_where_scikit_learns_does():
    column = np.random.default_rng(1).normal(size=2000)[:, None]
    theirs = KBinsDiscretizer(5, encode="ordinal", strategy="kmeans", subsample=None).fit(column)
    np.testing.assert_allclose(HardBins(5, "kmeans").fit(column).bin_edges_[0], theirs.bin_edges_[0], atol=0.1)


def test_k_means_finds_clusters_that_lie_apart():
    """scikit-learn moves a centre that has no values left; a cluster may not be lost for where it started."""
    rng = np.random.default_rng(2)
    column = np.concatenate([rng.normal(centre, 0.1, 50) for centre in (0, 4, 5, 12)])[:, None]
    theirs = KBinsDiscretizer(4, encode="ordinal", strategy="kmeans", subsample=None).fit_transform(column)
    ours = HardBins(4, "kmeans", output="ordinal").fit_transform(column)
    assert inertia(column, ours) <= 1.05 * inertia(column, theirs)


def inertia(column, codes) -> float:
    """Squared distances of values to the mean of their bin."""
    return sum(np.var(column[codes == code]) * np.sum(codes == code) for code in np.unique(codes))
