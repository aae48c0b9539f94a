"""How many bins of equal weight: as many as pay for their own description.

Each bin more has to be told, and tells the target better. Telling one number found from N rows takes log(N) / 2 nats,
so of the numbers of bins K up to the cap, that with the least

    loss + (K - 1) / 2 (classes - 1) log N                       of classes: the log-loss of the shares
    N / 2 log(squared error / N) + (K - 1) / 2 log N             of a number: normal around the means, one variance

is taken. Weights are counts here: N is their sum, and ten times the weight may pay for more bins.
"""

import math
from dataclasses import dataclass

import numpy as np

from softbin.boundaries.boundaries import Boundaries
from softbin.boundaries.notes import why_few
from softbin.boundaries.piece_loss import PieceLoss
from softbin.boundaries.quantile import Quantile
from softbin.boundaries.rule import AskedKind, check_n_bins
from softbin.boundaries.tidy import at_cuts
from softbin.summaries.rank_histogram import RankHistogram
from softbin.summaries.target_counts import TargetCounts


@dataclass(frozen=True)
class DescriptionLength:
    """Equal weight in each of as many bins, up to ``n_bins``, as describe the target in the fewest nats.

    Weights count rows: 2 is the row twice. Soft bins have the knots of as many bins.

    >>> import numpy as np
    >>> from softbin import HardBins
    >>> X = np.arange(200.0)[:, None]
    >>> HardBins(strategy=DescriptionLength(20)).fit(X, X[:, 0] >= 100).bin_edges_[0].tolist()
    [0.0, 99.5, 199.0]
    """

    n_bins: int = 100

    def __post_init__(self) -> None:
        object.__setattr__(self, "n_bins", check_n_bins(self.n_bins))

    @property
    def target(self) -> AskedKind:
        return "auto"

    def boundaries(self, counts: TargetCounts, *, knots: bool = False) -> Boundaries:
        loss = PieceLoss(counts)
        column = RankHistogram.of(counts.values, np.diff(loss.units_below))
        if len(column) == 0:
            return at_cuts(counts, [], knots)
        best, shortest, starts = 1, math.inf, [0]
        for n_bins in range(1, min(self.n_bins, len(counts)) + 1):
            cuts = Quantile(n_bins).boundaries(column).edges[1:-1]
            candidate = [0, *np.searchsorted(counts.values, cuts, side="left").tolist()]
            length = _length(loss, candidate)
            # Why a little: rounding must not add bins.
            if length < shortest - 1e-11 * abs(loss.weight_below[-1]):
                best, shortest, starts = n_bins, length, candidate
        note = why_few(loss, starts[1:], self.n_bins, 0.0) if best == self.n_bins else _note(best)
        if not knots:
            return at_cuts(counts, starts[1:], knots, note)
        inner = np.array(Quantile(best).boundaries(column, knots=True).edges[1:-1])
        inner = inner[(inner > counts.minimum) & (inner < counts.maximum)]
        return Boundaries(tuple(np.unique([counts.minimum, *inner, counts.maximum])), note=note)


def _length(loss: PieceLoss, starts: list[int]) -> float:
    """The nats that describe bins which start there, and the target by them."""
    counts = loss.counts
    left = float(loss(np.array(starts), np.array([*starts[1:], len(counts)])).sum())
    n_rows = max(float(loss.weight_below[-1]), 1.0)
    per_number = (len(starts) - 1) / 2 * math.log(n_rows)
    if counts.kind == "classes":
        return left + (counts.n_classes - 1) * per_number
    # Why: an error that is all rounding would be worth any number of bins.
    return n_rows / 2 * math.log(max(left, loss.rounding, 1e-300) / n_rows) + per_number


def _note(n_bins: int) -> str:
    return f"the description of the target is shortest with {n_bins} bin{'s' if n_bins > 1 else ''}"
