"""Soft bins: a value stands on the two knots around it, with weights that interpolate between them.

Paper: local linear encoding (LLE), weight (v_{k+1} - v) / (v_{k+1} - v_k) on knot k and the rest on knot k+1.
"""

from typing import Any

import numpy as np

from softbin.encodings.locate import Floats, LevelCodes, locate
from softbin.encodings.plan import Levels


def hat(values: Floats, levels: Levels, dtype: Any = np.float64) -> Floats:
    """Rows x levels: the weight of every value on every level of its column."""
    level, fraction, _ = locate(values, levels, dtype)
    return scatter(*hat_entries(level, fraction, levels), levels.count)


def hat_entries(level: LevelCodes, fraction: Floats, levels: Levels) -> tuple[LevelCodes, Floats]:
    """The stored entries of each row, rows x n_entries: levels in increasing order, and their weights."""
    alone = level >= levels.n_regular  # special, missing or none
    weight = np.where(level == levels.none, 0, 1).astype(fraction.dtype)
    if levels.n_entries < 2:
        return np.zeros((len(level), levels.n_entries), np.int64), weight[:, None][:, : levels.n_entries]
    first = np.where(alone, np.maximum(np.where(level == levels.none, 0, level - 1), 0), level)
    second = first + 1
    upper = np.where(alone, np.where(level == 0, 0, weight), fraction)
    lower = np.where(alone, np.where(level == 0, weight, 0), 1 - fraction)
    if levels.wraps:
        last = ~alone & (level == levels.n_regular - 1)
        first, second = np.where(last, 0, first), np.where(last, level, second)
        lower, upper = np.where(last, fraction, lower), np.where(last, 1 - fraction, upper)
    return np.stack([first, second], axis=1), np.stack([lower, upper], axis=1).astype(fraction.dtype)


def scatter(entries: LevelCodes, weights: Floats, n_levels: int) -> Floats:
    """Stored entries as a dense matrix."""
    dense = np.zeros((len(entries), n_levels), weights.dtype)
    np.put_along_axis(dense, entries, weights, axis=1)
    return dense
