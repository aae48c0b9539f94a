"""What every rule does alike: a place for each value where there are few, and no level that is dead.

Hard bins are told apart by *cuts* between values, soft ones have *knots* on values. So a column with the values
0 and 1 has the hard edges 0, 0.5, 1 and the knots 0, 1.
"""

import math
from collections.abc import Sequence
from itertools import pairwise

import numpy as np
from numpy.typing import NDArray

from softbin.boundaries.boundaries import Boundaries
from softbin.summaries.rank_histogram import RankHistogram
from softbin.summaries.target_counts import TargetCounts

Floats = NDArray[np.float64]


def few_values(histogram: RankHistogram, most: int) -> Floats | None:
    """All distinct values of a column, if they are no more than ``most``."""
    if len(histogram) > most:
        return None
    histogram.require(np.arange(len(histogram)))
    return histogram.low


def own_places(histogram: RankHistogram, n_bins: int, knots: bool) -> Boundaries | None:
    """Boundaries that give each value a bin, or a knot, of its own; None where there are more values than those."""
    values = few_values(histogram, n_bins + knots)
    if values is None:
        return None
    place = "knot" if knots else "bin"
    note = f"{len(values)} distinct values, a {place} for each" if len(values) < n_bins + knots else ""
    return Boundaries(tuple(values if knots else _edges_between(values)), note=note)


def _edges_between(values: Floats) -> Floats:
    """Edges of bins that hold one of these values each."""
    if len(values) < 2:
        return values
    cuts = [middle(a, b) for a, b in pairwise(values.tolist())]
    return close_end(float(values[0]), cuts, float(values[-1]))


def middle(a: float, b: float) -> float:
    """A cut between two values, a < cut <= b, however close they are."""
    cut = a + (b - a) / 2
    return float(cut if a < cut else b)


def close_end(low: float, cuts: list[float], high: float) -> Floats:
    """Edges from low over the cuts to high; a last bin that holds only ``high`` keeps some width."""
    if cuts and cuts[-1] >= high:
        high = math.nextafter(high, math.inf)
        if not math.isfinite(high):
            # There is no float above: the two largest values share a bin.
            high = cuts.pop()
    return np.array([low, *cuts, high])


def drop_dead(histogram: RankHistogram, edges: Floats, knots: bool) -> Floats:
    """The edges without those whose bin (the one they start) or hat no training value reaches."""
    if len(edges) <= 2:
        return edges
    if knots:
        reached = _weight_between(histogram, edges[:-2], edges[2:], open_left=True)
    else:
        reached = _weight_between(histogram, edges[1:-1], edges[2:], open_left=False)
        # Why: the last bin is closed on both sides, and it holds the maximum.
        reached[-1] = reached[-1] | (edges[-1] == histogram.maximum)
    return np.concatenate([edges[:1], edges[1:-1][reached], edges[-1:]])


def _weight_between(histogram: RankHistogram, left: Floats, right: Floats, open_left: bool) -> NDArray[np.bool_]:
    """Whether each interval [left, right) or (left, right) holds weight; asks for refinement where unclear."""
    first = np.searchsorted(histogram.low, left, side="right" if open_left else "left")
    stop = np.searchsorted(histogram.high, right, side="left")
    surely = stop > first
    # A bucket around `left` or `right` may hold values on both sides of it.
    around_left = np.clip(first - 1, 0, len(histogram) - 1)
    around_right = np.clip(stop, 0, len(histogram) - 1)
    for bucket, edge in ((around_left, left), (around_right, right)):
        split = (histogram.low[bucket] <= edge) & (edge <= histogram.high[bucket]) & ~histogram.is_value[bucket]
        histogram.require(bucket[~surely & split])
    return surely


def at_cuts(counts: TargetCounts, starts: Sequence[int], knots: bool, note: str = "") -> Boundaries:
    """The boundaries of bins that start at these fine bins (in order, without the first); of knots on their cuts."""
    low, high = counts.minimum, counts.maximum
    if low == high:
        return Boundaries((low,), note=note)
    cuts = counts.cuts[np.asarray(starts, np.intp) - 1]
    if not knots:
        return Boundaries(tuple(close_end(low, cuts.tolist(), high)), note=note)
    edges = np.unique(np.concatenate([[low], cuts, [high]]))
    first = np.searchsorted(counts.values, edges[:-2], side="right")
    stop = np.searchsorted(counts.values, edges[2:], side="left")
    return Boundaries((low, *edges[1:-1][stop > first].tolist(), high), note=note)


def at_values(counts: TargetCounts, at: Sequence[int], note: str = "") -> Boundaries:
    """The boundaries of knots on the values that stand for these fine bins, and on the ends."""
    low, high = counts.minimum, counts.maximum
    inner = counts.values[np.asarray(at, np.intp)]
    inner = inner[(low < inner) & (inner < high)]
    return Boundaries((low, *inner.tolist(), high) if low < high else (low,), note=note)
