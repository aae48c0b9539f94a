"""A column that is binned several times has one curve all the same: the sum of those of its granularities.

Between the edges of all of them together every one is a constant (hard bins) or a straight line (soft bins), and so is
their sum. Beyond its own ends a curve goes on as it ends.
"""

from collections.abc import Sequence
from dataclasses import replace
from functools import reduce
from operator import add
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

if TYPE_CHECKING:
    from softbin.linear.curve import Curve

Floats = NDArray[np.float64]


def sum_curves(curves: Sequence["Curve"], soft: bool) -> "Curve":
    """The curve of a column from those of its granularities (one or more); the only one is itself."""
    if len(curves) == 1:
        return curves[0]
    knots = reduce(np.union1d, [curve.knots for curve in curves])
    at = knots if soft or len(knots) < 2 else knots[:-1]
    values = _total(_values_at(curve, at, soft) for curve in curves)
    special = {code: _total(curve.special[code] for curve in curves) for code in curves[0].special}
    missing = None if curves[0].missing is None else _total(curve.missing for curve in curves)
    average = _total(curve.average for curve in curves)
    return replace(curves[0], knots=knots, values=values, special=special, missing=missing, average=average)


def _values_at(curve: "Curve", at: Floats, soft: bool) -> Floats:
    if soft:
        rows = [np.interp(at, curve.knots, row) for row in np.atleast_2d(curve.values)]
        return np.reshape(rows, (*curve.values.shape[:-1], len(at)))
    bins: Floats = curve.values[..., np.searchsorted(curve.knots[1:-1], at, side="right")]
    return bins


def _total(parts: Any) -> Any:
    return reduce(add, parts)
