"""The best way to cut a column into pieces, by dynamic programming over all cuts between fine bins.

    lowest[k, j] = min over i of  lowest[k - 1, i] + loss of the piece [i, j)

is the lowest loss of the first j fine bins in k pieces. No way to cut is left out, so no rule can find a better one:
that takes a look at every piece, bins^2 / 2 of them, because the loss of a sequence that goes up and down has no
structure to skip pieces by. What one piece costs is piece_loss.py's; the loop over all of them is compiled.
"""

from dataclasses import dataclass
from functools import cached_property

import numpy as np
from numpy.typing import NDArray

from softbin import kernels
from softbin.boundaries.piece_loss import PieceLoss

Floats = NDArray[np.float64]
Indices = NDArray[np.int64]


@dataclass(frozen=True, eq=False)
class Segments:
    """The pieces of a column that have at least ``share`` of its weight."""

    loss: PieceLoss
    share: float = 0.0

    def __len__(self) -> int:
        return len(self.loss.counts)

    @cached_property
    def first_stop(self) -> Indices:
        """For each start, the first bin after a piece that is heavy enough; bins + 1 if there is none."""
        below = self.loss.units_below
        return np.searchsorted(below, below[:-1] + self.loss.least_units(self.share), side="left").astype(np.int64)

    def lowest(self, most: int) -> Floats:
        """(most + 1) x (bins + 1), as above; infinite where there is no way."""
        lowest = np.full((most + 1, len(self) + 1), np.inf)
        lowest[0, 0] = 0.0
        if kernels.compiled is None:
            lowest_losses(self.loss, self.first_stop, lowest)
        else:
            below = np.ascontiguousarray(self.loss.below.T)
            unit, classes = np.array(self.loss.counts.unit), self.loss.counts.kind == "classes"
            kernels.compiled.lowest_losses(below, unit, classes, self.first_stop, lowest)
        return lowest

    def best_starts(self, most: int) -> list[int]:
        """Where the pieces of the best way start, without the first; of equally good ones, that of fewest pieces."""
        lowest = self.lowest(min(most, len(self)))
        n_pieces = int(np.argmax(lowest[:, -1] <= lowest[:, -1].min() + self.loss.rounding))
        starts = [len(self)]
        for k in range(n_pieces, 1, -1):
            stop = starts[-1]
            start = np.flatnonzero(self.first_stop[:stop] <= stop)
            total = lowest[k - 1, start] + self.loss(start, stop)
            # Why not the lowest: which of several equal ones rounding puts first is chance.
            starts.append(int(start[np.argmax(total <= total.min() + self.loss.rounding)]))
        return starts[:0:-1]


def lowest_losses(loss: PieceLoss, first_stop: Indices, lowest: Floats) -> None:
    """Fills all rows of ``lowest`` after the first. cpp/segments.cpp is the compiled copy."""
    n_bins = len(loss.counts)
    for start in range(n_bins):
        stop = slice(first_stop[start], n_bins + 1)
        piece = loss(start, np.arange(stop.start, stop.stop))
        lowest[1:, stop] = np.minimum(lowest[1:, stop], lowest[:-1, start, None] + piece)
