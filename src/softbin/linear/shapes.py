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
class Bounds:
    """gamma of all parameters (the intercept is last and free), and which of them may not be negative."""

    parts: Sequence[tuple[slice, Matrix, Matrix]]  # levels of a column, T and its inverse
    at_least_zero: NDArray[np.int64]

    @classmethod
    def of(cls, plan: Plan, shapes: Sequence[Shape | None]) -> "Bounds":
        parts: list[tuple[slice, Matrix, Matrix]] = []
        bounded = [np.zeros(0, np.int64)]
        for levels, shape, start in zip(plan.columns, shapes, plan.level_start[:-1].tolist(), strict=True):
            if shape is None:
                continue
            T, first = transform(levels, shape)
            parts.append((slice(start, start + levels.count), T, np.asarray(np.linalg.inv(T), np.float64)))
            bounded.append(start + np.arange(first, levels.n_regular))
        return cls(parts, np.concatenate(bounded))

    def enter(self, beta: Row) -> Row:
        """gamma."""
        gamma = beta.copy()
        for levels, _, back in self.parts:
            gamma[levels] = back @ beta[levels]
        return gamma

    def leave(self, gamma: Row) -> Row:
        """beta."""
        beta = gamma.copy()
        for levels, T, _ in self.parts:
            beta[levels] = T @ gamma[levels]
        return beta

    def slopes(self, gradient: Row) -> Row:
        """The gradient by gamma."""
        slopes = gradient.copy()
        for levels, T, _ in self.parts:
            slopes[levels] = T.T @ gradient[levels]
        return slopes

    def between(self, matrix: Matrix) -> Matrix:
        """T' matrix T."""
        result = matrix.copy()
        for levels, T, _ in self.parts:
            result[levels] = T.T @ result[levels]
        for levels, T, _ in self.parts:
            result[:, levels] = result[:, levels] @ T
        return result


def transform(levels: Levels, shape: Shape) -> tuple[Matrix, int]:
    """T of a column, and the first of its gamma that may not be negative."""
    n = levels.n_regular
    T = np.eye(levels.count)
    sign = 1.0 if shape in ("increasing", "convex") else -1.0
    if shape in ("increasing", "decreasing"):
        T[:n, :n] = np.tril(np.ones((n, n)))
        T[:n, 1:n] *= sign
        return T, 1
    at = places(levels)
    T[:n, 0] = 1
    T[:n, 1:n] = np.maximum(at[:, None] - at[: n - 1], 0)
    T[:n, 2:n] *= sign
    return T, 2


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
