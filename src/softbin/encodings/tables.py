"""A whole table encoded, block by block, by the compiled kernels or else by the definitions.

Every block of rows writes its own part of an output made once, so memory stays at the size of the output and
threads never meet. What a value may not be (missing, beyond the ends) is counted, then reported for all columns.
"""

from collections.abc import Callable
from typing import Any

import numpy as np
import scipy.sparse
from numpy.typing import NDArray

from softbin import kernels
from softbin.encodings.hat import hat_entries
from softbin.encodings.locate import locate, wrap
from softbin.encodings.one_hot import one_hot_entries
from softbin.encodings.plan import Plan
from softbin.engines.threads import map_items
from softbin.errors import DataError
from softbin.values.tables import Block, Column, Table

FaultCounts = NDArray[np.int64]  # columns x (missing, outside)

LARGEST_INT32 = np.iinfo(np.int32).max


def encode_csr(table: Table, plan: Plan, dtype: np.dtype[Any], n_threads: int) -> scipy.sparse.csr_matrix:
    """Rows x levels as CSR, with ``plan.n_entries`` stored entries a row (some of them zeros)."""
    per_row = plan.n_entries
    index_dtype = csr_index_dtype(table.n_rows, plan)
    indices = np.empty(table.n_rows * per_row, index_dtype)
    data = np.empty(table.n_rows * per_row, dtype)

    def write(block: Block, faults: FaultCounts) -> None:
        part = slice(block.start * per_row, (block.start + block.n_rows) * per_row)
        if plan.compiled is not None:
            kernel = _kernel("hat_csr" if plan.soft else "one_hot_csr")
            kernel(plan.compiled, block.columns, indices[part], data[part], faults.reshape(-1))
            return
        shape = (block.n_rows, per_row)
        into = indices[part].reshape(shape), data[part].reshape(shape)
        for j, (levels, weights) in enumerate(_entries(block, plan, dtype, faults)):
            at = slice(plan.entry_start[j], plan.entry_start[j + 1])
            into[0][:, at], into[1][:, at] = levels + plan.level_start[j], weights

    _each_block(table, plan, write, n_threads)
    return csr_from_entries(indices, data, table.n_rows, plan)


def csr_index_dtype(n_rows: int, plan: Plan) -> type[np.int32] | type[np.int64]:
    """int32 until the row pointers or the columns overflow it."""
    fits = max(n_rows * plan.n_entries, plan.n_levels) <= LARGEST_INT32
    return np.int32 if fits else np.int64


def csr_from_entries(indices: NDArray[Any], data: NDArray[Any], n_rows: int, plan: Plan) -> scipy.sparse.csr_matrix:
    """A CSR matrix around these arrays, which are not copied."""
    pointers = np.arange(n_rows + 1, dtype=indices.dtype) * indices.dtype.type(plan.n_entries)
    matrix = scipy.sparse.csr_matrix((n_rows, plan.n_levels), dtype=data.dtype)
    matrix.data, matrix.indices, matrix.indptr = data, indices, pointers
    matrix.has_sorted_indices = True
    matrix.has_canonical_format = True
    return matrix


def encode_dense(table: Table, plan: Plan, dtype: np.dtype[Any], n_threads: int) -> NDArray[Any]:
    """Rows x levels as a dense matrix."""
    out = np.empty((table.n_rows, plan.n_levels), dtype)

    def write(block: Block, faults: FaultCounts) -> None:
        part = out[block.start : block.start + block.n_rows]
        if plan.compiled is not None:
            kernel = _kernel("hat_dense" if plan.soft else "one_hot_dense")
            kernel(plan.compiled, block.columns, part, faults.reshape(-1))
            return
        part[:] = 0
        for j, (levels, weights) in enumerate(_entries(block, plan, dtype, faults)):
            at = slice(plan.level_start[j], plan.level_start[j + 1])
            np.put_along_axis(part[:, at], levels, weights, axis=1)

    _each_block(table, plan, write, n_threads)
    return out


def encode_codes(
    table: Table, plan: Plan, n_threads: int, *, with_fractions: bool
) -> tuple[NDArray[Any], NDArray[np.float32] | None]:
    """Rows x columns: the level of every value and, if asked for, its fraction."""
    shape = (table.n_rows, len(plan.columns))
    codes = np.empty(shape, plan.code_dtype)
    fractions = np.empty(shape, np.float32) if with_fractions else None

    def write(block: Block, faults: FaultCounts) -> None:
        rows = slice(block.start, block.start + block.n_rows)
        into = None if fractions is None else fractions[rows]
        if plan.compiled is not None:
            _kernel("codes")(plan.compiled, block.columns, codes[rows], into, faults.reshape(-1))
            return
        for j, levels in enumerate(plan.columns):
            level, fraction, found = locate(block.columns[j], levels, np.float32)
            codes[rows][:, j] = level
            faults[j] += found.missing, found.outside
            if into is not None:
                into[:, j] = fraction

    _each_block(table, plan, write, n_threads)
    return codes, fractions


def _kernel(name: str) -> Callable[..., None]:
    kernel: Callable[..., None] = getattr(kernels.compiled, name)
    return kernel


def _entries(block: Block, plan: Plan, dtype: Any, faults: FaultCounts) -> Any:
    """The definitions, column by column: stored levels and weights of a block."""
    entries = hat_entries if plan.soft else one_hot_entries
    for j, levels in enumerate(plan.columns):
        level, fraction, found = locate(block.columns[j], levels, dtype)
        faults[j] += found.missing, found.outside
        yield entries(level, fraction, levels)


def _each_block(table: Table, plan: Plan, write: Callable[[Block, FaultCounts], None], n_threads: int) -> None:
    def run(block: Block) -> FaultCounts:
        faults = np.zeros((len(plan.columns), 2), np.int64)
        write(wrapped(block, plan), faults)
        return faults

    counted = map_items(run, table.blocks(), n_threads)
    raise_faults(table, plan, np.sum(counted, axis=0))


def wrapped(block: Block, plan: Plan) -> Block:
    """The block with its periodic columns moved into their period, once for every implementation."""
    if all(boundaries.period is None for boundaries in plan.grid):
        return block
    columns: tuple[Column, ...] = tuple(
        wrap(values, boundaries.period, boundaries.special)
        for values, boundaries in zip(block.columns, plan.grid, strict=True)
    )
    return Block(block.start, block.n_rows, columns, block.weight)


def raise_faults(table: Table, plan: Plan, faults: FaultCounts) -> None:
    """Raises DataError for the first column with faults; returns where there are none."""
    for position in np.flatnonzero(faults.any(axis=1)):
        name, boundaries = table.labels[position], plan.grid.columns[position]
        missing, outside = faults[position]
        if missing:
            raise DataError(
                f"column {name!r}: {missing} missing values (NaN), and there were none when it was fitted; "
                'pass missing="level" or missing="zero", or fill them first'
            )
        if boundaries.period is not None:
            raise DataError(f"column {name!r}: {outside} values are infinite, which is nowhere on a circle; drop them")
        if boundaries.outside == "linear":
            raise DataError(
                f"column {name!r}: {outside} values are infinite, and the end slope leads nowhere from there; "
                'pass outside="clip" or drop them'
            )
        raise DataError(
            f"column {name!r}: {outside} values lie outside [{boundaries.edges[0]:g}, {boundaries.edges[-1]:g}]; "
            'pass outside="clip", or edges that hold them'
        )
