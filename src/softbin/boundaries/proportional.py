"""Yang & Webb (2001), proportional k-interval: as many bins as rows in each, the square root of the rows.

With more rows there are both more bins, which lessens their bias, and more rows in each, which lessens the variance.
"""

import math
from dataclasses import dataclass, replace

from softbin.boundaries.boundaries import Boundaries
from softbin.boundaries.quantile import Quantile
from softbin.boundaries.rule import check_n_bins
from softbin.boundaries.tidy import own_places
from softbin.summaries.rank_histogram import RankHistogram


@dataclass(frozen=True)
class Proportional:
    """sqrt(n) bins of equal weight, ``n_bins`` at most; n is the sum of the weights.

    >>> import numpy as np
    >>> from softbin.summaries import RankHistogram
    >>> Proportional(100).boundaries(RankHistogram.of(np.arange(400.0))).n_bins
    20
    """

    n_bins: int = 10

    def __post_init__(self) -> None:
        object.__setattr__(self, "n_bins", check_n_bins(self.n_bins))

    def boundaries(self, histogram: RankHistogram, *, knots: bool = False) -> Boundaries:
        own = own_places(histogram, self.n_bins, knots)
        if own is not None:
            return own
        asked = max(1, math.floor(math.sqrt(histogram.total * histogram.unit)))
        found = Quantile(min(asked, self.n_bins)).boundaries(histogram, knots=knots)
        if asked <= self.n_bins:
            return found
        note = f"the rule asks for {asked} bins, capped at {self.n_bins}"
        return replace(found, note=f"{note}; {found.note}" if found.note else note)
