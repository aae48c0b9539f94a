"""SoftBins against scikit-learn's SplineTransformer(degree=1), where that one is right, and numpy.interp."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from sklearn.preprocessing import SplineTransformer
from tests.columns import columns, each_dtype, each_rule, fit_column
from tests.same import dense

from softbin import SoftBins

RNG = np.random.default_rng(11)
COLUMN = RNG.normal(size=500)
NEW = np.concatenate([RNG.normal(size=300) * 2, COLUMN[:50]])[:, None]
EXTRAPOLATION = {"clip": "constant", "linear": "linear"}
each_outside = pytest.mark.parametrize("outside", EXTRAPOLATION)
each_output = pytest.mark.parametrize("output", ["sparse", "dense"])


def spline(knots, extrapolation):
    """scikit-learn's hats on these knots."""
    knots = np.asarray(knots)[:, None]
    return SplineTransformer(degree=1, knots=knots, extrapolation=extrapolation).fit(knots)


@each_outside
@each_output
@pytest.mark.parametrize("strategy", ["quantile", "uniform", "kmeans"])
@pytest.mark.parametrize("n_bins", [1, 2, 10, 40])
def test_the_same_knots_give_the_same_weights(strategy, n_bins, outside, output):
    soft = SoftBins(n_bins, strategy, outside=outside, output=output).fit(COLUMN[:, None])
    expected = spline(soft.bin_edges_[0], EXTRAPOLATION[outside]).transform(NEW)
    np.testing.assert_allclose(dense(soft.transform(NEW)), expected, rtol=0, atol=1e-12)


@each_outside
def test_uniform_knots_are_scikit_learns_uniform_knots(outside):
    ours = SoftBins(7, "uniform", outside=outside, output="dense").fit(COLUMN[:, None])
    theirs = SplineTransformer(n_knots=8, degree=1, knots="uniform", extrapolation=EXTRAPOLATION[outside])
    expected = theirs.fit(COLUMN[:, None]).transform(NEW)
    np.testing.assert_allclose(ours.transform(NEW), expected, rtol=0, atol=1e-12)


def test_quantile_knots_are_scikit_learns_where_ranks_are_whole():
    column = np.random.default_rng(3).permutation(np.linspace(-3, 9, 101))[:, None]
    ours = SoftBins(10).fit(column).bin_edges_[0]
    np.testing.assert_allclose(ours, np.quantile(column, np.linspace(0, 1, 11)), atol=0.13)
    assert len(ours) == 11


def test_a_periodic_column_is_scikit_learns_periodic_spline():
    hours = np.linspace(0, 24, 97)[:-1, None]
    knots = [0.0, 6.0, 9.0, 15.0, 24.0]
    soft = SoftBins(edges=[knots], period={0: (0, 24)}, output="dense").fit(hours)
    new = np.linspace(-30, 60, 333)[:, None]
    ours, theirs = soft.transform(new), spline(knots, "periodic").transform(new)
    # scikit-learn numbers the same hats from another knot.
    shift = next(s for s in range(4) if np.allclose(np.roll(theirs, s, axis=1), ours))
    np.testing.assert_allclose(np.roll(theirs, shift, axis=1), ours, atol=1e-12)


@each_rule
@each_dtype
@given(data=st.data(), n_bins=st.sampled_from([1, 2, 5, 20]))
def test_weights_times_heights_are_interpolation_through_the_knots(rule, dtype, data, n_bins):
    column = data.draw(columns(dtype, missing=False))
    soft = fit_column("soft", rule, column, n_bins, output="dense", dtype=np.float64)
    knots = np.array(soft.bin_edges_[0])
    heights = np.random.default_rng(1).normal(size=len(knots))
    values = np.concatenate([column, data.draw(columns(dtype, missing=False))])
    curve = soft.transform(values[:, None]) @ heights
    at = np.clip(values.astype(np.float64), knots[0], knots[-1])
    # Why scaled: numpy.interp computes a slope, which overflows between knots that are close together.
    left = np.maximum(np.searchsorted(knots, at, side="right") - 1, 0)
    right = np.minimum(left + 1, len(knots) - 1)
    width = np.where(right > left, knots[right] - knots[left], 1)
    expected = [
        np.interp((v - knots[a]) / w, [0.0, 1.0], [heights[a], heights[b]])
        for v, a, b, w in zip(at, left, right, width, strict=True)
    ]
    np.testing.assert_allclose(curve, expected, rtol=0, atol=1e-12)


def test_numpy_interp_itself_agrees_on_an_ordinary_column():
    soft = SoftBins(10, output="dense").fit(COLUMN[:, None])
    heights = np.random.default_rng(4).normal(size=11)
    expected = np.interp(NEW[:, 0], soft.bin_edges_[0], heights)
    np.testing.assert_allclose(soft.transform(NEW) @ heights, expected, rtol=0, atol=1e-12)
