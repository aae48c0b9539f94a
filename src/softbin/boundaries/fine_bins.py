"""How finely a rule may look at a column: each distinct value where they are few, else bins of equal weight."""

from dataclasses import replace

import numpy as np

from softbin.boundaries.quantile import Quantile, at_ranks
from softbin.boundaries.tidy import few_values
from softbin.summaries.rank_histogram import RankHistogram
from softbin.summaries.target_counts import FineBins, TargetCounts

MOST_FINE_BINS = 4096
MOST_COUNTS = 2**20


def most_fine_bins(n_slots: int) -> int:
    """4096, and fewer beside very many classes, so that the counts of a column stay small."""
    return max(2, min(MOST_FINE_BINS, MOST_COUNTS // n_slots))


def fine_bins(histogram: RankHistogram, most: int = MOST_FINE_BINS) -> FineBins:
    """At most this many bins of a column, each with a value that stands for it; none for a column without values."""
    if len(histogram) == 0:
        return FineBins((), np.zeros(0), np.nan, np.nan)
    edges = Quantile(most).boundaries(histogram).edges
    values = few_values(histogram, most)
    if values is None:
        starts = np.append(0, np.searchsorted(histogram.low, edges[1:-1], side="left"))
        stops = np.append(starts[1:], len(histogram))
        # Why not the bin's middle: in the tail of a column it would lie where no value is.
        at = at_ranks(histogram, histogram.below[starts] + histogram.below[stops] - 1)
        histogram.require(at)
        values = histogram.low[at]
    return FineBins(edges, values, histogram.minimum, histogram.maximum)


def coarser(counts: TargetCounts, most: int) -> TargetCounts:
    """The same column in at most this many fine bins, of about equal weight."""
    if len(counts) <= most:
        return counts
    stop = np.cumsum(counts.weight)
    middle = stop - counts.weight / 2
    _, start = np.unique(np.floor(middle * (most / stop[-1])), return_index=True)
    last = np.append(start[1:], len(counts)) - 1
    at = np.searchsorted(stop, (stop[start] - counts.weight[start] + stop[last]) / 2)
    sums = np.add.reduceat(counts.sums, start, axis=0)
    return replace(counts, cuts=counts.cuts[start[1:] - 1], values=counts.values[at], sums=sums)
