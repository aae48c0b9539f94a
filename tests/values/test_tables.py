"""Tables of every make give the same numbers; float32 and float64 are not copied; bad ones are named."""

import datetime
import decimal

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest
import scipy.sparse
from tests.columns import each_dtype
from tests.same import assert_same_bits, dense

from softbin import HardBins, SoftBins
from softbin.errors import DataError, DataTypeError
from softbin.values.tables import read_table

NUMBERS = np.array([[1.5, -2.0], [0.0, 4.0], [3.25, 1e6], [-7.0, 2.0]])
GAPS = np.array([[1.0, np.nan], [np.nan, 4.0], [3.0, 5.0]])


def read(X) -> np.ndarray:
    return np.stack(read_table(X).columns, axis=1)


def unaligned(matrix):
    """The same numbers at odd addresses."""
    raw = np.zeros(matrix.nbytes + 1, np.uint8)
    view = raw[1:].view(matrix.dtype).reshape(matrix.shape)
    view[:] = matrix
    return view


def read_only(matrix):
    matrix = matrix.copy()
    matrix.flags.writeable = False
    return matrix


ARRAYS = {
    "C order": np.ascontiguousarray,
    "Fortran order": np.asfortranarray,
    "every other column": lambda m: np.repeat(m, 2, axis=1)[:, ::2],
    "every third row": lambda m: np.repeat(m, 3, axis=0)[::3],
    "backwards": lambda m: np.array(m[::-1, ::-1])[::-1, ::-1],
    "read-only": read_only,
    "other byte order": lambda m: m.astype(m.dtype.newbyteorder()),
    "unaligned": unaligned,
    "a list": lambda m: m.tolist(),
    "objects": lambda m: m.astype(object),
    "a matrix of rows": lambda m: [tuple(row) for row in m],
    "masked, nothing hidden": np.ma.masked_array,
}


@pytest.mark.parametrize("how", ARRAYS)
@pytest.mark.parametrize("encoder", [HardBins, SoftBins])
@each_dtype
def test_numpy_arrays_of_every_layout_are_encoded_alike(how, encoder, dtype):
    matrix = NUMBERS.astype(dtype)
    laid_out = ARRAYS[how](matrix)
    np.testing.assert_array_equal(read(laid_out), matrix)
    expected = encoder(3, output="dense").fit_transform(matrix)
    fitted = encoder(3, output="dense").fit(laid_out)
    np.testing.assert_array_equal(fitted.transform(laid_out), expected.astype(fitted.transform(laid_out).dtype))


@each_dtype
@pytest.mark.parametrize("how", ["C order", "Fortran order", "every other column", "every third row", "read-only"])
def test_floats_are_not_copied(how, dtype):
    laid_out = ARRAYS[how](NUMBERS.astype(dtype))
    for column in read_table(laid_out).columns:
        assert np.shares_memory(column, laid_out)


@each_dtype
def test_float_frames_are_not_copied(dtype):
    column = np.arange(5, dtype=dtype)
    arrow = pa.table({"a": pa.array(column)})
    polars = pl.DataFrame({"a": column})
    pandas = pd.DataFrame({"a": column}, copy=False)
    for frame, memory in ((arrow, column), (polars, polars["a"].to_numpy()), (pandas, pandas["a"].to_numpy())):
        assert np.shares_memory(read_table(frame).columns[0], memory)


@pytest.mark.parametrize(
    ("dtype", "expected"),
    [
        (np.float16, np.float32), (np.float32, np.float32), (np.float64, np.float64), (np.longdouble, np.float64),
        (np.int8, np.float64), (np.uint64, np.float64), (np.int64, np.float64), (bool, np.float64),
        (object, np.float64),
    ],
)  # fmt: skip
def test_every_kind_of_number_becomes_float32_or_float64(dtype, expected):
    values = np.array([[0, 1], [1, 0]]).astype(dtype)
    table = read_table(values)
    assert table.dtype == expected
    assert all(column.dtype == expected for column in table.columns)
    assert read(values).tolist() == [[0, 1], [1, 0]]


