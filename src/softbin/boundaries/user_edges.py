"""Edges a user wrote down: used exactly as they are."""

from dataclasses import dataclass

from softbin.boundaries.boundaries import Boundaries
from softbin.errors import OptionError
from softbin.summaries.rank_histogram import RankHistogram


@dataclass(frozen=True)
class UserEdges:
    """These edges, whatever the data.

    >>> UserEdges((0, 18, 65)).boundaries(None).edges
    (0.0, 18.0, 65.0)
    """

    edges: tuple[float, ...]

    def __post_init__(self) -> None:
        object.__setattr__(self, "edges", Boundaries(self.edges).edges)
        if len(self.edges) < 2:
            raise OptionError(f"edges: {list(self.edges)} is not a bin; pass two edges or more")

    def boundaries(self, histogram: RankHistogram | None, *, knots: bool = False) -> Boundaries:
        return Boundaries(self.edges)
