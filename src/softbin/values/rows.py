"""The rows that a model learns from: table, target and weight, without what counts as absent."""

from dataclasses import replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from softbin.errors import DataError
from softbin.values.tables import Table, read_table
from softbin.values.weights import read_weight

RowWeight = NDArray[np.floating[Any]]


def read_rows(X: Any, y: NDArray[Any], sample_weight: Any) -> tuple[Table, NDArray[Any], RowWeight | None]:
    """Table, y and weight without the rows of weight zero, which count as absent."""
    table = read_table(X)
    if len(y) != table.n_rows:
        raise DataError(f"y: {len(y)} values for {table.n_rows} rows; inconsistent numbers of samples")
    if sample_weight is None:
        return table, y, None
    units, _ = read_weight(sample_weight, table.n_rows)
    assert units is not None
    weight = np.broadcast_to(np.asarray(sample_weight, np.float64), (table.n_rows,))
    if np.all(units > 0):
        return table, y, weight
    kept = np.flatnonzero(units)
    columns = tuple(column[kept] for column in table.columns)
    table = replace(table, columns=columns, n_rows=len(kept))
    return table, y[kept], weight[kept]
