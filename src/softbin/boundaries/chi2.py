"""Liu & Setiono (1995): ChiMerge with ever higher significance, while the bins still tell the classes apart.

The significance 1 - 1/2, 1 - 1/4, 1 - 1/8, ... is raised until merging would leave too much *inconsistent*: weight that
is not of its bin's largest class.

Differs: in the paper the inconsistency is that of whole rows of a table, which all columns together keep low. A column
alone is inconsistent however finely it is cut, so what is bounded here is the share that merging adds.
"""

from dataclasses import dataclass

import numpy as np
from scipy.special import chdtri

from softbin.boundaries.boundaries import Boundaries
from softbin.boundaries.chi_merging import Merges, join_light, merge_alike
from softbin.boundaries.rule import AskedKind, check_n_bins, check_share
from softbin.boundaries.tidy import at_cuts
from softbin.summaries.target_counts import TargetCounts

MOST_LEVELS = 1000  # 2^-1000 is about the smallest chance a float can say


@dataclass(frozen=True)
class Chi2:
    """As few bins as add ``inconsistency`` at most to that of the fine bins; ``n_bins`` at most even so.

    Bins with less than ``min_bin_share`` of the weight join a neighbour. Weights count rows.

    >>> import numpy as np
    >>> from softbin import HardBins
    >>> ages = np.array([[21.0], [25.0], [33.0], [41.0], [57.0], [62.0]])
    >>> HardBins(strategy=Chi2()).fit(ages, ["no", "no", "no", "yes", "yes", "yes"]).bin_edges_[0].tolist()
    [21.0, 37.0, 62.0]
    """

    n_bins: int = 10
    inconsistency: float = 0.05
    min_bin_share: float = 0.0

    def __post_init__(self) -> None:
        object.__setattr__(self, "n_bins", check_n_bins(self.n_bins))
        object.__setattr__(self, "inconsistency", check_share("inconsistency", self.inconsistency))
        object.__setattr__(self, "min_bin_share", check_share("min_bin_share", self.min_bin_share))

    @property
    def target(self) -> AskedKind:
        return "classes"

    def boundaries(self, counts: TargetCounts, *, knots: bool = False) -> Boundaries:
        classes = int(np.sum(counts.sums.any(axis=0)))
        if classes == 1:
            return at_cuts(counts, [], knots, "one class only: nothing to tell apart")
        merges = merge_alike(counts.class_weight)
        total = float(counts.weight.sum())
        enough = consistent_merges(merges, classes, self.inconsistency * total)
        capped = max(enough, len(counts) - self.n_bins)
        cuts = merges.left(capped)
        kept = join_light(counts.class_weight, cuts, self.min_bin_share * total)
        added = float(merges.lost[:capped].sum()) / total
        notes = [f"merged to {self.n_bins} bins at most, {added:.1%} more is inconsistent"] * (capped > enough)
        notes += [f"one bin for all, {added:.1%} more is inconsistent"] * (not cuts and capped == enough)
        notes += [f"{len(cuts) - len(kept)} light bins joined a neighbour"] * (len(kept) < len(cuts))
        return at_cuts(counts, kept, knots, "; ".join(notes))


def consistent_merges(merges: Merges, classes: int, most_lost: float) -> int:
    """How many merges the highest significance makes that does not lose more."""
    # Why: rounding of a sum must not make a loss of exactly the bound too much.
    lost = np.concatenate([[0.0], np.cumsum(merges.lost)]) * (1 - 1e-12)
    enough = 0
    for level in range(1, MOST_LEVELS + 1):
        more = merges.until(float(chdtri(classes - 1, 2.0**-level)), enough)
        if lost[more] > most_lost:
            break
        enough = more
    return enough
