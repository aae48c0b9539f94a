"""Kurgan & Cios (2004), class-attribute interdependence: how much of each bin is its largest class.

    CAIM = (1 / r) sum over the r bins of max q^2 / M

with q the weight of a class in a bin of weight M. It likes few and pure bins, but makes as many as there are classes.
"""

from dataclasses import dataclass

from softbin.boundaries.boundaries import Boundaries
from softbin.boundaries.greedy import greedy_cuts, largest_class
from softbin.boundaries.rule import AskedKind, check_n_bins, check_share
from softbin.boundaries.tidy import at_cuts
from softbin.summaries.target_counts import TargetCounts


@dataclass(frozen=True)
class CAIM:
    """Bins that are mostly of one class, ``n_bins`` at most, each with ``min_bin_share`` of the weight or more.

    >>> import numpy as np
    >>> from softbin import HardBins
    >>> ages = np.array([[21.0], [25.0], [33.0], [41.0], [57.0], [62.0]])
    >>> HardBins(strategy=CAIM()).fit(ages, ["no", "no", "no", "yes", "yes", "yes"]).bin_edges_[0].tolist()
    [21.0, 37.0, 62.0]
    """

    n_bins: int = 10
    min_bin_share: float = 0.0

    def __post_init__(self) -> None:
        object.__setattr__(self, "n_bins", check_n_bins(self.n_bins))
        object.__setattr__(self, "min_bin_share", check_share("min_bin_share", self.min_bin_share))

    @property
    def target(self) -> AskedKind:
        return "classes"

    def boundaries(self, counts: TargetCounts, *, knots: bool = False) -> Boundaries:
        cuts, note = greedy_cuts(counts, largest_class, caim, self.n_bins, self.min_bin_share, as_many_as_classes=True)
        return at_cuts(counts, cuts, knots, note)


def caim(score: float, r: int, n_classes: int) -> float:
    return score / r
