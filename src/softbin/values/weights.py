"""Sample weights as integers.

The one idea: integers add up to the same bits in any order. Weights are counted in *units*, a power of
two chosen so that 2^62 holds all of them; whole-number weights are their own units. So weight 2 is
exactly a row twice, weight 0 exactly a row that is absent, and every sum over blocks is exact.
"""

from typing import Any

import numpy as np

from softbin.errors import DataError, DataTypeError
from softbin.values.tables import Weight


def read_weight(sample_weight: Any, n_rows: int) -> tuple[Weight | None, float]:
    """Whole units per row (None: one each), and the weight of one unit."""
    if sample_weight is None:
        return None, 1.0
    weight = _checked(sample_weight, n_rows)
    whole = bool(np.all(weight == np.floor(weight)))
    if whole and weight.max() < 2.0 ** (62 - n_rows.bit_length()):
        return weight.astype(np.int64), 1.0
    # Why: every row can weigh 2^exponent at most, so no sum of them passes 2^62; no float is finer than 2^-1074.
    exponent = min(62 - n_rows.bit_length() - int(np.frexp(weight.max())[1]), 1074)
    units = np.rint(np.ldexp(weight, exponent)).astype(np.int64)
    return np.maximum(units, weight > 0), float(np.ldexp(1.0, -exponent))


def _checked(sample_weight: Any, n_rows: int) -> np.ndarray[Any, np.dtype[np.float64]]:
    try:
        weight = np.asarray(sample_weight)
        if weight.dtype.kind not in "biufO":
            raise TypeError(f"they are {weight.dtype}")
        weight = weight.astype(np.float64)
    except (TypeError, ValueError) as error:
        raise DataTypeError(f"sample_weight: not numbers ({error}); pass one number per row") from None
    if weight.ndim == 0:
        weight = np.full(n_rows, float(weight))
    if weight.ndim != 1:
        raise DataError(f"sample_weight: Sample weights must be 1D array or scalar, got shape {weight.shape}")
    if len(weight) != n_rows:
        raise DataError(
            f"sample_weight: {len(weight)} weights for {n_rows} rows (sample_weight.shape == "
            f"{weight.shape}, expected {(n_rows,)}); pass one weight per row"
        )
    bad = int(np.sum(~np.isfinite(weight)))
    if bad:
        raise DataError(f"sample_weight: {bad} weights are NaN or infinite; pass finite weights")
    negative = int(np.sum(weight < 0))
    if negative:
        raise DataError(f"sample_weight: {negative} weights are negative; weights count rows, so 0 at least")
    if not weight.any():
        raise DataError("sample_weight: all weights are zero, so there is nothing to fit; give some a weight")
    with np.errstate(over="ignore"):
        total = weight.sum()
    if not np.isfinite(total):
        raise DataError("sample_weight: the weights add up to more than a float64 can say; divide them by 1e10")
    return weight
