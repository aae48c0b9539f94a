"""The comparisons the other tests rely on notice every kind of difference."""

from dataclasses import replace

import numpy as np
import pytest
import scipy.sparse
from tests.same import assert_same_bits, assert_same_histogram, assert_same_matrix, dense

from softbin.summaries import RankHistogram

ARRAY = np.array([[0.0, 1.5], [np.nan, -2.0]])
MATRIX = scipy.sparse.csr_matrix(np.array([[0.0, 1.5, 2.0], [3.0, 0.0, -2.0]]))
HISTOGRAM = RankHistogram.of(np.array([1.0, 2.0, 2.0, np.nan, np.inf]))


def broken_arrays():
    last_bit, sign, not_nan = ARRAY.copy(), ARRAY.copy(), ARRAY.copy()
    last_bit[0, 1] = np.nextafter(1.5, 2)
    sign[0, 0] = -0.0
    not_nan[1, 0] = 0.0
    return {
        "one bit": last_bit,
        "sign of zero": sign,
        "NaN": not_nan,
        "shape": ARRAY.reshape(-1),
        "dtype": ARRAY.astype(np.float32),
    }


def broken_matrices():
    data, index, stored = MATRIX.copy(), MATRIX.copy(), MATRIX.copy()
    data.data[0] = 1.25
    index.indices[0] = 0
    stored.data[1] = 0
    return {
        "data": data,
        "index": index,
        "stored zero": stored,
        "zeros dropped": scipy.sparse.csr_matrix(np.nan_to_num(stored.toarray())),
        "index dtype": scipy.sparse.csr_matrix((MATRIX.data, MATRIX.indices, MATRIX.indptr), dtype=np.float32),
        "wider": scipy.sparse.csr_matrix((MATRIX.data, MATRIX.indices, MATRIX.indptr), shape=(2, 4)),
        "dense": MATRIX.toarray(),
    }


def broken_histograms():
    return {
        "prefix": replace(HISTOGRAM, prefix=HISTOGRAM.prefix + np.uint64(1)),
        "depth": replace(HISTOGRAM, depth=HISTOGRAM.depth - np.uint8(1)),
        "weight": replace(HISTOGRAM, weight=HISTOGRAM.weight + 1),
        "width": replace(HISTOGRAM, width=32),
        "minimum": replace(HISTOGRAM, minimum=0.0),
        "maximum": replace(HISTOGRAM, maximum=3.0),
        "missing": replace(HISTOGRAM, missing=0),
        "infinite": replace(HISTOGRAM, infinite=0),
        "unit": replace(HISTOGRAM, unit=0.5),
    }


def test_equal_things_pass():
    assert_same_bits(ARRAY, ARRAY.copy())
    assert_same_bits(ARRAY, np.asfortranarray(ARRAY))
    assert_same_matrix(MATRIX, MATRIX.copy())
    assert_same_histogram(HISTOGRAM, replace(HISTOGRAM))


@pytest.mark.parametrize("what", broken_arrays())
def test_a_broken_array_is_noticed(what):
    with pytest.raises(AssertionError):
        assert_same_bits(broken_arrays()[what], ARRAY)


@pytest.mark.parametrize("what", broken_matrices())
def test_a_broken_matrix_is_noticed(what):
    with pytest.raises(AssertionError):
        assert_same_matrix(broken_matrices()[what], MATRIX)


@pytest.mark.parametrize("what", broken_histograms())
def test_a_broken_histogram_is_noticed(what):
    with pytest.raises(AssertionError):
        assert_same_histogram(broken_histograms()[what], HISTOGRAM)


def test_dense_keeps_what_a_matrix_holds():
    np.testing.assert_array_equal(dense(MATRIX), MATRIX.toarray())
    np.testing.assert_array_equal(dense(ARRAY), ARRAY)
