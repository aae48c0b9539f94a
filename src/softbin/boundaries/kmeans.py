"""Bins around the centres of one-dimensional k-means; the cuts lie midway between centres.

Lloyd's iteration from equally wide bins, as in scikit-learn, but on sorted points with running sums: a step costs
K log B and the result does not depend on rows, order or a seed. A column with more than 4096 distinct values is
represented by as many values at equal ranks.
"""

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from softbin.boundaries.boundaries import Boundaries
from softbin.boundaries.quantile import at_ranks, equal_ranks
from softbin.boundaries.rule import check_n_bins
from softbin.boundaries.tidy import drop_dead, few_values, own_places
from softbin.summaries.rank_histogram import RankHistogram

Floats = NDArray[np.float64]

MOST_POINTS = 4096
MOST_STEPS = 300


@dataclass(frozen=True)
class KMeans:
    """``n_bins`` bins around the centres of 1-D k-means.

    >>> import numpy as np
    >>> from softbin.summaries import RankHistogram
    >>> KMeans(2).boundaries(RankHistogram.of(np.array([0.0, 1.0, 9.0, 10.0]))).edges
    (0.0, 5.0, 10.0)
    """

    n_bins: int = 10

    def __post_init__(self) -> None:
        object.__setattr__(self, "n_bins", check_n_bins(self.n_bins))

    def boundaries(self, histogram: RankHistogram, *, knots: bool = False) -> Boundaries:
        own = own_places(histogram, self.n_bins, knots)
        if own is not None:
            return own
        points, weight = representatives(histogram)
        low, high = Boundaries((histogram.minimum, histogram.maximum)).edges  # an error if too far apart
        # Why: in units of the column's range, so that no scale overflows.
        cuts = k_means_cuts(np.clip((points - low) / (high - low), 0, 1), weight, self.n_bins)
        edges = np.unique(np.concatenate([[low], low + (high - low) * cuts, [high]]))
        live = drop_dead(histogram, edges, knots)
        merged = self.n_bins + 1 - len(live)
        return Boundaries(tuple(live), note=f"{merged} empty clusters dropped" if merged else "")


def representatives(histogram: RankHistogram) -> tuple[Floats, Floats]:
    """All distinct values and their weights, where they are few; else values at equal ranks, which weigh the same."""
    values = few_values(histogram, MOST_POINTS)
    if values is not None:
        return values, histogram.weight.astype(np.float64)
    at = at_ranks(histogram, equal_ranks(0, histogram.total, 2 * MOST_POINTS)[::2])
    histogram.require(at)
    return histogram.low[at], np.ones(len(at))


def k_means_cuts(points: Floats, weight: Floats, n_clusters: int) -> Floats:
    """The cuts between the clusters of sorted points in [0, 1]."""
    total = np.concatenate([[0.0], np.cumsum(weight)])
    first_moment = np.concatenate([[0.0], np.cumsum(weight * points)])
    cuts = np.arange(1, n_clusters) / n_clusters
    for _ in range(MOST_STEPS):
        ends = np.concatenate([[0], np.searchsorted(points, cuts, side="left"), [len(points)]])
        mass = np.diff(total[ends])
        centres = np.diff(first_moment[ends])[mass > 0] / mass[mass > 0]
        new = (centres[1:] + centres[:-1]) / 2
        if np.array_equal(new, cuts):
            break
        cuts = new
    return cuts
