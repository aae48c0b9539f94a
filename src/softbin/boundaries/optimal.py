"""The exactly best bins: no other way to cut the column, within the same limits, tells the target as well."""

from dataclasses import dataclass
from typing import Literal

from softbin.boundaries.boundaries import Boundaries
from softbin.boundaries.monotone import Monotone
from softbin.boundaries.notes import why_few
from softbin.boundaries.piece_loss import PieceLoss
from softbin.boundaries.rule import AskedKind, check_choice, check_n_bins, check_share
from softbin.boundaries.segments import Segments
from softbin.boundaries.tidy import at_cuts
from softbin.errors import OptionError
from softbin.summaries.target_counts import TargetCounts

Direction = Literal["increasing", "decreasing", "auto"]


@dataclass(frozen=True)
class Optimal:
    """At most ``n_bins`` bins, each of ``min_bin_share`` of the weight or more, with the lowest loss there is.

    The loss is the log-loss of classes or the squared error of numbers, when each bin is told by its share or mean.
    All ways to cut between the fine bins of the column (its distinct values, up to 4096 of them) are looked at. Of
    ways that lose the same, one with the fewest bins is taken. ``monotonic``: the share of the second class, or the
    mean, may not fall ("increasing") or not rise ("decreasing") from bin to bin, exactly, beside the least weight;
    "auto" takes the better of the two. Soft bins have their knots on the cuts. Beside a least weight, a direction may
    take seconds for a column of 4096 fine bins that tells nothing; without one, milliseconds.

    >>> import numpy as np
    >>> from softbin import HardBins
    >>> ages = np.array([[21.0], [25.0], [33.0], [41.0], [57.0], [62.0]])
    >>> HardBins(strategy=Optimal(3)).fit(ages, ["no", "yes", "yes", "no", "no", "no"]).bin_edges_[0].tolist()
    [21.0, 23.0, 37.0, 62.0]
    """

    n_bins: int = 10
    monotonic: Direction | None = None
    min_bin_share: float = 0.01

    def __post_init__(self) -> None:
        object.__setattr__(self, "n_bins", check_n_bins(self.n_bins))
        check_choice("monotonic", self.monotonic, (None, "increasing", "decreasing", "auto"))
        object.__setattr__(self, "min_bin_share", check_share("min_bin_share", self.min_bin_share))

    @property
    def target(self) -> AskedKind:
        return "auto"

    def boundaries(self, counts: TargetCounts, *, knots: bool = False) -> Boundaries:
        loss = PieceLoss(counts)
        segments = Segments(loss, self.min_bin_share)
        starts = segments.best_starts(self.n_bins) if self.monotonic is None else self._monotone_starts(segments)
        return at_cuts(counts, starts, knots, why_few(loss, starts, self.n_bins, self.min_bin_share, self.monotonic))

    def _monotone_starts(self, segments: Segments) -> list[int]:
        counts = segments.loss.counts
        if counts.n_classes > 2:
            raise OptionError(
                f"monotonic: {self.monotonic!r} asks for a share that rises or falls, and there are "
                f"{counts.n_classes} classes; pass monotonic=None, or two classes or a number as the target"
            )
        if counts.n_classes == 1:
            return []
        most = min(self.n_bins, len(counts))
        signs = {"increasing": [1], "decreasing": [-1], "auto": [1, -1]}[self.monotonic or "auto"]
        first, *others = sorted((Monotone(segments, sign, most) for sign in signs), key=lambda way: way.floor)
        best = first
        for other in others:
            # Why the floor: it is cheap, and mostly tells that the other direction cannot win.
            if other.floor < best.total(best.best_starts) - segments.loss.rounding:
                best = min(best, other, key=lambda way: way.total(way.best_starts))
        return best.best_starts
