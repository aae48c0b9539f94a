"""The best way to cut a column into pieces whose rates never fall: shares of the second class, or means.

Without a least weight, the pieces of isotonic regression are all that matters: no best cut lies inside one (Haiminen,
Gionis & Laasonen 2008), and the rates of runs of them never fall, so the search over all cuts is run on them.

With a least weight, a best cut may lie inside such a piece. What is found on the pieces is still a way that is allowed,
and bounds the best one; the search then goes over all cuts and keeps, for each stop and number of pieces, every way
that no other one beats both in loss and in the rate it leaves to the next piece. Ways that cannot get below the
bound, even if nothing but the number of pieces held from there on, are dropped.
"""

from dataclasses import dataclass, replace
from functools import cached_property

import numpy as np
from numpy.typing import NDArray
from scipy.optimize import isotonic_regression

from softbin import kernels
from softbin.boundaries.piece_loss import PieceLoss
from softbin.boundaries.segments import Segments

Floats = NDArray[np.float64]

COARSE = 256  # cuts, beside those of isotonic regression, that the first search is among


@dataclass(frozen=True, eq=False)
class Monotone:
    """Pieces of a column whose rates times ``sign`` never fall; of two classes or a number."""

    segments: Segments
    sign: int
    most: int

    @property
    def loss(self) -> PieceLoss:
        return self.segments.loss

    @cached_property
    def blocks(self) -> list[int]:
        """Where the pieces of isotonic regression start."""
        n = len(self.segments)
        weight = np.diff(self.loss.units_below).astype(np.float64)
        # Why: bins of a weight too small to count have no rate; they go with the one before.
        alive = np.flatnonzero(weight > 0)
        if len(alive) == 0:
            return [0]
        rates = self.rate(np.arange(n)[alive], np.arange(1, n + 1)[alive])
        starts = alive[isotonic_regression(rates, weights=weight[alive]).blocks[:-1]]
        return [0, *starts[1:].tolist()]

    def rate(self, start: NDArray[np.integer] | int, stop: NDArray[np.integer] | int) -> Floats:
        """What may not fall."""
        below = self.loss.below
        sums = (below[stop] - below[start]).astype(np.float64)
        weight = sums[..., 0] + sums[..., 1] if self.loss.counts.kind == "classes" else sums[..., 0]
        rate: Floats = self.sign * (sums[..., 1] / weight)
        return rate

    def total(self, starts: list[int]) -> float:
        """The loss of the pieces that start there and at the first bin."""
        ends = np.array([0, *starts, len(self.segments)])
        return float(self.loss(ends[:-1], ends[1:]).sum())

    @cached_property
    def floor(self) -> float:
        """No monotone way loses less, whatever the weight of its pieces."""
        return self.total(self._on_blocks(share=0.0))

    @cached_property
    def best_starts(self) -> list[int]:
        """Where the pieces of the best way start, without the first."""
        coarse = self._on_blocks(self.segments.share)
        if self.loss.least_units(self.segments.share) <= 1:
            return coarse
        if self.total(coarse) <= self.floor + self.loss.rounding:
            return coarse
        if len(self.segments) > 2 * COARSE:
            # Why: a way found among few cuts is a bound that spares most of the search among all of them.
            coarse = min(coarse, self._on_few(), key=self.total)
        found = self._over_all_cuts(self.total(coarse) - self.loss.rounding)
        return found or coarse

    def _on_few(self) -> list[int]:
        """The best way among some of the cuts."""
        n = len(self.segments)
        starts = np.union1d(self.blocks, np.arange(COARSE) * n // COARSE)[: n // 2]
        few = Segments(PieceLoss(self.loss.counts.joined(starts)), self.segments.share)
        chosen: list[int] = starts[Monotone(few, self.sign, self.most).best_starts].tolist()
        return chosen

    def _on_blocks(self, share: float) -> list[int]:
        starts = np.array(self.blocks)
        blocks = Segments(PieceLoss(self.loss.counts.joined(starts)), share)
        return starts[blocks.best_starts(self.most)].tolist()

    def _over_all_cuts(self, bound: float) -> list[int]:
        segments, rounding = self.segments, self.loss.rounding
        if kernels.compiled is None:
            return monotone_starts(self, bound)
        below = np.ascontiguousarray(self.loss.below.T)
        unit, classes = np.array(self.loss.counts.unit), self.loss.counts.kind == "classes"
        found: list[int] = kernels.compiled.monotone_starts(
            below,
            unit,
            classes,
            segments.first_stop,
            float(self.sign),
            self._remaining(),
            *self._isotonic,
            bound,
            rounding,
        )
        return found

    def _remaining(self) -> Floats:
        """(most + 1) x (bins + 1): no way from a bin to the end in at most k more pieces loses less."""
        counts = self.loss.counts
        backwards = Segments(PieceLoss(replace(counts, sums=counts.sums[::-1])), self.segments.share)
        lowest = np.minimum.accumulate(backwards.lowest(self.most), axis=0)
        return np.maximum(lowest[:, ::-1], self._isotonic[1] - self.loss.rounding)

    @cached_property
    def _isotonic(self) -> tuple[NDArray[np.int64], Floats]:
        """Of isotonic regression of the bins from each on: where its first piece stops, and what it loses."""
        n, below = len(self.segments), self.loss.below.tolist()
        first = self.loss.units_below.tolist()
        stops = list(range(1, n + 2))

        def rises(start: int, middle: int, stop: int) -> bool:
            if first[stop] == first[middle] or first[middle] == first[start]:
                return False  # what weighs nothing has no rate, and goes with a neighbour
            left, right = (self.sign * (below[b][1] - below[a][1]) for a, b in ((start, middle), (middle, stop)))
            return left * (first[stop] - first[middle]) <= right * (first[middle] - first[start])

        for start in range(n - 1, -1, -1):
            while stops[start] < n and not rises(start, stops[start], stops[stops[start]]):
                stops[start] = stops[stops[start]]
        loss = self.loss(np.arange(n), np.array(stops[:n])).tolist()
        to_end = [0.0] * (n + 1)
        for start in range(n - 1, -1, -1):
            to_end[start] = loss[start] + to_end[stops[start]]
        return np.array(stops[:n]), np.array(to_end)


Way = tuple[
    Floats, Floats, NDArray[np.intp]
]  # of one stop: rates that rise, losses that fall, starts of the last piece


def monotone_starts(of: Monotone, bound: float) -> list[int]:
    """The starts of the best monotone pieces that lose less than ``bound``; empty if there are none.

    cpp/segments.cpp is the compiled copy, which drops ways earlier.
    """
    n, first_stop, rounding = len(of.segments), of.segments.first_stop, of.loss.rounding
    layers: list[dict[int, Way]] = [{0: (np.array([-np.inf]), np.zeros(1), np.array([-1]))}]
    for _ in range(of.most):
        before, (rate, loss) = layers[-1], np.full((2, n, n + 1), np.inf)
        for start, (rates, losses, _starts) in before.items():
            if start == n or first_stop[start] > n:
                continue
            stops = np.arange(first_stop[start], n + 1)
            rate[start, stops] = of.rate(start, stops)
            at = np.searchsorted(rates, rate[start, stops], side="right")
            loss[start, stops] = np.append(np.inf, losses)[at] + of.loss(start, stops)
        found = {j: _unbeaten(rate[:, j], loss[:, j], before.get(j), rounding) for j in range(1, n + 1)}
        layers.append(found)
    lowest = np.array([layer[n][1].min(initial=np.inf) if n in layer else np.inf for layer in layers])
    if not lowest.min() < bound:
        return []
    starts: list[int] = []
    stop, last = n, np.inf
    for k in range(int(np.argmax(lowest <= lowest.min() + rounding)), 1, -1):
        rates, _, begins = layers[k][stop]
        at = int(np.searchsorted(rates, last, side="right")) - 1
        stop, last = int(begins[at]), float(rates[at])
        starts.insert(0, stop)
    return starts


def _unbeaten(rate: Floats, loss: Floats, fewer: Way | None, rounding: float) -> Way:
    """The ways that no other one, of these or of those with fewer pieces, beats in both rate and loss."""
    rates, losses, _ = fewer or (np.zeros(0), np.zeros(0), np.zeros(0))
    beaten = np.append(np.inf, losses)[np.searchsorted(rates, rate, side="right")]
    kept: list[int] = []
    for way in np.argsort(rate, kind="stable").tolist():
        if loss[way] < min(beaten[way], loss[kept[-1]] if kept else np.inf) - rounding:
            kept.append(way)
    return rate[kept], loss[kept], np.array(kept, np.intp)
