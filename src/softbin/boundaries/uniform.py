"""Bins of equal width; those that no training value falls into are joined to their left neighbour."""

from dataclasses import dataclass

import numpy as np

from softbin.boundaries.boundaries import Boundaries
from softbin.boundaries.rule import check_n_bins
from softbin.boundaries.tidy import drop_dead, own_places
from softbin.summaries.rank_histogram import RankHistogram


@dataclass(frozen=True)
class Uniform:
    """Equal width of each of ``n_bins`` bins between the smallest and the largest value.

    >>> import numpy as np
    >>> from softbin.summaries import RankHistogram
    >>> Uniform(2).boundaries(RankHistogram.of(np.array([0.0, 1.0, 3.0, 10.0]))).edges
    (0.0, 5.0, 10.0)
    """

    n_bins: int = 10

    def __post_init__(self) -> None:
        object.__setattr__(self, "n_bins", check_n_bins(self.n_bins))

    def boundaries(self, histogram: RankHistogram, *, knots: bool = False) -> Boundaries:
        own = own_places(histogram, self.n_bins, knots)
        if own is not None:
            return own
        share = np.arange(self.n_bins + 1) / self.n_bins
        # Why not linspace: the width of a column may be more than a float64 can hold.
        edges = np.unique(histogram.minimum * (1 - share) + histogram.maximum * share)
        live = drop_dead(histogram, edges, knots)
        dead = self.n_bins + 1 - len(live)
        return Boundaries(tuple(live), note=f"{dead} empty bins joined to a neighbour" if dead else "")
