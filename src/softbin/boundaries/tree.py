"""The leaves of a decision tree on one column: the split that helps most, again and again."""

from dataclasses import dataclass
from itertools import islice

import numpy as np

from softbin.boundaries.best_first import Cut, best_first, room_for_cuts
from softbin.boundaries.boundaries import Boundaries
from softbin.boundaries.notes import why_few
from softbin.boundaries.piece_loss import PieceLoss
from softbin.boundaries.rule import AskedKind, check_n_bins, check_share
from softbin.boundaries.tidy import at_cuts
from softbin.summaries.target_counts import TargetCounts


@dataclass(frozen=True)
class Tree:
    """Grown best first to ``n_bins`` leaves, each with ``min_bin_share`` of the weight or more.

    Splits lessen the log-loss of classes or the squared error of numbers, as those of scikit-learn's trees with
    ``max_leaf_nodes`` do. A tree never looks ahead: where no single split helps, none is made, even if two would
    ("optimal" finds those).

    >>> import numpy as np
    >>> from softbin import HardBins
    >>> ages = np.array([[21.0], [25.0], [33.0], [41.0], [57.0], [62.0]])
    >>> HardBins(strategy=Tree(2)).fit(ages, ["no", "no", "no", "yes", "yes", "yes"]).bin_edges_[0].tolist()
    [21.0, 37.0, 62.0]
    """

    n_bins: int = 10
    min_bin_share: float = 0.01

    def __post_init__(self) -> None:
        object.__setattr__(self, "n_bins", check_n_bins(self.n_bins))
        object.__setattr__(self, "min_bin_share", check_share("min_bin_share", self.min_bin_share))

    @property
    def target(self) -> AskedKind:
        return "auto"

    def boundaries(self, counts: TargetCounts, *, knots: bool = False) -> Boundaries:
        loss = PieceLoss(counts)
        least = loss.least_units(self.min_bin_share)

        def best_cut(start: int, stop: int) -> Cut | None:
            """The best split of a leaf, if there is one that helps."""
            at = room_for_cuts(loss.units_below, start, stop, least)
            if len(at) == 0:
                return None
            gain = loss(start, stop) - loss(start, at) - loss(at, stop)
            # Why not the very highest: which of several equal ones rounding puts first is chance.
            best = int(np.argmax(gain >= gain.max() - loss.rounding))
            return (float(gain[best]), int(at[best])) if gain[best] > loss.rounding else None

        cuts = islice(best_first(len(counts), best_cut), self.n_bins - 1)
        starts = sorted(at for _, at in cuts)
        return at_cuts(counts, starts, knots, why_few(loss, starts, self.n_bins, self.min_bin_share))
