"""Floats as integers in the same order: flip the sign bit of what is positive, every bit of what is negative.

A run of leading bits of such a key is a *bucket*: an interval of floats. Counting buckets is how ranks
become sums (radix.py).
"""

from typing import Any

import numpy as np
from numpy.typing import NDArray

Keys = NDArray[np.uint64]


def order_keys(values: NDArray[np.floating[Any]]) -> Keys:
    """The keys of finite values, in the width of their dtype; -0.0 has the key of 0.0."""
    width = 8 * values.dtype.itemsize
    sign = _sign(width)
    bits = (values + values.dtype.type(0)).view(sign.dtype)
    keys: Keys = np.where(bits & sign, ~bits, bits | sign).astype(np.uint64)
    return keys


def key_values(keys: Keys, width: int) -> NDArray[np.float64]:
    """The floats (32 or 64 bits wide) of these keys, as float64."""
    sign = _sign(width)
    bits: NDArray[Any] = keys.astype(sign.dtype)
    values = np.where(bits & sign, bits ^ sign, ~bits).view(np.float32 if width == 32 else np.float64)
    # Why: widening must not warn about the buckets at the ends, which no finite value reaches.
    with np.errstate(invalid="ignore"):
        return values.astype(np.float64)


def _sign(width: int) -> Any:
    return np.uint32(1 << 31) if width == 32 else np.uint64(1 << 63)
