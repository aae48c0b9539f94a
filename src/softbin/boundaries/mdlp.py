"""Fayyad & Irani (1993): a cut stays if the classes take fewer bits to write down with it than without it.

A piece of N rows and k classes, cut in two pieces with k1 and k2 classes, gains

    N Ent(S) - N1 Ent(S1) - N2 Ent(S2)                           bits of class labels, and costs
    log2(N - 1) + log2(3^k - 2) - (k Ent(S) - k1 Ent(S1) - k2 Ent(S2))

bits to say where the cut is and which classes lie on its sides. The piece's best cut is made if it gains more than it
costs, and both sides are looked at again. Only places where the classes change can be best (Fayyad's theorem), so only
these are looked at.
"""

import math
from dataclasses import dataclass
from itertools import islice

import numpy as np
from numpy.typing import NDArray

from softbin.boundaries.best_first import Cut, best_first, first_best, room_for_cuts
from softbin.boundaries.boundaries import Boundaries
from softbin.boundaries.piece_loss import PieceLoss
from softbin.boundaries.rule import AskedKind, check_n_bins, check_share
from softbin.boundaries.tidy import at_cuts
from softbin.summaries.target_counts import Counts, TargetCounts


@dataclass(frozen=True)
class MDLP:
    """As many bins as pay for themselves, ``n_bins`` at most, each with ``min_bin_share`` of the weight or more.

    Differs: from the paper, where it cuts depth first. Here the cut with the largest gain is next, so that ``n_bins``
    keeps the most useful ones; without the cap the cuts are the same. Weights count rows: with larger weights more
    cuts pay.

    >>> import numpy as np
    >>> from softbin import HardBins
    >>> ages = np.array([[21.0], [25.0], [33.0], [41.0], [57.0], [62.0]])
    >>> HardBins(strategy=MDLP()).fit(ages, ["no", "no", "no", "yes", "yes", "yes"]).bin_edges_[0].tolist()
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
        loss = PieceLoss(counts)
        total = float(loss.weight_below[-1])
        changes = class_changes(counts.sums)

        def best_cut(start: int, stop: int) -> Cut | None:
            """The best cut of a piece, if it pays."""
            at = room_for_cuts(loss.weight_below, start, stop, self.min_bin_share * total)
            at = at[changes[at]]
            if len(at) == 0:
                return None
            gain = (loss(start, stop) - loss(start, at) - loss(at, stop)) / total
            best = first_best(gain)
            return (float(gain[best]), int(at[best])) if bits_saved(loss, start, int(at[best]), stop) > 0 else None

        cuts = best_first(len(counts), best_cut)
        chosen = sorted(at for _, at in islice(cuts, self.n_bins - 1))
        note = "" if chosen else "no cut pays for itself"
        if next(cuts, None) is not None:
            note = f"capped at {self.n_bins} bins; more cuts would pay"
        return at_cuts(counts, chosen, knots, note)


def class_changes(sums: Counts) -> NDArray[np.bool_]:
    """For each fine bin, whether a boundary point lies before it: it and the last one are not of one same class."""
    pure = (sums > 0).sum(axis=1) == 1
    which = sums.argmax(axis=1)
    alike = pure[1:] & pure[:-1] & (which[1:] == which[:-1])
    return np.concatenate([[False], ~alike])


def bits_saved(loss: PieceLoss, start: int, at: int, stop: int) -> float:
    """How many bits more a cut gains than it costs."""
    pieces = [(start, stop), (start, at), (at, stop)]
    weight = [float(loss.weight_below[b] - loss.weight_below[a]) for a, b in pieces]
    bits = [float(loss(a, b)) / math.log(2) for a, b in pieces]
    classes = [int(np.sum(loss.below[b] > loss.below[a])) for a, b in pieces]
    if weight[0] <= 1:
        # Less than two rows say nothing.
        return -math.inf
    whole, left, right = (k * b / w for k, b, w in zip(classes, bits, weight, strict=True))
    # log2(3^k - 2) without 3^k, which many classes would make too large.
    sides = classes[0] * math.log2(3) + math.log1p(-2.0 * 3.0 ** -classes[0]) / math.log(2) - (whole - left - right)
    return bits[0] - bits[1] - bits[2] - math.log2(max(weight[0] - 1, 1)) - sides
