"""How much a column's curve bends, as a quadratic penalty on the values at its knots or in its bins.

A column is as long as any other: u runs from 0 to 1 over its K bins. With strength s a column costs

    soft bins    s / 2 * integral of f''(u)^2 du    a second difference per inner knot; straight lines are free
    hard bins    s / 2 * integral of f'(u)^2 du     a first difference per inner edge; constants are free

where knots are at equal distances. Where they are not, a straight line must still be free: the second difference of
knot k is twice the distance of its value from the chord between its neighbours, h^2 f'' where they are h away. What is
it worth? Seen in bins (u counts them) as much anywhere: then a curve may bend in the crowded part of a column a lot and
in a thin tail hardly. Seen in the column's own values (x over its range) it is worth h^(-3/2): then a long tail leaves
the crowd a straight line. Which is right depends on the curve, so it is half way here, (h / mean h)^(-3/4). Knots
nearer to each other than NARROW of the mean count as that far: beside a tail long enough a crowd could not bend at all.

A circle has no ends: its differences go round, and only constants are free. Special and missing levels are no part of
a curve and cost nothing.
"""

from collections.abc import Mapping
from dataclasses import dataclass
from functools import cached_property
from numbers import Real
from typing import Any

import numpy as np
import scipy.sparse
from numpy.typing import NDArray

from softbin.encodings.plan import Levels, Plan
from softbin.errors import OptionError
from softbin.values.columns import per_column

Floats = NDArray[np.float64]

AUTO = "auto"
HALF_WAY = 0.75  # 0 are bins, 1.5 the values themselves
NARROW = 0.01


@dataclass(frozen=True, eq=False)
class Bends:
    """What one column's coefficients cost at strength one: half the squared norm of ``rows @ coefficients``."""

    start: int  # of the column's levels
    rows: Any  # sparse, differences x levels of the column
    rank: int

    @property
    def levels(self) -> slice:
        return slice(self.start, self.start + self.rows.shape[1])

    @cached_property
    def matrix(self) -> Any:
        """Sparse, levels x levels of the column."""
        return (self.rows.T @ self.rows).tocsr()


def column_bends(plan: Plan) -> list[Bends]:
    """Of every column of the plan; a column too short to bend has no rows."""
    return [
        Bends(start, *differences(levels))
        for levels, start in zip(plan.columns, plan.level_start[:-1].tolist(), strict=True)
    ]


def differences(levels: Levels) -> tuple[Any, int]:
    """Differences x levels of one column, scaled as above, and their rank."""
    n, n_bins = levels.n_regular, levels.boundaries.n_bins
    if not levels.soft:
        steps = scipy.sparse.diags_array([-1.0, 1.0], offsets=[0, 1], shape=(max(n - 1, 0), levels.count))
        return np.sqrt(n_bins) * steps.tocsr(), max(n - 1, 0)
    gaps = _relative_gaps(np.array(levels.boundaries.edges))
    inner = np.arange(n) if levels.wraps else np.arange(1, max(n - 1, 1))
    before, after = gaps[inner - 1], gaps[inner] if len(inner) else gaps[:0]
    share = before / (before + after)
    worth = 2 * n_bins**1.5 * np.maximum(np.sqrt(before) * np.sqrt(after), NARROW) ** -HALF_WAY
    entries = np.concatenate([(share - 1) * worth, worth, -share * worth])
    columns = np.concatenate([inner - 1, inner, inner + 1]) % max(n, 1)
    rows = np.tile(np.arange(len(inner)), 3)
    matrix = scipy.sparse.coo_array((entries, (rows, columns)), (len(inner), levels.count)).tocsr()
    return matrix, len(inner) - levels.wraps


def _relative_gaps(edges: Floats) -> Floats:
    """Distances of neighbours over their mean, also where the edges fill all that a float64 can hold."""
    near_one = np.ldexp(edges, -np.frexp(np.max(np.abs(edges), initial=0.0))[1])
    gaps = np.maximum(np.diff(near_one), np.finfo(np.float64).tiny)
    return gaps / np.mean(gaps) if len(gaps) else gaps


def read_smoothness(given: Any, plan: Plan) -> Floats | None:
    """One strength per column of the plan; NaN where it is to be found ("auto"), None for no smoothness at all."""
    if given is None:
        return None
    if isinstance(given, str) and given == AUTO:
        return np.full(len(plan.columns), np.nan)
    if isinstance(given, Mapping):
        per_table_column = per_column("smoothness", given, plan.table_labels, 0.0)
    else:
        per_table_column = [given] * plan.n_table_columns
    for value in per_table_column:
        is_number = isinstance(value, (Real, np.number)) and not isinstance(value, (bool, np.bool_))
        if not is_number or not 0 <= value < np.inf:
            raise OptionError(
                f"smoothness: {value!r} is not a strength; pass a finite number, 0 or more, a dict "
                '{column: number}, "auto", or None'
            )
    return np.array([float(per_table_column[at]) for at in plan.source])
