"""Bins of equal weight, exact and tie-proof: every bin asked for is there while there are values to fill it.

A value heavier than an equal share can only be a bin (or a knot) of its own; the heavy ones are set apart first,
and the stretches between them share what is left, each split at equal ranks. A cut is a value of the data: the
first of its bin. All of it is done in whole units of weight, so nothing depends on how rows were added up.
"""

import heapq
from collections.abc import Sequence
from dataclasses import dataclass
from itertools import pairwise

import numpy as np
from numpy.typing import NDArray

from softbin.boundaries.boundaries import Boundaries
from softbin.boundaries.rule import check_n_bins
from softbin.boundaries.tidy import close_end, middle, own_places
from softbin.summaries.rank_histogram import Indices, RankHistogram

Stretch = tuple[int, int]  # buckets first to stop, the latter left out


@dataclass(frozen=True)
class Quantile:
    """Equal weight in each of ``n_bins`` bins.

    >>> import numpy as np
    >>> from softbin.summaries import RankHistogram
    >>> Quantile(2).boundaries(RankHistogram.of(np.array([1.0, 2.0, 3.0, 4.0]))).edges
    (1.0, 3.0, 4.0)
    """

    n_bins: int = 10

    def __post_init__(self) -> None:
        object.__setattr__(self, "n_bins", check_n_bins(self.n_bins))

    def boundaries(self, histogram: RankHistogram, *, knots: bool = False) -> Boundaries:
        own = own_places(histogram, self.n_bins, knots)
        if own is not None:
            return own
        _ask_likely(histogram, self.n_bins, knots)
        heavy = heavy_values(histogram, self.n_bins)
        edges = _knots(histogram, heavy, self.n_bins) if knots else _bins(histogram, heavy, self.n_bins)
        return Boundaries(tuple(edges), note=_note(histogram, heavy))


def _ask_likely(histogram: RankHistogram, n_bins: int, knots: bool) -> None:
    """Requires what the rest will most likely look at, all at once: each refinement is a pass over the rows."""
    if knots:
        # They share out what the end values leave: all but a unit each at most, all but these buckets at least.
        ends = (1, 1), (int(histogram.weight[0]), int(histogram.weight[-1]))
        ranks = [equal_ranks(low, max(histogram.total - low - high, 0), n_bins) for low, high in ends]
    else:
        # A bin may start with the value at its rank or with the next one.
        ranks = [equal_ranks(0, histogram.total, n_bins), equal_ranks(0, histogram.total, n_bins) + 1]
    likely = at_ranks(histogram, np.concatenate(ranks))
    histogram.require(np.concatenate([[0], likely, [len(histogram) - 1]]))


