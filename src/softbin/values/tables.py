"""A caller's table as one plain thing: a tuple of 1-D float columns, cut into blocks of rows.

The one idea: a column is a strided view. A C-ordered matrix, a Fortran-ordered one, a pandas or Polars
frame and an Arrow table all hold columns that NumPy can point at, so float32 and float64 data are never
copied here; integers and bools become float64 once.
"""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any, Protocol

import narwhals.stable.v2 as nw
import numpy as np
import scipy.sparse
from narwhals.exceptions import DuplicateError
from numpy.typing import NDArray

from softbin.errors import DataError, DataTypeError

Column = NDArray[np.floating[Any]]
Weight = NDArray[np.int64]

BLOCK_ROWS = 8_192  # of 28 float32 columns: what a core's own cache holds


@dataclass(frozen=True, eq=False)
class Block:
    """A run of rows: its first row's number, one 1-D view per column, and the rows' weight in units."""

    start: int
    n_rows: int
    columns: tuple[Column, ...]
    weight: Weight | None = None


class Source(Protocol):
    """Something that yields the same blocks again and again."""

    @property
    def labels(self) -> tuple[str, ...]: ...

    @property
    def dtype(self) -> np.dtype[Any]: ...

    @property
    def n_rows(self) -> int: ...

    def blocks(self) -> Iterator[Block]: ...


@dataclass(frozen=True, eq=False)
class Table:
    """A table in memory: a Source whose columns are all float32 or all float64.

    ``names`` is None where the caller's table has no column names; ``weight`` counts units (weights.py).
    """

    columns: tuple[Column, ...]
    names: tuple[str, ...] | None
    n_rows: int
    dtype: np.dtype[Any]
    weight: Weight | None = None

    @cached_property
    def labels(self) -> tuple[str, ...]:
        """What errors and reports call the columns."""
        return self.names or default_names(len(self.columns))

    def widened(self) -> "Table":
        """The same table in float64; a column that stands there several times is copied once."""
        wide = {id(column): column for column in self.columns}
        wide = {key: column.astype(np.float64) for key, column in wide.items()}
        return replace(self, columns=tuple(wide[id(column)] for column in self.columns), dtype=np.dtype(np.float64))

    def take(self, positions: Sequence[int]) -> "Table":
        """The table of these columns, in this order, each as often as it is named; nothing is copied."""
        names = tuple(self.labels[position] for position in positions)
        return replace(self, columns=tuple(self.columns[position] for position in positions), names=names)

    def blocks(self, rows: int = BLOCK_ROWS) -> Iterator[Block]:
        for start in range(0, self.n_rows, rows):
            stop = min(start + rows, self.n_rows)
            columns = tuple(column[start:stop] for column in self.columns)
            weight = None if self.weight is None else self.weight[start:stop]
            yield Block(start, stop - start, columns, weight)


def default_names(n_columns: int) -> tuple[str, ...]:
    """The names scikit-learn gives to the columns of a nameless table: x0, x1, ..."""
    return tuple(f"x{position}" for position in range(n_columns))


def read_table(X: Any) -> Table:
    """The table behind ``X``: NumPy, pandas, Polars, Arrow, anything narwhals or NumPy can read; a Table is itself.

    float32 stays float32 if every column is float32; otherwise the columns are float64. Null becomes NaN.
    """
    if isinstance(X, Table):
        return X
    if scipy.sparse.issparse(X):
        raise DataTypeError(
            "X is a sparse matrix: bins need the values themselves; pass X.toarray(), "
            "or keep only the sparse columns you want to bin"
        )
    try:
        frame = nw.from_native(X, pass_through=True)
        if isinstance(frame, nw.LazyFrame):
            frame = frame.collect()
        table = _from_frame(frame) if isinstance(frame, nw.DataFrame) else _from_array(X)
    except DuplicateError as error:
        raise DataError(f"X: column names must be unique ({error}); rename them") from None
    if not table.columns:
        raise DataError(
            f"X: 0 feature(s) (shape=({table.n_rows}, 0)) while a minimum of 1 is required; "
            "pass a table with at least one column"
        )
    if table.n_rows == 0:
        raise DataError(
            f"X: 0 sample(s) (shape=(0, {len(table.columns)})) while a minimum of 1 is required; "
            "pass a table with at least one row"
        )
    return table


