"""What a model says about one column: a curve, and how sure it is.

A curve is linear in the coefficients, so the curve of unit vectors is the matrix that takes one to the other. Standard
errors are the square roots of the diagonal of that matrix around the coefficients' covariance. With a penalty the
covariance is that of the Bayesian reading of it, which contains the bias of smoothing: bands cover as often as they say
on average over a curve, not at every single point of it (Nychka 1988).
"""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy.stats import norm

from softbin.encodings.plan import Plan
from softbin.engines.threads import one_blas_thread
from softbin.errors import OptionError
from softbin.linear.objective import Parameters
from softbin.linear.sum_curves import sum_curves

Floats = NDArray[np.float64]


@dataclass(frozen=True)
class Curve:
    """One column's share of the score, centred on the training rows.

    ``knots``: knots of soft bins, edges of hard ones (one more than values). ``special`` and ``missing`` are the
    values of these levels (None without one). ``average`` was taken out of all of them. With several classes
    ``values`` is classes x levels, the others have one number per class.

    With a confidence, ``lower`` and ``upper`` are the ends of a band around ``values``, point by point;
    ``special_band`` and ``missing_band`` are such pairs for the other levels. None without.
    """

    column: str
    knots: Floats
    values: Floats
    special: dict[float, Any]
    missing: Any
    average: Any
    lower: Floats | None = None
    upper: Floats | None = None
    special_band: dict[float, tuple[Any, Any]] | None = None
    missing_band: tuple[Any, Any] | None = None


def curve_of(plan: Plan, position: int, parameters: Parameters, level_weight: Floats) -> Curve:
    """The curve of a table's column, of parameters outputs x (levels + 1)."""
    label = plan.table_labels[position]
    curves = [
        _one_curve(plan, j, label, parameters, level_weight) for j, at in enumerate(plan.source) if at == position
    ]
    if not curves:
        none = np.zeros(0) if len(parameters) == 1 else np.zeros((len(parameters), 0))
        return Curve(label, np.zeros(0), none, {}, None, _one(np.zeros(len(parameters)), none.ndim == 1))
    return sum_curves(curves, plan.soft)


def _one_curve(plan: Plan, position: int, label: str, parameters: Parameters, level_weight: Floats) -> Curve:
    """The curve of one column of the plan."""
    levels = plan.columns[position]
    start, regular, b = int(plan.level_start[position]), levels.n_regular, levels.boundaries
    coef = parameters[:, :-1][:, start : start + levels.count]
    weight = level_weight[start : start + levels.count]
    average = coef @ weight / weight.sum() if weight.sum() > 0 else np.zeros(len(coef))
    centred = coef - average[:, None]
    values = centred[:, :regular]
    if levels.wraps:
        values = np.concatenate([values, values[:, :1]], axis=1)
    plain = len(coef) == 1
    special = {code: _one(centred[:, regular + s], plain) for s, code in enumerate(b.special)}
    missing = _one(centred[:, levels.missing], plain) if b.missing == "level" else None
    knots = np.array(b.edges)
    return Curve(label, knots, _one(values, plain), special, missing, _one(average, plain))


def curve_errors(
    plan: Plan, position: int, covariance: Sequence[Floats], level_weight: Floats, unit: float = 1.0
) -> Curve:
    """The standard errors of a curve, in the shape of the curve.

    ``covariance``: by output, that of the coefficients of all columns of the plan that read the column, in squares of
    ``unit``.
    """
    spans = [np.arange(*plan.level_start[j : j + 2]) for j, at in enumerate(plan.source) if at == position]
    levels = np.concatenate(spans) if spans else np.zeros(0, np.int64)
    # Why one more row: a curve of one output alone has no axis for it.
    one = np.zeros((len(levels) + 1, plan.n_levels + 1))
    one[np.arange(len(levels)), levels] = 1
    moves = curve_of(plan, position, one, level_weight)

    def error(move: Any) -> Any:
        m = np.asarray(move)[:-1]
        with one_blas_thread():
            found = [unit * np.sqrt(np.maximum(((V @ m) * m).sum(axis=0), 0)) for V in covariance]
        return _one(np.stack(found), len(found) == 1)

    special = {code: error(move) for code, move in moves.special.items()}
    missing = None if moves.missing is None else error(moves.missing)
    return replace(moves, values=error(moves.values), special=special, missing=missing, average=0.0)


def with_band(curve: Curve, errors: Curve, confidence: Any) -> Curve:
    """The curve with the ends of its band, point by point."""
    is_number = isinstance(confidence, (float, np.floating))
    if not is_number or not 0 < confidence < 1:
        raise OptionError(f"confidence: {confidence!r} is not a share; pass a number between 0 and 1, for example 0.95")
    times = float(norm.ppf(0.5 + confidence / 2))

    def ends(value: Any, error: Any) -> tuple[Any, Any]:
        return value - times * error, value + times * error

    lower, upper = ends(curve.values, errors.values)
    special = {code: ends(value, errors.special[code]) for code, value in curve.special.items()}
    missing = None if curve.missing is None else ends(curve.missing, errors.missing)
    return replace(curve, lower=lower, upper=upper, special_band=special, missing_band=missing)


def _one(numbers: Any, plain: bool) -> Any:
    """A single output without its axis."""
    if not plain:
        return numbers
    return float(numbers[0]) if np.ndim(numbers) == 1 else numbers[0]
