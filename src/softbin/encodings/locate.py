"""Where a value falls: its level and how far into the bin it lies. The definition all encodings share."""

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from softbin.encodings.plan import Levels

LevelCodes = NDArray[np.int64]
Floats = NDArray[np.floating[Any]]


@dataclass
class Faults:
    """How many values of one column stood in the way: missing, or beyond the ends."""

    missing: int = 0
    outside: int = 0


def locate(values: Floats, levels: Levels, dtype: Any = np.float64) -> tuple[LevelCodes, Floats, Faults]:
    """Level, fraction and faults of a column's values.

    A regular value gets its bin and the fraction (v - left edge) / (right edge - left edge), kept in [0, 1] unless
    ``outside="linear"``. Special codes and missing get their level and fraction 0.
    """
    b = levels.boundaries
    codes = special_codes(b.special, values.dtype)
    values = wrap(values, b.period, b.special)
    x = values.astype(np.float64)
    edges = np.array(b.edges)
    level = np.searchsorted(edges[1:-1], x, side="right")
    # Why: searchsorted puts NaN last, and NaN is no bin at all.
    level[np.isnan(x)] = 0
    fraction = np.zeros(len(x), dtype)
    # Why not on a circle with a single knot: it takes all the weight.
    if len(edges) > 1 and not (levels.soft and levels.n_regular < 2):
        with np.errstate(over="ignore"):
            fraction[:] = (x - edges[level]) / np.diff(edges)[level]
    if b.outside != "linear":
        fraction = np.where(fraction > 0, np.minimum(fraction, 1), 0).astype(dtype)
    fraction += 0  # no -0.0
    missing = np.isnan(x)
    ordinary = ~missing & ~np.isin(values, codes)
    if not b.edges:
        level[ordinary] = levels.missing
    for position, code in enumerate(codes):
        level[values == code] = levels.n_regular + position
    level[missing] = levels.missing
    fraction[~ordinary] = 0
    faults = Faults(missing=int(missing.sum()) if b.missing == "error" else 0)
    if b.outside == "error" and b.edges and b.period is None:
        faults.outside = int(np.sum(ordinary & ((x < edges[0]) | (x > edges[-1]))))
    elif b.edges and (b.outside == "linear" or b.period is not None):
        faults.outside = int(np.sum(ordinary & np.isinf(x)))
    return level, fraction, faults


def wrap(values: Floats, period: tuple[float, float] | None, special: tuple[float, ...] = ()) -> Floats:
    """Values of a periodic column moved into [low, high]; special codes, NaN and infinities stay."""
    if period is None:
        return values
    low, high = period
    exact = values.astype(np.float64)
    # Why: inside, a value stays what it is to the last bit.
    inside = (exact >= low) & (exact < high)
    movable = np.isfinite(values) & ~inside & ~np.isin(values, special_codes(special, values.dtype))
    with np.errstate(invalid="ignore"):
        wrapped = (low + np.mod(exact - low, high - low)).astype(values.dtype)
    # Why: rounding may leave the period at either end, and both ends are `low`, rounded up to stay inside.
    reached = wrapped.astype(np.float64)
    start = values.dtype.type(low)
    start = start if float(start) >= low else np.nextafter(start, values.dtype.type(np.inf))
    wrapped[(reached >= high) | (reached < low)] = start
    moved: Floats = np.where(movable, wrapped, values)
    return moved


def special_codes(special: tuple[float, ...], dtype: Any) -> Floats:
    """The codes as a column of this dtype spells them; NaN, which equals nothing, where it cannot."""
    with np.errstate(over="ignore"):
        codes: Floats = np.array(special, np.float64).astype(dtype)
    return np.where(np.isfinite(codes), codes, np.array(np.nan, dtype))
