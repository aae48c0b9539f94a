"""Target counts to test rules with, made from rows as a fit makes them."""

import numpy as np

from softbin.boundaries.fine_bins import MOST_FINE_BINS, fine_bins
from softbin.summaries import RankHistogram
from softbin.summaries.target_counts import TargetCounts
from softbin.values.targets import read_target, statistics
from softbin.values.weights import read_weight


def counts(values, y, weight=None, *, kind="auto", most=MOST_FINE_BINS) -> TargetCounts:
    """One column beside the target, cut into at most this many fine bins."""
    column = np.asarray(values)
    column = column if column.dtype == np.float32 else column.astype(np.float64)
    units, unit = read_weight(weight, len(column))
    fine = fine_bins(RankHistogram.of(column, units, unit), most)
    return TargetCounts.of(column, fine, statistics(read_target(y, len(column), kind), units, unit))