def equal_ranks(start: int, weight: int, parts: int) -> NDArray[np.int64]:
    """Where ``weight`` units from ``start`` on are divided into equal parts, in half units, rounded down.

    Half units are all it takes to compare with middles of integers exactly.
    """
    # Why Python integers: the product may pass 2^63.
    return np.array([2 * start + 2 * part * weight // parts for part in range(1, parts)], dtype=np.int64)


def at_ranks(histogram: RankHistogram, half_units: NDArray[np.int64]) -> Indices:
    """The bucket around each rank."""
    return np.searchsorted(histogram.below, half_units // 2, side="right") - 1


def heavy_values(histogram: RankHistogram, n_bins: int) -> Indices:
    """The values heavier than an equal share of what the other heavy ones leave."""
    heavy = np.zeros(len(histogram), bool)
    rest, room = histogram.total, n_bins
    while True:
        new = ~heavy & (histogram.weight > rest // room)
        if not new.any():
            return np.flatnonzero(heavy)
        histogram.require(np.flatnonzero(new))
        heavy |= new
        rest = histogram.total - int(histogram.weight[heavy].sum())
        room = n_bins - int(heavy.sum())


def _bins(histogram: RankHistogram, heavy: Indices, n_bins: int) -> NDArray[np.float64]:
    stretches = _between(heavy, len(histogram))
    while n_bins - len(heavy) < len(stretches):
        # More stretches than bins are left: the lightest heavy value joins its neighbours.
        heavy = np.delete(heavy, np.argmin(histogram.weight[heavy]))
        stretches = _between(heavy, len(histogram))
    counts = _share_out(histogram, stretches, n_bins - len(heavy), least=1)
    starts = [np.asarray(heavy)]
    for (first, stop), count in zip(stretches, counts, strict=True):
        starts += [np.array([first]), _cut(histogram, (first, stop), count)]
    start = np.unique(np.concatenate(starts))[1:]
    histogram.require(start)
    cuts = histogram.low[start].tolist()
    if cuts and start[-1] == len(histogram) - 1:
        histogram.require(start[-1:] - 1)
        cuts[-1] = middle(histogram.low[start[-1] - 1], cuts[-1])
    return close_end(histogram.minimum, cuts, histogram.maximum)


def _knots(histogram: RankHistogram, heavy: Indices, n_bins: int) -> NDArray[np.float64]:
    ends = np.array([0, len(histogram) - 1])
    fixed = np.union1d(ends, heavy)
    stretches = _between(fixed, len(histogram))
    counts = _share_out(histogram, stretches, n_bins + 1 - len(fixed), least=0)
    knots = [fixed]
    for stretch, count in zip(stretches, counts, strict=True):
        knots.append(_place(histogram, stretch, count))
    chosen = np.unique(np.concatenate(knots))
    histogram.require(chosen)
    values: NDArray[np.float64] = histogram.low[chosen]
    return values


def _between(fixed: Indices, n_buckets: int) -> list[Stretch]:
    """The runs of buckets between these."""
    ends = [-1, *fixed.tolist(), n_buckets]
    return [(a + 1, b) for a, b in pairwise(ends) if a + 1 < b]


def _share_out(histogram: RankHistogram, stretches: Sequence[Stretch], count: int, least: int) -> list[int]:
    """``count`` bins (least 1 each) or knots (least 0) over the stretches; the fullest is as light as can be."""
    below = histogram.below
    weights = [int(below[stop] - below[first]) for first, stop in stretches]
    shares = [least] * len(stretches)
    left = count - sum(shares)
    if len(stretches) == 1:
        shares, left = [count], 0
    # A stretch of n bins, or of n - 1 knots, is n parts; the fullest part is split next.
    queue: list[tuple[float, int]] = [(-weight, i) for i, weight in enumerate(weights)]
    heapq.heapify(queue)
    while left > 0 and queue:
        _, i = heapq.heappop(queue)
        first, stop = stretches[i]
        if shares[i] >= stop - first:
            histogram.require(np.arange(first, stop))
            continue
        shares[i] += 1
        left -= 1
        heapq.heappush(queue, (-weights[i] / (shares[i] + 1 - least), i))
    return shares


def _cut(histogram: RankHistogram, stretch: Stretch, n_bins: int) -> Indices:
    """The buckets at which bins 2, 3, ... of a stretch start: the value boundary nearest to each equal rank."""
    first, stop = stretch
    below = histogram.below
    ranks = equal_ranks(int(below[first]), int(below[stop] - below[first]), n_bins)
    at = at_ranks(histogram, ranks)
    histogram.require(at)
    nearer_end = ranks >= below[at] + below[at + 1]
    return _spread(histogram, at + nearer_end, (first + 1, stop))


def _place(histogram: RankHistogram, stretch: Stretch, n_knots: int) -> Indices:
    """The values of a stretch that ``n_knots`` knots at equal ranks stand on."""
    first, stop = stretch
    below = histogram.below
    ranks = equal_ranks(int(below[first]), int(below[stop] - below[first]), n_knots + 1)
    return _spread(histogram, at_ranks(histogram, ranks), stretch)


def _spread(histogram: RankHistogram, wanted: Indices, within: Stretch) -> Indices:
    """The wanted buckets moved apart as little as it takes to be different ones inside the stretch."""
    first, stop = within
    step = np.arange(len(wanted))
    chosen = np.maximum.accumulate(np.maximum(wanted, first) - step) + step
    latest = stop - len(wanted) + step
    over = chosen > latest
    if over.any():
        # Why: "the last buckets" are the last values only once these are single values.
        histogram.require(np.arange(max(first, int(latest[over].min())), stop))
    return np.minimum(chosen, latest)


def _note(histogram: RankHistogram, heavy: Indices) -> str:
    if not len(heavy):
        return ""
    order = heavy[np.argsort(-histogram.weight[heavy], kind="stable")]
    shown = [f"{histogram.low[i]:g} ({histogram.weight[i] / histogram.total:.0%})" for i in order[:3]]
    more = f" and {len(heavy) - 3} more" if len(heavy) > 3 else ""
    return f"heavy values have a place of their own: {', '.join(shown)}{more}"
