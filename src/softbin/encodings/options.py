"""What a user asked for, column by column: options are read once, here, and are values from then on."""

import dataclasses
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from numbers import Real
from typing import Any, Literal, get_args

import numpy as np
from numpy.typing import NDArray

from softbin.boundaries.boundaries import Boundaries, Outside
from softbin.boundaries.periodic import Periodic
from softbin.boundaries.rule import AnyRule, check_n_bins
from softbin.boundaries.strategies import STRATEGIES
from softbin.boundaries.user_edges import UserEdges
from softbin.encodings.locate import special_codes, wrap
from softbin.errors import OptionError
from softbin.values.columns import per_column
from softbin.values.tables import Column, Table, Weight

MissingOption = Literal["auto", "level", "zero", "error"]
DEFAULT_N_BINS = 10


@dataclass(frozen=True)
class ColumnOptions:
    """How one column is to be binned."""

    rule: AnyRule
    asked: int
    missing: MissingOption
    special: tuple[float, ...]
    outside: Outside
    period: tuple[float, float] | None


@dataclass(frozen=True)
class Options:
    """An encoder's options as the user wrote them, before any table is known."""

    n_bins: Any = DEFAULT_N_BINS
    strategy: Any = "quantile"
    edges: Any = None
    missing: Any = "auto"
    special: Any = None
    outside: Any = "clip"
    period: Any = None
    outsides: tuple[str, ...] = get_args(Outside)

    def per_column(self, labels: tuple[str, ...]) -> list[ColumnOptions]:
        """One value per column, or an error that says which option is wrong for which column."""
        missing = one_of("missing", self.missing, get_args(MissingOption))
        outside = one_of("outside", self.outside, self.outsides)
        n_bins = self._n_bins(labels)
        edges: list[Any] = [None] * len(labels) if self.edges is None else self._edges(labels)
        special = self._special(labels)
        period: list[Any] = (
            [None] * len(labels) if self.period is None else per_column("period", self.period, labels, None)
        )
        found = []
        for j, label in enumerate(labels):
            try:
                rule = self._rule(n_bins[j]) if edges[j] is None else UserEdges(edges[j])
                asked = len(rule.edges) - 1 if isinstance(rule, UserEdges) else getattr(rule, "n_bins", n_bins[j])
                rule = rule if period[j] is None else Periodic(rule, period[j])
                codes = Boundaries((), special=special[j]).special
            except (OptionError, TypeError) as error:
                raise OptionError(f"column {label!r}: {error}") from None
            ends = rule.period if isinstance(rule, Periodic) else None
            found.append(ColumnOptions(rule, asked, missing, codes, outside, ends))
        return found

    def _n_bins(self, labels: tuple[str, ...]) -> list[int]:
        if isinstance(self.n_bins, (Mapping, list, tuple, np.ndarray)):
            counts = per_column("n_bins", self.n_bins, labels, DEFAULT_N_BINS)
        else:
            counts = [self.n_bins] * len(labels)
        return [check_n_bins(count) for count in counts]

    def _edges(self, labels: tuple[str, ...]) -> list[Any]:
        if (
            isinstance(self.edges, Iterable)
            and not isinstance(self.edges, Mapping)
            and any(isinstance(entry, Real) for entry in self.edges)
        ):
            raise OptionError(
                "edges: a flat list of numbers does not say for which column; pass {column: [edges]}, "
                "or a list with one list of edges (or None) per column"
            )
        return per_column("edges", self.edges, labels, None)

    def _special(self, labels: tuple[str, ...]) -> list[tuple[float, ...]]:
        if self.special is None:
            return [()] * len(labels)
        if isinstance(self.special, Mapping):
            return [_codes(given) for given in per_column("special", self.special, labels, ())]
        return [_codes(self.special)] * len(labels)

    def _rule(self, n_bins: int) -> AnyRule:
        if isinstance(self.strategy, str):
            name = one_of("strategy", self.strategy, tuple(STRATEGIES))
            return STRATEGIES[name](n_bins)  # type: ignore[call-arg]
        if not callable(getattr(self.strategy, "boundaries", None)):
            raise OptionError(
                f"strategy: {self.strategy!r} is neither one of {', '.join(map(repr, STRATEGIES))} "
                "nor an object with boundaries(histogram, knots=...)"
            )
        own = getattr(self.strategy, "n_bins", n_bins)
        if n_bins not in (own, DEFAULT_N_BINS):
            raise OptionError(f"n_bins: {n_bins} contradicts strategy={self.strategy!r}; leave n_bins out")
        rule: AnyRule = self.strategy
        return rule


def one_of(option: str, given: Any, allowed: Iterable[str]) -> Any:
    """``given`` if it is allowed, else an error that lists what is."""
    if not isinstance(given, str) or given not in allowed:
        raise OptionError(f"{option}: {given!r} is not one of {', '.join(map(repr, allowed))}")
    return given


def _codes(given: Any) -> tuple[float, ...]:
    if isinstance(given, Real):
        return (float(given),)
    if isinstance(given, str) or not isinstance(given, Iterable):
        raise OptionError(f"special: {given!r} is not a code or a list of codes; pass for example [-999]")
    return tuple(given)


def ordinary_values(table: Table, options: list[ColumnOptions]) -> tuple[Table, list[tuple[int, ...]]]:
    """The table as rules should see it, and each special code's weight in units.

    Periodic values move into their period, then special codes become NaN; all other columns are the same arrays.
    """
    columns: list[Column] = []
    weights = []
    for column, asked in zip(table.columns, options, strict=True):
        column = wrap(column, asked.period, asked.special)
        special = special_codes(asked.special, column.dtype)
        weights.append(tuple(_weight_of(column == code, table.weight) for code in special))
        if asked.special:
            column = np.where(np.isin(column, special), column.dtype.type(np.nan), column)
        columns.append(column)
    return dataclasses.replace(table, columns=tuple(columns)), weights


def _weight_of(rows: NDArray[np.bool_], weight: Weight | None) -> int:
    return int(np.count_nonzero(rows) if weight is None else weight[rows].sum())
