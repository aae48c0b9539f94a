"""The compiled search for a bin against NumPy's: every number of cuts around the sizes at which its tree grows."""

import numpy as np
import pytest
from tests.columns import each_dtype, only_compiled

from softbin import HardBins

SIZES = [1, 2, 7, 8, 9, 15, 16, 17, 32, 33, 63, 64, 65, 255, 256, 257, 272, 511, 513, 4095, 4096, 4097]

pytestmark = only_compiled


def prepared(n_cuts, dtype):
    """Cuts in both precisions, and values on, just below and just above each, between them and beyond."""
    cuts = np.unique(np.random.default_rng(n_cuts).standard_normal(2 * n_cuts + 8).astype(np.float32))[:n_cuts]
    cuts = cuts.astype(dtype)
    low, high = dtype(-np.inf), dtype(np.inf)
    near = [cuts, np.nextafter(cuts, low), np.nextafter(cuts, high), (cuts[1:] + cuts[:-1]) / 2]
    values = np.concatenate([*near, np.array([-9, 9, -np.inf, np.inf, np.nan, 0.0, -0.0], dtype)])
    return cuts, np.random.default_rng(0).permutation(values)


def bins_of(cuts, values):
    edges = [-10.0, *cuts.tolist(), 10.0]
    encoder = HardBins(edges=[edges], output="ordinal").fit(np.linspace(-10, 10, 50)[:, None])
    return encoder.transform(values[:, None])[:, 0]


def expected(cuts, values):
    return np.where(np.isnan(values), len(cuts) + 1, np.searchsorted(cuts, values, side="right"))


@each_dtype
@pytest.mark.parametrize("n_cuts", SIZES)
def test_a_value_falls_where_numpy_puts_it(n_cuts, dtype):
    cuts, values = prepared(n_cuts, dtype)
    known = values[~np.isnan(values)]
    np.testing.assert_array_equal(bins_of(cuts, known), expected(cuts, known))


@each_dtype
@pytest.mark.parametrize("n_cuts", SIZES)
def test_a_cut_moved_by_one_step_is_noticed(n_cuts, dtype):
    cuts, values = prepared(n_cuts, dtype)
    known = values[~np.isnan(values)]
    moved = cuts.copy()
    moved[n_cuts // 2] = np.nextafter(moved[n_cuts // 2], dtype(9))
    assert np.sum(bins_of(cuts, known) != expected(moved, known)) == 1


@each_dtype
@pytest.mark.parametrize("n_cuts", SIZES)
def test_nan_counts_no_cut(n_cuts, dtype):
    cuts, values = prepared(n_cuts, dtype)
    edges = [-10.0, *cuts.tolist(), 10.0]
    fitted = HardBins(edges=[edges], output="ordinal", missing="level").fit(np.append(cuts, np.nan)[:, None])
    np.testing.assert_array_equal(fitted.transform(values[:, None])[:, 0], expected(cuts, values))
