"""Scott (1979): bins as wide as 3.5 standard deviations over the cube root of the rows, best for a normal column.

A rule needs no more than the number of bins, range / width, rounded up and capped. So the standard deviation need not
be known to the last digit: the buckets of a histogram bound it, and they are refined only where that leaves the number
of bins open. With x the values, m the middles of their buckets and r the buckets' half widths, the triangle inequality
of the norm says

    sd(m) - sqrt(mean r^2)  <=  sd(x)  <=  sd(m) + sqrt(mean r^2)
"""

import math
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from softbin.boundaries.boundaries import Boundaries
from softbin.boundaries.rule import check_n_bins
from softbin.boundaries.tidy import own_places
from softbin.boundaries.uniform import Uniform
from softbin.summaries.rank_histogram import RankHistogram

Floats = NDArray[np.float64]


@dataclass(frozen=True)
class Scott:
    """Bins of equal width 3.5 sd n^(-1/3), ``n_bins`` at most; n is the sum of the weights.

    >>> import numpy as np
    >>> from softbin.summaries import RankHistogram
    >>> Scott(100).boundaries(RankHistogram.of(np.arange(512.0))).n_bins
    8
    """

    n_bins: int = 10

    def __post_init__(self) -> None:
        object.__setattr__(self, "n_bins", check_n_bins(self.n_bins))

    def boundaries(self, histogram: RankHistogram, *, knots: bool = False) -> Boundaries:
        own = own_places(histogram, self.n_bins, knots)
        if own is not None:
            return own
        n_bins, note = scott_bins(histogram, self.n_bins)
        return equal_width(histogram, n_bins, knots, note)


def equal_width(histogram: RankHistogram, n_bins: int, knots: bool, note: str) -> Boundaries:
    """This many bins of equal width, with what else there is to say of them."""
    found = Uniform(n_bins).boundaries(histogram, knots=knots)
    return Boundaries(found.edges, note="; ".join(filter(None, [note, found.note])))


def scott_bins(histogram: RankHistogram, most: int) -> tuple[int, str]:
    """How many bins there are, ``most`` at most, and a note."""
    cube_root = (histogram.total * histogram.unit) ** (1 / 3)

    def bins(sd: float) -> int:
        """``sd`` is in units of the column's range."""
        return capped(cube_root / (3.5 * sd) if sd > 0 else math.inf, most)

    middle, off, half = spread(histogram)
    few, many = bins(middle + off), bins(middle - off)
    if few != many:
        # The widest heavy buckets first; half of what is unknown at once, so that few passes do.
        unknown = histogram.weight * half**2
        order = np.argsort(-unknown, kind="stable")
        enough = int(np.searchsorted(np.cumsum(unknown[order]), unknown.sum() / 2)) + 1
        histogram.require(order[:enough])
    return few, capped_note(cube_root / (3.5 * middle), most) if middle > 0 else ""


def spread(histogram: RankHistogram) -> tuple[float, float, Floats]:
    """The standard deviation of a column of range 1, how far it may be off, and the half width of each bucket."""
    low, high = histogram.minimum, histogram.maximum
    # A column too wide for a float64 has no width; its edges are an error later on.
    with np.errstate(over="ignore", invalid="ignore"):
        left, right = ((np.clip(end, low, high) - low) / (high - low) for end in (histogram.low, histogram.high))
    middle, half = (left + right) / 2, (right - left) / 2
    share = histogram.weight / histogram.total
    mean = float(np.sum(share * middle))
    sd = math.sqrt(float(np.sum(share * (middle - mean) ** 2)))
    off = math.sqrt(float(np.sum(share * half**2)))
    # Why a little more: rounding must not close what is open.
    return sd, off * (1 + 1e-9) + 1e-12 * (off > 0), half


def capped(bins: float, most: int) -> int:
    """A number of bins as a whole number from 1 to ``most``."""
    return max(1, math.ceil(bins)) if bins < most else most


def capped_note(bins: float, most: int) -> str:
    return f"the rule asks for {math.ceil(bins)} bins, capped at {most}" if most < bins < math.inf else ""
