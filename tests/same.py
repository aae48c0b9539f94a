"""What "the same" means in these tests: shape, dtype and every bit. test_same.py shows that each check can fail."""

import numpy as np
import scipy.sparse

from softbin.summaries import RankHistogram


def assert_same_bits(got, expected) -> None:
    """Two arrays of one shape and dtype with the same bits; any NaN equals any other."""
    got, expected = np.asarray(got), np.asarray(expected)
    assert got.shape == expected.shape, f"shape {got.shape}, expected {expected.shape}"
    assert got.dtype == expected.dtype, f"dtype {got.dtype}, expected {expected.dtype}"
    if got.dtype.kind == "f":
        nan = np.isnan(got)
        np.testing.assert_array_equal(nan, np.isnan(expected))
        integers = np.dtype(f"u{got.dtype.itemsize}")
        bits, wanted = (np.ascontiguousarray(array).view(integers) for array in (got, expected))
        differ = (bits != wanted) & ~nan
    else:
        differ = got != expected
    if differ.any():
        at = tuple(int(axis[0]) for axis in np.nonzero(differ))
        raise AssertionError(f"{int(differ.sum())} entries differ; at {at}: {got[at]!r}, expected {expected[at]!r}")


def assert_same_matrix(got, expected) -> None:
    """Two CSR or two dense matrices that are the same, stored zeros included."""
    assert scipy.sparse.issparse(got) == scipy.sparse.issparse(expected)
    if not scipy.sparse.issparse(got):
        assert_same_bits(got, expected)
        return
    assert got.shape == expected.shape, f"shape {got.shape}, expected {expected.shape}"
    assert_same_bits(got.indptr, expected.indptr)
    assert_same_bits(got.indices, expected.indices)
    assert_same_bits(got.data, expected.data)


def assert_same_histogram(got: RankHistogram, expected: RankHistogram) -> None:
    """Two rank histograms of the same buckets, weights, range and odd values."""
    assert_same_bits(got.prefix, expected.prefix)
    assert_same_bits(got.depth, expected.depth)
    assert_same_bits(got.weight, expected.weight)
    for name in ("width", "minimum", "maximum", "missing", "infinite", "unit"):
        assert getattr(got, name) == getattr(expected, name), name


def dense(matrix) -> np.ndarray:
    return matrix.toarray() if scipy.sparse.issparse(matrix) else np.asarray(matrix)
