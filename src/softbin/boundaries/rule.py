"""What a rule is: a frozen value that turns the summary of one column into its boundaries."""

from typing import Any, Protocol

from softbin.boundaries.boundaries import Boundaries
from softbin.errors import OptionError
from softbin.summaries.rank_histogram import RankHistogram


class Rule(Protocol):
    """Sees a summary, never rows. ``knots`` says that soft bins ask: edges on values instead of between them."""

    def boundaries(self, histogram: RankHistogram, *, knots: bool = False) -> Boundaries: ...


def check_n_bins(n_bins: Any) -> int:
    """``n_bins`` as an int, or an error."""
    if isinstance(n_bins, bool) or not hasattr(n_bins, "__index__") or int(n_bins) < 1:
        raise OptionError(f"n_bins: {n_bins!r} is not a number of bins; pass a whole number, 1 or more")
    return int(n_bins)
