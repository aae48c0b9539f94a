"""Hard bins: a value is a one in the column of its bin.

Paper: common discretization (CD).
"""

from typing import Any

import numpy as np

from softbin.encodings.hat import scatter
from softbin.encodings.locate import Floats, LevelCodes, locate
from softbin.encodings.plan import Levels


def one_hot(values: Floats, levels: Levels, dtype: Any = np.float64) -> Floats:
    """Rows x levels: one where the value's level is, zero elsewhere."""
    level, fraction, _ = locate(values, levels, dtype)
    return scatter(*one_hot_entries(level, fraction, levels), levels.count)


def one_hot_entries(level: LevelCodes, fraction: Floats, levels: Levels) -> tuple[LevelCodes, Floats]:
    """The stored entry of each row, rows x n_entries: its level, and one (zero where it has no level)."""
    none = level == levels.none
    entries, weights = np.where(none, 0, level)[:, None], np.where(none, 0, 1)[:, None]
    return entries[:, : levels.n_entries], weights[:, : levels.n_entries].astype(fraction.dtype)
