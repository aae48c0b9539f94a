"""``n_bins="auto"``: how many bins, from the target where there is one, else from the number of rows.

With a target. Every number of bins K is tried on the fine bins of the column: the rule cuts them into K, a curve is
fitted, and its squared bias is what the residual is more than noise (theory/measured_risk.py, Mallows). The K of least

    squared bias + 2 x parameters x noise variance / rows        K parameters for hard bins, K + 1 for soft ones

is taken, so a column that says nothing gets one bin, a line one soft bin and some hard ones, and for smooth curves the
numbers grow with the rows, those of hard bins as n^(1/3), those of soft bins as n^(1/5). More than two classes: this
for one against the rest, in units of the noise of each, added up.

Why 2, where the risk of a single curve has 1. The least of many estimates is too low, and it is more often a fit that
followed the noise; and a model of many columns has all their noise at once. Measured on real rows under
LinearClassifier, 2 is worth 1 to 2 points of AUC where rows are few and nothing where they are many. For a smooth curve
it takes 0.79 times as many hard bins, 0.87 times as many soft ones, which costs 5 % more than the least risk.

Numbers to 16 are all tried, then each a fifth more than the one before, up to 100 soft or 1000 hard bins. Knots are
taken as if on the fine bins nearest to them.

Without a target only the rows count, and what is left of the theory are its rates:

    hard bins   n^(1/3) / 2        soft bins   n^(1/5)             rounded up, n the sum of the weights

(5 and 4 bins for 1,000 rows, 23 and 10 for 100,000): about the best single number for all columns of two tables of
physics, HIGGS and SUSY. Better let it look at the target.
"""

import math
from collections.abc import Iterator
from dataclasses import dataclass, replace
from typing import Any, Literal

import numpy as np

from softbin.boundaries.boundaries import Boundaries
from softbin.boundaries.indicators import centres, moments, seen_coarsely
from softbin.boundaries.kmeans import KMeans
from softbin.boundaries.piece_loss import PieceLoss
from softbin.boundaries.quantile import Quantile
from softbin.boundaries.risk import Risk
from softbin.boundaries.rule import AnyRule, AskedKind, asked_target
from softbin.boundaries.tidy import at_ends
from softbin.boundaries.uniform import Uniform
from softbin.errors import OptionError
from softbin.summaries.rank_histogram import RankHistogram
from softbin.summaries.target_counts import TargetCounts
from softbin.theory.measured_risk import risk_of_bins, risk_of_knots
from softbin.theory.pilot import FineBins, steps

AUTO: Literal["auto"] = "auto"
MOST_SOFT = 100
MOST_HARD = 1000
TRIED_ON = {True: 1024, False: 4096}  # fine bins, for knots and for hard bins
STEP = 1.2
PER_PARAMETER = 2.0
LEAST_NOISE = 1e-12  # of the target's variance: beside none, every bin would be free
COUNTED = (Quantile, Uniform, KMeans, Risk)  # rules that make as many bins as they are told to


def automatic(rule: AnyRule, supervised: bool) -> AnyRule:
    """The rule with a number of bins that is found in the fit; ``supervised``: there is a target to look at."""
    if not isinstance(rule, COUNTED):
        name = type(rule).__name__
        raise OptionError(
            f'n_bins: "auto" goes with quantile, uniform, kmeans and risk; {name} looks for bins in its own way, '
            "so pass a number"
        )
    return Measured(rule) if supervised or asked_target(rule) is not None else ByRows(rule)


@dataclass(frozen=True)
class ByRows:
    """As many bins as rows alone suggest.

    >>> import numpy as np
    >>> ByRows(Quantile()).boundaries(RankHistogram.of(np.arange(1000.0))).n_bins
    5
    """

    rule: Any

    def boundaries(self, histogram: RankHistogram, *, knots: bool = False) -> Boundaries:
        n_rows = histogram.total * histogram.unit
        # Why a little less: the cube root of 1000 is not quite 10 in floating point.
        wanted = math.ceil((n_rows**0.2 if knots else n_rows ** (1 / 3) / 2) - 1e-9)
        n_bins = min(max(1, wanted), _cap(knots))
        found = replace(self.rule, n_bins=n_bins).boundaries(histogram, knots=knots)
        return _noted(found, n_bins, f"by {n_rows:,.0f} rows, without a target")


