"""Which rows are held out to judge with: decided by what a row holds, not by where it stands.

Each row is hashed with the seed, and of the distinct rows of each class those with the smallest hashes are held out. So
the order of the rows does not matter, all copies of a row are on the same side, a weight of two is the row twice, and a
weight of zero is the row absent.
"""

from typing import Any

import numpy as np
from numpy.typing import NDArray

from softbin.errors import DataError
from softbin.values.tables import Table
from softbin.values.targets import Target

Hashes = NDArray[np.uint64]

# The constants of splitmix64, which turns counters into numbers that look random.
STEP, FIRST, SECOND = np.uint64(0x9E3779B97F4A7C15), np.uint64(0xBF58476D1CE4E5B9), np.uint64(0x94D049BB133111EB)
HASHED_ROWS = 2**14


def held_out(table: Table, target: Target, fraction: float, seed: int) -> NDArray[np.bool_]:
    """About this share of the rows; at least one distinct row of positive weight on either side, or an error.

    Of every class at least one distinct row stays to fit.
    """
    hashes = row_hashes(table, target, seed)
    weighed = np.ones(table.n_rows, bool) if table.weight is None else table.weight > 0
    out = np.zeros(table.n_rows, bool)
    classes = np.zeros(table.n_rows, np.int32) if target.code is None else target.code
    for code in np.unique(classes[weighed]):
        out |= _smallest(hashes, weighed & (classes == code), fraction, kept=1)
    if not out[weighed].any():
        # Classes so small that each of them keeps all its rows: together they can spare one.
        out = _smallest(hashes, weighed, fraction, least=1)
    if out[weighed].all() or not out[weighed].any():
        raise DataError(
            f"X: {table.n_rows} sample(s) cannot be split into rows to fit and rows to judge with, a share of "
            f"{fraction:g}; pass more rows that differ, a minimum of 2 is required"
        )
    return out


def row_hashes(table: Table, target: Target, seed: int) -> Hashes:
    """A number per row that looks random; equal rows have equal numbers, in float32 and in float64."""
    labels = target.number if target.code is None else target.code
    assert labels is not None
    begun = np.uint64(seed * int(STEP) % 2**64)
    hashes = np.empty(table.n_rows, np.uint64)
    # Why blocks: a block stays in the processor's cache through all its columns.
    for block in table.blocks(HASHED_ROWS):
        part = hashes[block.start : block.start + block.n_rows]
        part[:] = _bits(labels[block.start : block.start + block.n_rows]) + begun
        _mix(part)
        for column in block.columns:
            part += STEP
            part += _bits(column)
            _mix(part)
    return hashes


def _smallest(
    hashes: Hashes, rows: NDArray[np.bool_], fraction: float, least: int = 0, kept: int = 0
) -> NDArray[np.bool_]:
    """The rows among these whose hashes are the smallest: this share of the distinct ones, and never the last few."""
    distinct = np.sort(hashes[rows])
    distinct = distinct[np.append(True, distinct[1:] != distinct[:-1])] if len(distinct) else distinct
    count = min(max(round(fraction * len(distinct)), least), len(distinct) - kept)
    if count <= 0:
        return np.zeros(len(hashes), bool)
    chosen: NDArray[np.bool_] = rows & (hashes <= distinct[count - 1])
    return chosen


def _bits(values: NDArray[Any]) -> Hashes:
    exact = values.astype(np.float64)
    exact += 0.0  # minus zero is zero
    exact[np.isnan(exact)] = np.nan
    return exact.view(np.uint64)


def _mix(hashes: Hashes) -> None:
    for shift, factor in ((30, FIRST), (27, SECOND)):
        hashes ^= hashes >> np.uint64(shift)
        hashes *= factor
    hashes ^= hashes >> np.uint64(31)
