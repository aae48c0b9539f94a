"""Freedman & Diaconis (1981): bins as wide as 2 interquartile ranges over the cube root of the rows.

As Scott's rule, but tails do not count. Where half of the weight is one value, the interquartile range is zero and
Scott's width is taken.
"""

from dataclasses import dataclass

from softbin.boundaries.boundaries import Boundaries
from softbin.boundaries.quantile import at_ranks, equal_ranks
from softbin.boundaries.rule import check_n_bins
from softbin.boundaries.scott import capped, capped_note, equal_width, scott_bins
from softbin.boundaries.tidy import own_places
from softbin.summaries.rank_histogram import RankHistogram


@dataclass(frozen=True)
class FreedmanDiaconis:
    """Bins of equal width 2 IQR n^(-1/3), ``n_bins`` at most; n is the sum of the weights.

    >>> import numpy as np
    >>> from softbin.summaries import RankHistogram
    >>> FreedmanDiaconis(100).boundaries(RankHistogram.of(np.arange(512.0))).n_bins
    8
    """

    n_bins: int = 10

    def __post_init__(self) -> None:
        object.__setattr__(self, "n_bins", check_n_bins(self.n_bins))

    def boundaries(self, histogram: RankHistogram, *, knots: bool = False) -> Boundaries:
        own = own_places(histogram, self.n_bins, knots)
        if own is not None:
            return own
        iqr = interquartile_range(histogram)
        if iqr == 0:
            n_bins, note = scott_bins(histogram, self.n_bins)
            why = "the interquartile range is 0, so the width is Scott's"
            return equal_width(histogram, n_bins, knots, f"{why}; {note}" if note else why)
        cube_root = (histogram.total * histogram.unit) ** (1 / 3)
        bins = (histogram.maximum - histogram.minimum) / iqr / 2 * cube_root
        return equal_width(histogram, capped(bins, self.n_bins), knots, capped_note(bins, self.n_bins))


def interquartile_range(histogram: RankHistogram) -> float:
    """The value at three quarters of the weight less that at one quarter."""
    quarters = at_ranks(histogram, equal_ranks(0, histogram.total, 4)[[0, 2]])
    histogram.require(quarters)
    first, third = histogram.low[quarters].tolist()
    return float(third - first)
