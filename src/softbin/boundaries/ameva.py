"""Gonzalez-Abril, Cuberos, Velasco & Ortega (2009): chi2 of bins and classes for each degree of freedom.

    Ameva = chi2 / (r (k - 1))

for r bins and k classes. A bin more has to add the mean of what those before it did, so there are few.
"""

from dataclasses import dataclass

from softbin.boundaries.boundaries import Boundaries
from softbin.boundaries.greedy import chi_squared, greedy_cuts
from softbin.boundaries.rule import AskedKind, check_n_bins, check_share
from softbin.boundaries.tidy import at_cuts
from softbin.summaries.target_counts import TargetCounts


@dataclass(frozen=True)
class Ameva:
    """Few bins that go with classes, ``n_bins`` at most, each with ``min_bin_share`` of the weight or more.

    >>> import numpy as np
    >>> from softbin import HardBins
    >>> ages = np.array([[21.0], [25.0], [33.0], [41.0], [57.0], [62.0]])
    >>> HardBins(strategy=Ameva()).fit(ages, ["no", "no", "no", "yes", "yes", "yes"]).bin_edges_[0].tolist()
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
        cuts, note = greedy_cuts(counts, chi_squared, ameva, self.n_bins, self.min_bin_share, as_many_as_classes=False)
        return at_cuts(counts, cuts, knots, note)


def ameva(score: float, r: int, n_classes: int) -> float:
    # Why over N: which is largest does not depend on it.
    return (score - 1) / (r * (n_classes - 1))