def test_what_is_masked_is_missing():
    hidden = np.ma.masked_array(NUMBERS, mask=NUMBERS == 4)
    expected = np.where(NUMBERS == 4, np.nan, NUMBERS)
    np.testing.assert_array_equal(read(hidden), expected)
    whole = np.ma.masked_array([[1, 2], [3, 4]], mask=[[0, 1], [0, 0]])
    np.testing.assert_array_equal(read(whole), [[1, np.nan], [3, 4]])


@each_dtype
def test_masked_floats_keep_their_dtype(dtype):
    hidden = np.ma.masked_array(NUMBERS.astype(dtype), mask=NUMBERS == 4)
    assert read_table(hidden).dtype == dtype
    assert read_table(hidden.astype(object)).dtype == np.float64


@pytest.mark.parametrize("values", [[["1", "2"]], [[1j, 2]], np.array([["2020-01-01"] * 2], "datetime64[D]")])
def test_what_is_masked_must_be_numbers_too(values):
    with pytest.raises(DataTypeError):
        read_table(np.ma.masked_array(values, mask=[[False, True]]))


FRAMES = {
    "pandas": lambda: pd.DataFrame(GAPS, columns=["a", "b"]),
    "pandas float32": lambda: pd.DataFrame(GAPS.astype(np.float32), columns=["a", "b"]),
    "pandas nullable": lambda: pd.DataFrame(
        {"a": pd.array([1, None, 3], "Int64"), "b": pd.array([None, 4.0, 5.0], "Float64")}
    ),
    "pandas nullable float32": lambda: pd.DataFrame(GAPS, columns=["a", "b"]).astype("Float32"),
    "pandas mixed": lambda: pd.DataFrame(
        {"a": np.array([1, np.nan, 3], np.float32), "b": pd.array([None, 4, 5], "Int8")}
    ),
    "pandas objects": lambda: pd.DataFrame({"a": [1, None, 3], "b": [None, 4.0, 5]}, dtype=object),
    "pandas objects with NA": lambda: pd.DataFrame({"a": [1, pd.NA, 3], "b": [pd.NA, 4.0, 5]}, dtype=object),
    "pandas arrow": lambda: pd.DataFrame(
        {"a": pd.array([1, None, 3], "int64[pyarrow]"), "b": pd.array([None, 4, 5], "double[pyarrow]")}
    ),
    "polars": lambda: pl.DataFrame({"a": [1.0, None, 3.0], "b": [None, 4.0, 5.0]}),
    "polars integers": lambda: pl.DataFrame({"a": [1, None, 3], "b": [None, 4, 5]}),
    "polars lazy": lambda: pl.LazyFrame({"a": [1.0, None, 3.0], "b": [None, 4.0, 5.0]}),
    "polars float32": lambda: pl.DataFrame(GAPS.astype(np.float32), schema=["a", "b"]),
    "polars chunks": lambda: pl.concat(
        [pl.DataFrame({"a": [1, None], "b": [None, 4]}), pl.DataFrame({"a": [3], "b": [5]})], rechunk=False
    ),
    "arrow": lambda: pa.table({"a": [1.0, None, 3.0], "b": [None, 4.0, 5.0]}),
    "arrow integers": lambda: pa.table({"a": pa.array([1, None, 3], pa.int16()), "b": [None, 4, 5]}),
    "arrow chunks": lambda: pa.concat_tables(
        [pa.table({"a": [1.0, None], "b": [None, 4.0]}), pa.table({"a": [3.0], "b": [5.0]})]
    ),
    "arrow decimals": lambda: pa.table(
        {"a": [decimal.Decimal(1), None, decimal.Decimal(3)], "b": [None, decimal.Decimal(4), decimal.Decimal(5)]}
    ),
}


