"""The edges of one column, and what happens to values that no bin is for.

This is the one place where the convention lives: bins are closed on the left, the last one on both sides;
values beyond the ends fall into the end bins (``outside="clip"``). Knots are the same edges seen from soft bins.
"""

import math
from collections.abc import Iterable
from dataclasses import asdict, dataclass, replace
from itertools import pairwise
from numbers import Integral, Real
from typing import Any, Literal, get_args

from softbin.errors import OptionError

Missing = Literal["level", "zero", "error"]
Outside = Literal["clip", "linear", "error"]


@dataclass(frozen=True)
class Boundaries:
    """One column's edges, strictly increasing. K+1 edges are K bins; one edge is one bin; none, no bin at all.

    ``missing``: whether NaN has a level of its own, is an all-zero row, or an error. ``special``: codes with a
    level each. ``outside``: where values beyond the ends go. ``period``: (low, high) of a column that wraps.
    ``weight`` and ``mean`` are the training weight and mean value of each bin (empty where unknown),
    ``special_weight`` and ``missing_weight`` those of the other levels; ``note`` says why a rule chose what it chose.

    >>> Boundaries((0.0, 20.0, 35.0)).n_bins
    2
    """

    edges: tuple[float, ...]
    missing: Missing = "error"
    special: tuple[float, ...] = ()
    outside: Outside = "clip"
    period: tuple[float, float] | None = None
    weight: tuple[float, ...] = ()
    mean: tuple[float, ...] = ()
    special_weight: tuple[float, ...] = ()
    missing_weight: float = 0.0
    note: str = ""

    def __post_init__(self) -> None:
        for name in ("edges", "special", "weight", "mean", "special_weight"):
            object.__setattr__(self, name, _floats(name, getattr(self, name)))
        object.__setattr__(self, "missing_weight", _floats("missing_weight", [self.missing_weight])[0])
        _check_edges(self.edges)
        _check_special(self.special)
        if self.missing not in get_args(Missing):
            raise OptionError(f"missing: {self.missing!r} is none of {', '.join(map(repr, get_args(Missing)))}")
        if self.outside not in get_args(Outside):
            raise OptionError(f"outside: {self.outside!r} is none of {', '.join(map(repr, get_args(Outside)))}")
        if self.period is not None:
            object.__setattr__(self, "period", _check_period(self.period))
            self._check_edges_span_period()
        self._check_known()

    def _check_known(self) -> None:
        for name, n in (("weight", self.n_bins), ("mean", self.n_bins), ("special_weight", len(self.special))):
            known = getattr(self, name)
            if len(known) not in (0, n):
                raise OptionError(f"{name}: {len(known)} numbers for {n}; pass one each, or none")
            if not all(map(math.isfinite, known)):
                raise OptionError(f"{name}: not all of {known} are finite; leave it out if it is unknown")

    def _check_edges_span_period(self) -> None:
        if self.edges and (len(self.edges) < 2 or (self.edges[0], self.edges[-1]) != self.period):
            raise OptionError(
                f"edges {self.edges[0]:g} to {self.edges[-1]:g} do not span the period {self.period}; "
                "the first and last edge must be its ends"
            )

    @property
    def n_bins(self) -> int:
        return max(1, len(self.edges) - 1) if self.edges else 0

    @property
    def n_knots(self) -> int:
        """Knots that have a level of their own: on a circle, the last is the first."""
        return len(self.edges) - (self.period is not None and len(self.edges) > 1)

    @property
    def bin_means(self) -> tuple[float, ...]:
        """What stands for each bin: its training mean, or its middle where that is unknown."""
        if self.mean or len(self.edges) < 2:
            return self.mean or self.edges
        return tuple(a + (b - a) / 2 for a, b in pairwise(self.edges))

    def with_edges(self, edges: Iterable[float]) -> "Boundaries":
        """The same column with other edges; what was known of the old bins is dropped."""
        return replace(self, edges=_floats("edges", edges), weight=(), mean=(), note="edges given by hand")

    def merge(self, position: int) -> "Boundaries":
        """Bin ``position`` and the next one as one bin, with their weight and mean.

        >>> Boundaries((0, 1, 2), weight=(1, 3), mean=(0.5, 1.5)).merge(0).mean
        (1.25,)
        """
        if not isinstance(position, Integral) or not 0 <= position < self.n_bins - 1:
            last = self.n_bins - 1
            raise OptionError(f"merge: there is no bin {position!r} with a next one; the bins are 0 to {last}")
        i = position
        edges = self.edges[: i + 1] + self.edges[i + 2 :]
        known = replace(self, edges=edges, weight=(), mean=(), note="bins merged by hand")
        if not (self.weight and self.mean):
            return known
        a, b = self.weight[i : i + 2]
        share = b / (a + b) if a + b > 0 else 0.5
        mean = self.mean[i] + (self.mean[i + 1] - self.mean[i]) * share
        return replace(
            known,
            weight=(*self.weight[:i], a + b, *self.weight[i + 2 :]),
            mean=(*self.mean[:i], mean, *self.mean[i + 2 :]),
        )

    def split(self, at: float) -> "Boundaries":
        """The bin around ``at`` cut in two there; weights and means are unknown afterwards."""
        if not isinstance(at, Real) or not self.edges or not self.edges[0] < at < self.edges[-1] or at in self.edges:
            raise OptionError(f"split: {at!r} is not inside a bin of {_span(self.edges)}; pass a value between edges")
        return replace(self.with_edges(sorted((*self.edges, at))), note="bin split by hand")

    def to_dict(self) -> dict[str, Any]:
        return asdict(self)

    @classmethod
    def from_dict(cls, state: dict[str, Any]) -> "Boundaries":
        period = state.get("period")
        return cls(**{**state, "period": None if period is None else tuple(period)})


def _floats(name: str, numbers: Iterable[Any]) -> tuple[float, ...]:
    try:
        if isinstance(numbers, str):
            raise TypeError(f"{numbers!r} is a word")
        return tuple(float(number) for number in numbers)
    except (TypeError, ValueError, OverflowError) as error:
        raise OptionError(f"{name}: not a sequence of numbers ({error}); pass for example [0, 20, 35]") from None


def _check_edges(edges: tuple[float, ...]) -> None:
    for edge in edges:
        if not math.isfinite(edge):
            raise OptionError(
                f"edges: {edge} is not finite; leave it out: the end bins take all values beyond them anyway"
            )
    for left, right in pairwise(edges):
        if not left < right:
            raise OptionError(f"edges: {left!r} is followed by {right!r}; edges must strictly increase")
    if edges and not math.isfinite(edges[-1] - edges[0]):
        raise OptionError(
            f"edges: {edges[0]:g} to {edges[-1]:g} is wider than a float64 can say; divide the column by 10"
        )


def _check_special(special: tuple[float, ...]) -> None:
    if len(set(special)) < len(special):
        raise OptionError(f"special: a code stands twice in {special}; name each once")
    for code in special:
        if not math.isfinite(code):
            raise OptionError(f"special: {code} cannot be a code; NaN has missing=, infinities have outside=")


def _check_period(period: Any) -> tuple[float, float]:
    ends = _floats("period", period)
    if len(ends) != 2 or not (ends[0] < ends[1] and math.isfinite(ends[1] - ends[0])):
        raise OptionError(f"period: {period!r} is not a pair (low, high) of finite numbers with low < high")
    return ends[0], ends[1]


def _span(edges: tuple[float, ...]) -> str:
    return f"[{edges[0]:g}, {edges[-1]:g}]" if edges else "a column without edges"
