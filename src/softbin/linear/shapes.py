"""Shapes a column's curve must have: increasing, decreasing, convex or concave, exactly.

A column's coefficients are beta = T gamma with a square T, such that the shape is gamma_i >= 0 for some i and nothing
else. For "increasing" gamma are the first value and the steps from each value to the next; for "convex" the first
value, the first slope, and at each inner knot the change of slope. A falling curve and a concave one are the negative
of these. Hard bins have their values in the middle of their edges. Special and missing levels are free.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Literal, get_args

import numpy as np
from numpy.typing import NDArray

from softbin.encodings.plan import Levels, Plan
from softbin.errors import OptionError
from softbin.linear.curvature import Matrix
from softbin.values.columns import per_column

Row = NDArray[np.float64]
Shape = Literal["increasing", "decreasing", "convex", "concave"]


def read_shapes(given: Any, plan: Plan) -> tuple[Shape | None, ...]:
    """One shape, or None, for every column of the plan."""
    if given is None:
        return (None,) * len(plan.columns)
    if not isinstance(given, Mapping):
        raise OptionError(f'monotonic: {given!r} is no dict; pass for example {{"age": "increasing"}}')
    wanted = per_column("monotonic", given, plan.table_labels, None)
    names = get_args(Shape)
    for label, shape, at in zip(plan.table_labels, wanted, range(plan.n_table_columns), strict=True):
        if shape is None:
            continue
        if not isinstance(shape, str) or shape not in names:
            raise OptionError(f"monotonic: column {label!r} cannot be {shape!r}; pass {', '.join(map(repr, names))}")
        circle = any(levels.wraps for levels, source in zip(plan.columns, plan.source, strict=True) if source == at)
        if circle:
            raise OptionError(f"monotonic: column {label!r} has a period, and a circle is not {shape}; leave one out")
    return tuple(wanted[at] for at in plan.source)


@dataclass(frozen=True, eq=False)
class Form:
    """T of one column's values, as sums and differences along the first axis."""

    values: slice
    sign: Row  # of every gamma
    gaps: Row | None  # between the places of the values, where gamma are changes of slope

    @classmethod
    def of(cls, levels: Levels, shape: Shape, start: int) -> "Form":
        curved = shape in ("convex", "concave")
        sign = np.full(levels.n_regular, 1.0 if shape in ("increasing", "convex") else -1.0)
        sign[: 2 if curved else 1] = 1
        return cls(slice(start, start + levels.n_regular), sign, np.diff(places(levels)) if curved else None)

    @property
    def first(self) -> int:
        """The first parameter whose gamma may not be negative."""
        return self.values.start + (1 if self.gaps is None else 2)

    def enter(self, beta: Row) -> Row:
        """T^-1 beta."""
        gamma = beta.copy()
        gamma[1:] = np.diff(beta)
        if self.gaps is not None:
            gamma[1:] /= self.gaps
            gamma[2:] = np.diff(gamma[1:])
        return gamma * self.sign

    def leave(self, gamma: Row) -> Row:
        """T gamma."""
        beta = gamma * self.sign
        if self.gaps is not None:
            beta[1:] = np.cumsum(beta[1:]) * self.gaps
        return np.cumsum(beta)

    def slopes(self, gradient: NDArray[np.float64]) -> NDArray[np.float64]:
        """T' gradient; of a matrix, of each of its columns."""
        sums = _sums_behind(gradient.T)
        if self.gaps is not None:
            sums[..., 1:] = _sums_behind(sums[..., 1:] * self.gaps)
        return (sums * self.sign).T

    def gradient(self, slopes: Row) -> Row:
        """T'^-1 slopes."""
        sums = slopes * self.sign
        if self.gaps is not None:
            sums[1:] = -np.diff(sums[1:], append=0) / self.gaps
        return -np.diff(sums, append=0)


def _sums_behind(rows: NDArray[np.float64]) -> NDArray[np.float64]:
    """Of every entry: itself and what stands behind it."""
    return np.cumsum(rows[..., ::-1], axis=-1)[..., ::-1]


@dataclass(frozen=True, eq=False)
class Bounds:
    """gamma of all parameters (the intercept is last and free), and which of them may not be negative."""

    forms: Sequence[Form]
    at_least_zero: NDArray[np.int64]

    @classmethod
    def of(cls, plan: Plan, shapes: Sequence[Shape | None]) -> "Bounds":
        columns = zip(plan.columns, shapes, plan.level_start[:-1].tolist(), strict=True)
        forms = [Form.of(levels, shape, start) for levels, shape, start in columns if shape is not None]
        return cls(forms, np.concatenate([np.arange(form.first, form.values.stop) for form in forms]))

    def enter(self, beta: Row) -> Row:
        """gamma."""
        gamma = beta.copy()
        for form in self.forms:
            gamma[form.values] = form.enter(beta[form.values])
        return gamma

    def leave(self, gamma: Row) -> Row:
        """beta."""
        beta = gamma.copy()
        for form in self.forms:
            beta[form.values] = form.leave(gamma[form.values])
        return beta

    def slopes(self, gradient: Row) -> Row:
        """The gradient by gamma."""
        slopes = gradient.copy()
        for form in self.forms:
            slopes[form.values] = form.slopes(gradient[form.values])
        return slopes

    def gradient(self, slopes: Row) -> Row:
        """The gradient by beta."""
        gradient = slopes.copy()
        for form in self.forms:
            gradient[form.values] = form.gradient(slopes[form.values])
        return gradient

    def between(self, matrix: Matrix) -> Matrix:
        """T' matrix T, in the place of the matrix."""
        for form in self.forms:
            matrix[form.values] = form.slopes(matrix[form.values])
        for form in self.forms:
            matrix[:, form.values] = form.slopes(matrix[:, form.values].T).T
        return matrix


def places(levels: Levels) -> Row:
    """Where a column's values stand: knots, or the middles of bins; from 0 to 1."""
    edges = np.array(levels.boundaries.edges)
    at = edges if levels.soft or len(edges) < 2 else (edges[1:] + edges[:-1]) / 2
    return (at - at[:1]) / (np.ptp(at) or 1.0) if len(at) else at


def exactly(beta: Row, plan: Plan, shapes: Sequence[Shape | None]) -> Row:
    """Without the last digits by which sums of steps that are not negative may still fall."""
    result = beta.copy()
    for levels, shape, start in zip(plan.columns, shapes, plan.level_start[:-1].tolist(), strict=True):
        values = result[start : start + levels.n_regular]
        if shape == "increasing":
            values[:] = np.maximum.accumulate(values)
        elif shape == "decreasing":
            values[:] = np.minimum.accumulate(values)
    return result
