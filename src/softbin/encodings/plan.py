"""How the levels of a grid are laid out as output columns: made once, read by every encoding.

The levels of a column: its bins (hard) or knots (soft), then one per special code, then missing. A value whose
row stays all-zero has the code ``none``, one past the last level.

A column of a plan is one Boundaries. It reads the table column of the same position, unless ``views`` says which: then
one table column may be binned several times (MultiBins) or not at all. Everything that works on rows takes tables that
have one column per plan column, ``plan.view(table)``: views of the caller's columns, no copies.
"""

from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import NDArray

from softbin import kernels
from softbin.boundaries.boundaries import Boundaries
from softbin.boundaries.grid import Grid
from softbin.values.tables import Table, default_names

OUTSIDE_CODES = {"clip": 0, "linear": 1, "error": 2}
MISSING_CODES = {"zero": -1, "error": -2}


@dataclass(frozen=True)
class Levels:
    """One column's levels."""

    boundaries: Boundaries
    soft: bool

    @property
    def n_regular(self) -> int:
        return self.boundaries.n_knots if self.soft else self.boundaries.n_bins

    @property
    def missing(self) -> int:
        """The level of NaN; ``none`` where it has no level."""
        return self.n_regular + len(self.boundaries.special)

    @property
    def none(self) -> int:
        return self.missing + (self.boundaries.missing == "level")

    @property
    def count(self) -> int:
        return self.none

    @property
    def n_entries(self) -> int:
        """Stored entries per row of CSR output: a fixed number, so that blocks of rows can be written apart."""
        return min(self.count, 2 if self.soft else 1)

    @property
    def wraps(self) -> bool:
        return self.soft and self.boundaries.period is not None and self.n_regular > 1


@dataclass(frozen=True)
class Views:
    """Which column of a table each column of a plan reads, and what is known of that table."""

    source: tuple[int, ...]
    n_columns: int
    names: tuple[str, ...] | None = None


@dataclass(frozen=True, eq=False)
class Plan:
    """The layout of a whole grid under hard or soft bins, and the same as the compiled kernels want it."""

    grid: Grid
    soft: bool
    views: Views | None = None

    @property
    def source(self) -> tuple[int, ...]:
        """The table column that each column of the plan reads."""
        return tuple(range(len(self.grid))) if self.views is None else self.views.source

    @property
    def n_table_columns(self) -> int:
        return len(self.grid) if self.views is None else self.views.n_columns

    @property
    def table_names(self) -> tuple[str, ...] | None:
        """The column names of the table; None where it has none."""
        return self.grid.names if self.views is None else self.views.names

    @property
    def table_labels(self) -> tuple[str, ...]:
        """The column names of the table, or x0, x1, ..."""
        return self.table_names or default_names(self.n_table_columns)

    def view(self, table: Table) -> Table:
        """The table as the columns of this plan read it; the table itself where they read one each."""
        return table if self.views is None else table.take(self.views.source)

    def renamed(self, names: tuple[str, ...]) -> "Plan":
        """The plan of a table with these column names."""
        if self.views is None:
            return replace(self, grid=replace(self.grid, names=names))
        # Where a table column is read several times, its name begins the names of all of them: age:10, age:100.
        old, pairs = self.table_labels, zip(self.source, self.grid.labels, strict=True)
        own = tuple(names[at] + label.removeprefix(old[at]) for at, label in pairs)
        return replace(self, grid=replace(self.grid, names=own), views=replace(self.views, names=names))

    @cached_property
    def columns(self) -> tuple[Levels, ...]:
        return tuple(Levels(boundaries, self.soft) for boundaries in self.grid)

    @cached_property
    def level_start(self) -> NDArray[np.int64]:
        """The first output column of each column; one more, the number of output columns, at the end."""
        return np.cumsum([0, *(levels.count for levels in self.columns)])

    @cached_property
    def entry_start(self) -> NDArray[np.int64]:
        """The first stored entry of each column in a row of CSR output; the number of entries at the end."""
        return np.cumsum([0, *(levels.n_entries for levels in self.columns)])

    @property
    def n_levels(self) -> int:
        return int(self.level_start[-1])

    @property
    def n_entries(self) -> int:
        return int(self.entry_start[-1])

    @cached_property
    def code_dtype(self) -> np.dtype[Any]:
        """The smallest unsigned integers that hold every level, and ``none`` where a row can stay all-zero."""
        most = 0
        for levels in self.columns:
            can_be_none = levels.boundaries.missing == "zero" or levels.count == 0
            most = max(most, levels.count - 1 + can_be_none)
        return np.min_scalar_type(most)

    @cached_property
    def compiled(self) -> Any:
        """The plan of the compiled kernels, or None where the definitions run."""
        if kernels.compiled is None:
            return None
        special = [code for b in self.grid for code in b.special]
        edges = [edge for b in self.grid for edge in b.edges]
        return kernels.compiled.Plan(
            edges,
            np.cumsum([0, *(len(b.edges) for b in self.grid)]).tolist(),
            special,
            np.cumsum([0, *(len(b.special) for b in self.grid)]).tolist(),
            [levels.n_regular for levels in self.columns],
            [MISSING_CODES.get(c.boundaries.missing, c.missing) for c in self.columns],
            [OUTSIDE_CODES[b.outside] for b in self.grid],
            [b.period is not None for b in self.grid],
            self.soft,
        )

    def __reduce__(self) -> tuple[Any, ...]:
        # Why: what is cached is made again where it is needed; the compiled plan cannot travel.
        return Plan, (self.grid, self.soft, self.views)