@dataclass(frozen=True)
class Measured:
    """As many bins as have the least measured risk. Weights count rows: 2 is the row twice.

    >>> import numpy as np
    >>> from softbin import HardBins, SoftBins
    >>> X = np.linspace(0, 1, 3001)[:, None]
    >>> y = X[:, 0] + np.random.default_rng(0).normal(size=3001) / 10
    >>> [int(bins("auto").fit(X, y).n_bins_[0]) for bins in (SoftBins, HardBins)]
    [1, 35]
    """

    rule: Any

    @property
    def target(self) -> AskedKind:
        return "auto"

    def boundaries(self, counts: TargetCounts, *, knots: bool = False) -> Boundaries:
        n_bins, why = self._number(counts, knots)
        rule, column = _on(replace(self.rule, n_bins=n_bins), counts, knots)
        return _noted(at_ends(rule.boundaries(column, knots=knots), counts), n_bins, why)

    def _number(self, counts: TargetCounts, knots: bool) -> tuple[int, str]:
        """How many bins, and why."""
        loss, rows = PieceLoss(counts), float(counts.weight.sum())
        if loss(0, len(counts)) <= loss.rounding:
            return 1, "the target is the same in all rows"
        seen = seen_coarsely(counts, TRIED_ON[knots])
        if len(seen) < 2:
            return 1, f"{rows:,.0f} rows are too few to measure a risk"
        tried = list(self._tried(seen, knots))
        n_bins, _ = min(tried, key=lambda pair: pair[1])
        return n_bins, f"of 1 to {tried[-1][0]} the least measured risk with {rows:,.0f} rows"

    def _tried(self, seen: TargetCounts, knots: bool) -> Iterator[tuple[int, float]]:
        """Numbers of bins with their risk, in units of the noise variance."""
        fine = [_noisy(FineBins.of(centres(seen), *sums)) for sums in moments(seen)]
        rule, column = _on(self.rule, seen, knots)
        for n_bins in steps(1, min(_cap(knots), len(seen)), STEP):
            edges = np.array(replace(rule, n_bins=n_bins).boundaries(column, knots=knots).edges)
            yield n_bins, _risk(fine, seen, edges, n_bins, knots)


def _on(rule: Any, counts: TargetCounts, knots: bool) -> tuple[Any, RankHistogram]:
    """A label-free rule, and the column for it."""
    if isinstance(rule, Risk):
        return rule.on(counts, knots)
    weight = counts.sums.sum(axis=1) if counts.kind == "classes" else counts.sums[:, 0]
    column = RankHistogram.of(counts.values, weight, counts.unit[0])
    return rule, replace(column, minimum=counts.minimum, maximum=counts.maximum)


def _risk(fine: list[FineBins], seen: TargetCounts, edges: Any, n_bins: int, knots: bool) -> float:
    """The measured risk of these edges; of several indicators, in units of the noise of each, the sum."""
    if knots:
        # Why the nearest fine bins: every knot is then determined, wherever the rule puts it.
        at = np.searchsorted(seen.values[:-1] / 2 + seen.values[1:] / 2, edges)
        found = [risk_of_knots(one, at, n_bins) for one in fine]
    else:
        at = np.searchsorted(edges[1:-1], seen.values, side="right")
        found = [risk_of_bins(one, at, n_bins) for one in fine]
    return sum(
        (risk.squared_bias + PER_PARAMETER * risk.variance) / one.noise_variance
        for risk, one in zip(found, fine, strict=True)
    )


def _noisy(fine: FineBins) -> FineBins:
    """The same with some noise at least."""
    spread = float(fine.rows @ (fine.means - fine.sums.sum() / fine.n) ** 2) / fine.n
    return replace(fine, noise_variance=max(fine.noise_variance, LEAST_NOISE * spread))


def _cap(knots: bool) -> int:
    return MOST_SOFT if knots else MOST_HARD


def _noted(found: Boundaries, n_bins: int, why: str) -> Boundaries:
    note = f"auto: {n_bins} bin{'s' * (n_bins != 1)}, {why}"
    return replace(found, note=f"{note}; {found.note}" if found.note else note)
