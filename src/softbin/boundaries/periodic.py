"""A column that wraps, such as the hour of a day: any rule, on a circle.

The edges span the whole period, so the last knot is the first one again and 23:59 lies next to 00:00.
"""

from dataclasses import dataclass, replace
from typing import Any

from softbin.boundaries.boundaries import Boundaries
from softbin.boundaries.rule import AnyRule, AskedKind, asked_target
from softbin.boundaries.user_edges import UserEdges
from softbin.summaries.rank_histogram import RankHistogram
from softbin.summaries.target_counts import TargetCounts


@dataclass(frozen=True)
class Periodic:
    """``rule`` on values that were moved into [low, high).

    >>> import numpy as np
    >>> from softbin.boundaries import Uniform
    >>> from softbin.summaries import RankHistogram
    >>> hours = RankHistogram.of(np.linspace(0.5, 23.5, 47))
    >>> Periodic(Uniform(4), (0.0, 24.0)).boundaries(hours).edges
    (0.0, 6.0, 12.0, 18.0, 24.0)
    """

    rule: AnyRule
    period: tuple[float, float]

    def __post_init__(self) -> None:
        object.__setattr__(self, "period", Boundaries((), period=self.period).period)

    @property
    def target(self) -> AskedKind | None:
        """What the rule looks at beside the column."""
        return asked_target(self.rule)

    def boundaries(self, summary: RankHistogram | TargetCounts, *, knots: bool = False) -> Boundaries:
        low, high = self.period
        spanning: Any = replace(summary, minimum=low, maximum=high)
        found = self.rule.boundaries(spanning, knots=knots)
        if isinstance(self.rule, UserEdges):
            return replace(found, period=self.period)
        inner = [edge for edge in found.edges if low < edge < high]
        most = max(1, getattr(self.rule, "n_bins", found.n_bins))
        # The ends of the period take the places of the smallest and the largest value.
        if len(inner) > most - 1 and found.edges[0] > low:
            inner = inner[1:]
        if len(inner) > most - 1 and found.edges[-1] < high:
            inner = inner[:-1]
        return replace(found, edges=(low, *inner, high), period=self.period)
