"""Tsai, Lee & Yang (2008), class-attribute contingency coefficient: chi2 of bins and classes, less for many bins.

    CACC = sqrt(y / (y + N)),  y = chi2 / ln r

for r bins and N rows. As in CAIM, there are as many bins as classes before it matters whether it rises.
"""

import math
from dataclasses import dataclass

from softbin.boundaries.boundaries import Boundaries
from softbin.boundaries.greedy import chi_squared, greedy_cuts
from softbin.boundaries.rule import AskedKind, check_n_bins, check_share
from softbin.boundaries.tidy import at_cuts
from softbin.summaries.target_counts import TargetCounts


@dataclass(frozen=True)
class CACC:
    """Bins that go with classes, ``n_bins`` at most, each with ``min_bin_share`` of the weight or more.

    >>> import numpy as np
    >>> from softbin import HardBins
    >>> ages = np.array([[21.0], [25.0], [33.0], [41.0], [57.0], [62.0]])
    >>> HardBins(strategy=CACC()).fit(ages, ["no", "no", "no", "yes", "yes", "yes"]).bin_edges_[0].tolist()
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
        cuts, note = greedy_cuts(counts, chi_squared, cacc, self.n_bins, self.min_bin_share, as_many_as_classes=True)
        return at_cuts(counts, cuts, knots, note)


def cacc(score: float, r: int, n_classes: int) -> float:
    y = max(score - 1, 0.0) / math.log(r)
    return math.sqrt(y / (y + 1))