def _from_array(X: Any) -> Table:
    if isinstance(X, np.ma.MaskedArray) and X.dtype.kind in "fiubO":
        X = np.ma.filled(X.astype(np.float64) if X.dtype.kind in "iub" else X, np.nan)
    try:
        array = np.asarray(X)
    except ValueError as error:
        raise DataError(f"X cannot be read as a table: {error}; pass rows of equal length") from error
    if array.ndim != 2:
        raise DataError(
            f"X: Expected 2D array, got {array.ndim}D array instead (shape={array.shape}). Reshape your "
            "data: X.reshape(-1, 1) if it is one column, X.reshape(1, -1) if it is one row"
        )
    if array.dtype.kind == "c":
        raise DataTypeError("X: Complex data not supported; pass the real and imaginary parts as columns")
    n_rows, n_columns = array.shape
    if array.dtype.kind in "OUS":
        names = default_names(n_columns)
        parts = [_number_column(array[:, j], names[j]) for j in range(n_columns)]
        return _table(parts, None, n_rows)
    if array.dtype.kind not in "fiub":
        raise DataTypeError(f"X holds {array.dtype}, which are not numbers; convert them first")
    array = _as_float(array, _common_dtype([array.dtype]))
    return Table(tuple(array.T), None, n_rows, array.dtype)


def _from_frame(frame: nw.DataFrame[Any]) -> Table:
    names = tuple(frame.columns)
    parts = [_frame_column(series, str(name)) for series, name in zip(frame.iter_columns(), names, strict=True)]
    named = all(isinstance(name, str) for name in names)
    return _table(parts, names if named else None, frame.shape[0])


def _table(parts: list[NDArray[Any]], names: tuple[str, ...] | None, n_rows: int) -> Table:
    dtype = _common_dtype([part.dtype for part in parts])
    return Table(tuple(_as_float(part, dtype) for part in parts), names, n_rows, dtype)


def _frame_column(series: Any, name: str) -> NDArray[Any]:
    dtype = series.dtype
    if dtype == nw.Boolean or dtype == nw.Decimal:
        series = series.cast(nw.Float64)
    elif not (dtype.is_numeric() or dtype == nw.Object):
        if series.null_count() == len(series):
            return np.full(len(series), np.nan)  # what a column without any value is called does not matter
        raise DataTypeError(
            f"column {name!r}: holds {dtype}, not numbers; drop the column, or turn it into numbers first"
        )
    elif dtype.is_integer() and series.null_count() > 0:
        series = series.cast(nw.Float64)
    values = series.to_numpy()
    if values.dtype.kind not in "OUS":
        return values
    values = values.astype(object)
    values[series.is_null().to_numpy()] = None
    return _number_column(values, name)


def _number_column(values: NDArray[Any], name: str) -> NDArray[np.float64]:
    """A column of Python objects as float64, or an error that shows the first one that is not a number."""
    for value in values:
        try:
            if isinstance(value, (str, bytes)):
                raise TypeError("it is text")
            float(np.nan if value is None else value)
        except OverflowError:
            raise DataError(
                f"column {name!r}: a whole number is too large for a float64; divide the column first"
            ) from None
        except (TypeError, ValueError) as error:
            raise DataTypeError(
                f"column {name!r}: {value!r} is not a number ({error}); drop the column, or turn it into numbers first"
            ) from None
    return np.array([np.nan if value is None else value for value in values], dtype=np.float64)


def _common_dtype(dtypes: list[np.dtype[Any]]) -> np.dtype[Any]:
    narrow = all(dtype.kind == "f" and dtype.itemsize <= 4 for dtype in dtypes)
    return np.dtype(np.float32 if narrow and dtypes else np.float64)


def _as_float(array: NDArray[Any], dtype: np.dtype[Any]) -> NDArray[np.floating[Any]]:
    """The array as native, aligned floats; itself where it is already."""
    if array.dtype == dtype and array.flags.aligned:
        return array
    return array.astype(dtype)