@pytest.mark.parametrize("make", FRAMES)
def test_frames_keep_names_and_turn_null_into_missing(make):
    table = read_table(FRAMES[make]())
    assert table.names == ("a", "b")
    np.testing.assert_array_equal(np.stack(table.columns, axis=1), GAPS)


@pytest.mark.parametrize("make", FRAMES)
@pytest.mark.parametrize("encoder", [HardBins, SoftBins])
def test_frames_are_encoded_like_arrays(make, encoder):
    expected = encoder(2).fit(GAPS)
    fitted = encoder(2).fit(FRAMES[make]())
    assert fitted.grid_.columns == expected.grid_.columns
    np.testing.assert_array_equal(dense(fitted.transform(FRAMES[make]())), dense(expected.transform(GAPS)))
    assert fitted.feature_names_in_.tolist() == ["a", "b"]


ALL_MISSING = {
    "pandas": lambda: pd.DataFrame({"a": [1.0, 2.0], "b": [None, None]}),
    "pandas NA": lambda: pd.DataFrame({"a": [1.0, 2.0], "b": [pd.NA, pd.NA]}),
    "polars": lambda: pl.DataFrame({"a": [1.0, 2.0], "b": [None, None]}),
    "arrow": lambda: pa.table({"a": [1.0, 2.0], "b": pa.nulls(2)}),
}


@pytest.mark.parametrize("make", ALL_MISSING)
@pytest.mark.parametrize("encoder", [HardBins, SoftBins])
def test_a_column_without_any_value_is_missing_whatever_its_type_is_called(make, encoder):
    fitted = encoder(output="dense").fit(ALL_MISSING[make]())
    assert fitted.transform(ALL_MISSING[make]())[:, -1].tolist() == [1, 1]
    assert fitted.get_feature_names_out()[-1] == "b[missing]"


def test_bools_are_zero_and_one():
    for frame in (
        pd.DataFrame({"a": [True, False]}),
        pd.DataFrame({"a": pd.array([True, None], "boolean")}).fillna(False),
        pl.DataFrame({"a": [True, False]}),
        pa.table({"a": [True, False]}),
        np.array([[True], [False]]),
    ):
        assert read(frame).tolist() == [[1], [0]]


def test_one_wide_column_makes_the_table_float64():
    frame = pl.DataFrame({"a": np.zeros(2, np.float32), "b": np.zeros(2)})
    assert read_table(frame).dtype == np.float64
    assert read_table(frame.select("a")).dtype == np.float32


NOT_NUMBERS = {
    "pandas strings": lambda: pd.DataFrame({"good": [1.0, 2], "bad": ["x", "y"]}),
    "pandas objects": lambda: pd.DataFrame({"good": [1.0, 2], "bad": pd.Series([1, [2]], dtype=object)}),
    "pandas mixed words": lambda: pd.DataFrame({"good": [1.0, 2], "bad": pd.Series([1, "two"], dtype=object)}),
    "pandas dates": lambda: pd.DataFrame({"good": [1.0, 2], "bad": pd.to_datetime(["2020-01-01", "2021-01-01"])}),
    "pandas categories": lambda: pd.DataFrame({"good": [1.0, 2], "bad": pd.Categorical(["a", "b"])}),
    "pandas categories of numbers": lambda: pd.DataFrame({"good": [1.0, 2], "bad": pd.Categorical([1, 2])}),
    "pandas durations": lambda: pd.DataFrame({"good": [1.0, 2], "bad": pd.to_timedelta([1, 2], "s")}),
    "pandas complex": lambda: pd.DataFrame({"good": [1.0, 2], "bad": [1j, 2]}),
    "polars strings": lambda: pl.DataFrame({"good": [1.0, 2.0], "bad": ["1", "2"]}),
    "polars dates": lambda: pl.DataFrame({"good": [1.0], "bad": [datetime.date(2020, 1, 1)]}),
    "polars lists": lambda: pl.DataFrame({"good": [1.0], "bad": [[1, 2]]}),
    "polars categories": lambda: pl.DataFrame({"good": [1.0], "bad": ["a"]}, schema_overrides={"bad": pl.Categorical}),
    "arrow strings": lambda: pa.table({"good": [1.0], "bad": ["1"]}),
    "arrow dates": lambda: pa.table({"good": [1.0], "bad": [datetime.datetime(2020, 1, 1)]}),
}


