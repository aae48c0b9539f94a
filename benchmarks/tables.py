"""The table that everything is measured on: 28 continuous float32 columns, made here, always the same."""

from collections.abc import Callable
from typing import Any

import numpy as np
from numpy.typing import NDArray

Matrix = NDArray[np.float32]

N_COLUMNS = 28
N_BINS = 10
SHAPES: tuple[Callable[..., Any], ...] = (np.positive, np.exp, np.arctan, np.cbrt)  # of a normal deviate
BLOCK = 100_000


def make_table(n_rows: int, seed: int = 0) -> Matrix:
    """``n_rows`` x 28: normal, log-normal, bounded and two-humped columns. Ties are rare, as the peers need it."""
    random = np.random.default_rng(seed)
    table = np.empty((n_rows, N_COLUMNS), np.float32)
    for start in range(0, n_rows, BLOCK):
        block = table[start : start + BLOCK]
        random.standard_normal(out=block, dtype=np.float32)
        for first, shape in enumerate(SHAPES):
            block[:, first :: len(SHAPES)] = shape(block[:, first :: len(SHAPES)])
    return table
