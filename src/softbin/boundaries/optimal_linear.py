"""The knots of the best continuous piecewise-linear fit: hats for what bends, not for what is frequent.

    number           squared error
    two classes      log-loss, the logit being piecewise linear
    more classes     squared error of the class shares (Brier score): one set of knots for all classes

Log-loss is searched by the squares that stand for it around a fit (those of Newton's method): knots that are best for
the squares are kept if they lower the log-loss itself, and the squares are taken anew around their fit, until nothing
more is gained. Knots of equal weight are always among those compared, so the answer is never worse than they are.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property

import numpy as np
from numpy.typing import NDArray
from scipy.special import expit

from softbin.boundaries.boundaries import Boundaries
from softbin.boundaries.free_knots import Knots, KnotSearch
from softbin.boundaries.piece_loss import PieceLoss
from softbin.boundaries.quantile import Quantile
from softbin.boundaries.rule import AskedKind, check_n_bins, check_share
from softbin.boundaries.tidy import at_cuts
from softbin.summaries.rank_histogram import RankHistogram
from softbin.summaries.target_counts import TargetCounts

Floats = NDArray[np.float64]

ROUNDS = 5  # of squares taken anew
ENOUGH = 1e-9  # of the log-loss: less is no gain
NEWTON_STEPS = 30
MOST_LOGIT = 30.0
COARSE = 512  # places that a search on very many starts on


@dataclass(frozen=True)
class OptimalLinear:
    """Knots for at most ``n_bins`` pieces of a continuous piecewise-linear fit, found by moving them one by one.

    At the end, no single knot can be moved to any value of the column (of up to 4096) and lower the squared error; two
    moved together might, so the best is likely but not certain. It is never worse than as many knots of equal weight.
    Between knots there is ``min_bin_share`` of the weight or more. Knots of no use are left out: a straight line takes
    none but the ends. Hard bins are cut at the same places.

    >>> import numpy as np
    >>> from softbin import SoftBins
    >>> X = np.arange(101.0)[:, None]
    >>> SoftBins(strategy=OptimalLinear(3)).fit(X, np.maximum(X[:, 0] - 70, 0) / 2).bin_edges_[0].tolist()
    [0.0, 70.0, 100.0]
    """

    n_bins: int = 10
    min_bin_share: float = 0.01

    def __post_init__(self) -> None:
        object.__setattr__(self, "n_bins", check_n_bins(self.n_bins))
        object.__setattr__(self, "min_bin_share", check_share("min_bin_share", self.min_bin_share))

    @property
    def target(self) -> AskedKind:
        return "auto"

    def boundaries(self, counts: TargetCounts, *, knots: bool = False) -> Boundaries:
        loss = PieceLoss(counts)
        whole = float(loss(0, len(counts)))
        if whole <= loss.rounding or len(counts) < 3:
            return self._at(counts, [], knots, "the target is the same in all rows" * (whole <= loss.rounding))
        found = self._knots(counts)[1:-1]
        note = "" if len(found) == self.n_bins - 1 else f"no {'further ' if found else ''}knot helps"
        return self._at(counts, found, knots, note)

    def _knots(self, counts: TargetCounts) -> Knots:
        """Positions of fine bins, the first and the last among them."""
        loss, at = PieceLoss(counts), places(counts.values)
        below, least = loss.units_below, loss.least_units(self.min_bin_share)
        fit: KnotSearch | LogitFit
        # Why whole units, and numbers by their own spread: knots do not depend on the scale of weights or numbers.
        sums = counts.sums.T.astype(np.float64)
        if counts.n_classes == 2:
            fit = LogitFit(at, sums[0], sums[1], below, least)
        elif counts.kind == "classes":
            weight = sums.sum(axis=0)
            away = sums - weight * (sums.sum(axis=1, keepdims=True) / weight.sum())
            # Why: a share's square is at most the share, so the weights bound what no fit at all loses.
            fit = KnotSearch(at, weight, away, float(weight.sum()), below, least)
        else:
            weight, y = sums[0], counts.moments[1] / counts.unit[0]
            spread = np.sqrt(counts.moments[2].sum() / counts.moments[0].sum())
            fit = KnotSearch(at, weight, y[None] / spread, float(weight.sum()), below, least)
        equal = fit.allowed(self._equal(counts, below, self.n_bins))
        if len(counts) <= 2 * COARSE:
            many = fit.allowed(self._equal(counts, below, 3 * self.n_bins))
            return fit.best([equal, fit.grown(self.n_bins), fit.shrunk(many, self.n_bins)])
        # Why: nearly all moves are made on few places, and only the last ones on all of them.
        middle = (np.arange(COARSE) * len(counts)) // COARSE
        coarse = self._knots(counts.joined(middle))
        near = fit.allowed([0, *middle[coarse[1:-1]].tolist(), len(counts) - 1])
        return fit.best([min([near, equal], key=fit.lost)])

    def _equal(self, counts: TargetCounts, below: NDArray[np.int64], n_bins: int) -> Knots:
        """As many knots of equal weight."""
        column = RankHistogram.of(counts.values, np.diff(below))
        edges = np.array(Quantile(n_bins).boundaries(column, knots=True).edges)
        return [0, *np.searchsorted(counts.values, edges[1:-1]).tolist(), len(counts) - 1]

    def _at(self, counts: TargetCounts, knots: Knots, soft: bool, note: str) -> Boundaries:
        if not soft:
            return at_cuts(counts, knots, soft, note)
        values = counts.values[knots]
        values = values[(values > counts.minimum) & (values < counts.maximum)]
        return Boundaries(tuple(np.unique([counts.minimum, *values, counts.maximum])), note=note)


def places(values: Floats) -> Floats:
    """From 0 at the first value to 1 at the last, however large or small they are."""
    # Why the powers of two: the range of the largest floats overflows, and that of the smallest has no inverse.
    exponent = -int(np.frexp(np.abs(values).max())[1]) - 1
    scaled = np.ldexp(values, exponent)
    at: Floats = (scaled - scaled[0]) / (scaled[-1] - scaled[0])
    return at


@dataclass(frozen=True, eq=False)
class LogitFit:
    """Piecewise-linear logits of two classes with these weights at each place."""

    at: Floats
    first: Floats
    second: Floats
    below: NDArray[np.int64]
    least: int

    def squares(self, logit: Floats) -> KnotSearch:
        """What stands for the log-loss around these logits."""
        weight = self.first + self.second
        share = expit(logit)
        # Why a least curvature: where a class is sure, the squares would know nothing of the rows there.
        curvature = weight * np.maximum(share * (1 - share), 1e-6)
        pull = curvature * logit + self.second - weight * share
        mean = pull.sum() / curvature.sum()
        squares = float(np.sum((pull - curvature * mean) ** 2 / np.where(curvature > 0, curvature, 1.0)))
        return KnotSearch(self.at, curvature, (pull - curvature * mean)[None], squares, self.below, self.least)

    def loss(self, logit: Floats) -> float:
        return float(np.sum(self.second * np.logaddexp(0, -logit) + self.first * np.logaddexp(0, logit)))

    def fit(self, knots: Knots) -> tuple[float, Floats]:
        """The lowest log-loss with these knots, and the logits."""
        share = self.second.sum() / (self.first + self.second).sum()
        logit = np.full(len(self.at), np.log(share) - np.log1p(-share))
        loss = self.loss(logit)
        for _ in range(NEWTON_STEPS):
            search = self.squares(logit)
            aim = search.fit(knots)[0]
            # The squares were taken from their mean, which every fit contains.
            aim = np.clip(aim + self._mean(logit), -MOST_LOGIT, MOST_LOGIT)
            step, next_loss = 1.0, self.loss(aim)
            while next_loss > loss and step > 1e-3:
                step /= 2
                next_loss = self.loss(logit + step * (aim - logit))
            if next_loss >= loss * (1 - 1e-10):
                break
            logit, loss = logit + step * (aim - logit), next_loss
        return loss, logit

    def lost(self, knots: Knots) -> float:
        return self.fit(knots)[0]

    def allowed(self, knots: Knots) -> Knots:
        return self._flat.allowed(knots)

    def grown(self, n_pieces: int) -> Knots:
        return self._flat.grown(n_pieces)

    def shrunk(self, knots: Knots, n_pieces: int) -> Knots:
        return self._flat.shrunk(knots, n_pieces)

    @cached_property
    def _flat(self) -> KnotSearch:
        return self.squares(np.zeros(len(self.at)))

    def best(self, candidates: Sequence[Knots]) -> Knots:
        """The knots of the lowest log-loss found from these."""
        loss, logit, knots = min(((*self.fit(knots), knots) for knots in candidates), key=lambda fit: fit[0])
        for _ in range(ROUNDS):
            search = self.squares(logit)
            moved = [search.settled(knots) for knots in candidates]
            best = min(((*self.fit(knots), knots) for knots in moved), key=lambda fit: fit[0])
            if best[0] >= loss * (1 - ENOUGH) and len(best[2]) >= len(knots):
                break
            loss, logit, knots = best
            candidates = [knots]
        return knots

    def _mean(self, logit: Floats) -> float:
        weight, share = self.first + self.second, expit(logit)
        curvature = weight * np.maximum(share * (1 - share), 1e-6)
        return float(np.sum(curvature * logit + self.second - weight * share) / curvature.sum())