@pytest.mark.parametrize("make", NOT_NUMBERS)
def test_a_column_that_holds_no_numbers_is_named(make):
    with pytest.raises(DataTypeError, match="'bad'"):
        read_table(NOT_NUMBERS[make]())


@pytest.mark.parametrize(
    ("array", "word"),
    [
        (np.array([["a", "1"]]), "'x0'"),
        (np.array([[1, "b"]], object), "'x1'.*'b'"),
        (np.array([[1, [2]]], object), "'x1'"),
        (np.array([[1, 2j]]), "Complex data"),
        (np.array([[1, 2j]], object), "'x1'"),
        (np.array([["2020-01-01"]], "datetime64[D]"), "datetime64"),
        (scipy.sparse.csr_matrix(np.eye(2)), "sparse"),
        (scipy.sparse.coo_array(np.eye(2)), "sparse"),
    ],
)
def test_an_array_that_holds_no_numbers_is_refused(array, word):
    with pytest.raises(DataTypeError, match=word):
        read_table(array)


@pytest.mark.parametrize("text", [np.array([["1", "2"]]), np.array([[b"1", b"2"]]), np.array([["1", 2]], object)])
def test_numbers_written_as_text_are_refused_in_arrays_as_they_are_in_frames(text):
    with pytest.raises(DataTypeError, match="x0"):
        read_table(text)


@pytest.mark.parametrize(
    ("X", "word"),
    [
        (np.zeros(3), "Expected 2D array, got 1D"),
        (np.zeros((1, 2, 3)), "Expected 2D array, got 3D"),
        (5.0, "Expected 2D array, got 0D"),
        ([], "Expected 2D"),
        (np.zeros((0, 2)), "0 sample"),
        (np.zeros((2, 0)), "0 feature"),
        (pd.DataFrame(), "0 feature"),
        (pd.DataFrame({"a": []}, dtype=float), "0 sample"),
        (pl.DataFrame({"a": []}, schema={"a": pl.Float64}), "0 sample"),
        (pa.table({"a": pa.array([], pa.float32())}), "0 sample"),
        ([[1, 2], [3]], "rows of equal length"),
        (None, "Expected 2D"),
        ({"a": [1]}, "Expected 2D"),
        (pd.Series([1.0, 2.0]), "Expected 2D"),
        (pl.Series([1.0, 2.0]), "Expected 2D"),
    ],
)
def test_what_is_no_table_is_refused(X, word):
    with pytest.raises(DataError, match=word):
        read_table(X)


@pytest.mark.parametrize("X", [[[1.0], [10**400]], pd.DataFrame({"x0": [1.0, 10**5000]})])
def test_a_whole_number_beyond_the_floats_names_its_column(X):
    with pytest.raises(DataError, match="'x0': a whole number is too large"):
        read_table(X)


def test_a_name_that_stands_twice_is_refused():
    frame = pd.DataFrame([[1.0, 2.0]], columns=["a", "a"])
    with pytest.raises(DataError, match="'a'"):
        read_table(frame)


@each_dtype
def test_blocks_are_the_rows_in_order(dtype):
    values = np.arange(20, dtype=dtype).reshape(10, 2)
    blocks = list(read_table(values).blocks(4))
    assert [(block.start, block.n_rows) for block in blocks] == [(0, 4), (4, 4), (8, 2)]
    assert_same_bits(np.concatenate([np.stack(block.columns, axis=1) for block in blocks]), values)
