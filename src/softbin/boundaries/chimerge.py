"""Kerber (1992): neighbouring bins are merged while chance alone could have made their classes so unlike.

Starts from every fine bin. Two bins stay apart if their chi2 reaches the quantile at ``significance`` of the
chi-squared distribution with k - 1 degrees of freedom, k classes.
"""

from dataclasses import dataclass

import numpy as np
from scipy.special import chdtri

from softbin.boundaries.boundaries import Boundaries
from softbin.boundaries.chi_merging import join_light, merge_alike
from softbin.boundaries.rule import AskedKind, check_n_bins, check_share
from softbin.boundaries.tidy import at_cuts
from softbin.summaries.target_counts import TargetCounts


@dataclass(frozen=True)
class ChiMerge:
    """Bins whose classes differ from their neighbours' at this ``significance``; ``n_bins`` at most.

    Bins with less than ``min_bin_share`` of the weight join a neighbour. Weights count rows: with larger weights more
    differs significantly.

    >>> import numpy as np
    >>> from softbin import HardBins
    >>> ages = np.array([[21.0], [25.0], [33.0], [41.0], [57.0], [62.0]])
    >>> HardBins(strategy=ChiMerge()).fit(ages, ["no", "no", "no", "yes", "yes", "yes"]).bin_edges_[0].tolist()
    [21.0, 37.0, 62.0]
    """

    n_bins: int = 10
    significance: float = 0.95
    min_bin_share: float = 0.0

    def __post_init__(self) -> None:
        object.__setattr__(self, "n_bins", check_n_bins(self.n_bins))
        object.__setattr__(self, "significance", check_share("significance", self.significance))
        object.__setattr__(self, "min_bin_share", check_share("min_bin_share", self.min_bin_share))

    @property
    def target(self) -> AskedKind:
        return "classes"

    def boundaries(self, counts: TargetCounts, *, knots: bool = False) -> Boundaries:
        classes = int(np.sum(counts.sums.any(axis=0)))
        if classes == 1:
            return at_cuts(counts, [], knots, "one class only: nothing to tell apart")
        merges = merge_alike(counts.class_weight)
        threshold = float(chdtri(classes - 1, 1 - self.significance))
        enough = merges.until(threshold)
        capped = len(counts) - self.n_bins
        cuts = merges.left(enough if capped <= enough else merges.until(threshold, capped))
        kept = join_light(counts.class_weight, cuts, self.min_bin_share * float(counts.weight.sum()))
        notes = [f"{len(counts) - enough} bins differ, merged to {self.n_bins} at most"] * (capped > enough)
        notes += ["no two bins differ enough"] * (not cuts and self.n_bins > 1)
        notes += [f"{len(cuts) - len(kept)} light bins joined a neighbour"] * (len(kept) < len(cuts))
        return at_cuts(counts, kept, knots, "; ".join(notes))
