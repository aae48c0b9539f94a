"""Knots where the curve bends: the density of edges that the theory of bias and variance calls best.

For a given number of bins the variance does not depend on where the edges are, and the bias is least for edges of
density

    hard bins   (p lambda'^2)^(1/3)        soft bins   (p lambda''^2)^(1/5)

(theory/knot_density.py), p the density of the values and lambda the curve: the log-odds of a class, then p counts times
pi (1 - pi), or the mean. lambda' and lambda'' come from a pilot fit to the fine bins (theory/pilot.py): differences of
merged bins, as finely as they are clear of their noise, less that noise.

A pilot sees one column, and little of it where rows are few. So half of the edges are dealt out by weight, as quantiles
are: no stretch has less than half the edges it would have had, however flat it looked. That bounds the loss: where the
pilot saw nothing at all, hard bins have the bias of half as many quantile bins. Without clear roughness, all edges are
quantiles.

Both together are a new weight for every fine bin, and the edges are the quantiles of that, ties and all.
"""

from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import NDArray

from softbin.boundaries.boundaries import Boundaries
from softbin.boundaries.indicators import centres, moments, seen_coarsely
from softbin.boundaries.quantile import Quantile
from softbin.boundaries.rule import AskedKind, Rule, check_n_bins
from softbin.boundaries.tidy import at_ends
from softbin.summaries.rank_histogram import RankHistogram
from softbin.summaries.target_counts import TargetCounts
from softbin.theory.pilot import Link, pilot

Floats = NDArray[np.float64]

BY_WEIGHT = 0.5  # the share of the edges that is dealt out as quantiles are
PILOT_BINS = 1000
UNITS = 2.0**40


@dataclass(frozen=True)
class Risk:
    """Edges where they lessen the squared error of the curve most, ``n_bins`` bins.

    Weights count rows: 2 is the row twice. With no more distinct values than bins, each has its own.

    >>> import numpy as np
    >>> from softbin import SoftBins
    >>> X = np.linspace(0, 1, 2001)[:, None]
    >>> y = np.maximum(X[:, 0] - 0.5, 0) + np.random.default_rng(0).normal(size=2001) / 100
    >>> knots = SoftBins(8, strategy=Risk(8)).fit(X, y).bin_edges_[0]
    >>> int(np.sum(np.abs(knots - 0.5) < 0.1))
    3
    """

    n_bins: int = 10

    def __post_init__(self) -> None:
        object.__setattr__(self, "n_bins", check_n_bins(self.n_bins))

    @property
    def target(self) -> AskedKind:
        return "auto"

    def boundaries(self, counts: TargetCounts, *, knots: bool = False) -> Boundaries:
        rule, column = self.on(counts, knots)
        return at_ends(rule.boundaries(column, knots=knots), counts)

    def on(self, counts: TargetCounts, knots: bool) -> tuple[Rule, RankHistogram]:
        """The label-free rule that finds these edges, and the column weighed so that it does."""
        share = _edge_shares(counts, knots)
        weight = counts.weight / counts.weight.sum()
        units = np.rint(((1 - BY_WEIGHT) * share + BY_WEIGHT * weight) * UNITS).astype(np.int64)
        column = RankHistogram.of(counts.values, np.maximum(units, 1))
        return Quantile(self.n_bins), replace(column, minimum=counts.minimum, maximum=counts.maximum)


def _edge_shares(counts: TargetCounts, knots: bool) -> Floats:
    """The share of the edges that is best for each fine bin."""
    weight = counts.weight / counts.weight.sum()
    seen = seen_coarsely(counts, PILOT_BINS)
    if len(seen) < 3:
        return weight
    at = centres(seen)
    link: Link = "logit" if counts.kind == "classes" else "identity"
    below = np.append(0.0, np.cumsum(weight))
    found = []
    for rows, sums, squares in moments(seen):
        of_rows, of_edges = pilot(at, rows, sums, squares, link=link).edge_shares("soft" if knots else "hard")
        ends, edges_below = (np.append(0.0, np.cumsum(share)) for share in (of_rows, of_edges))
        found.append(np.diff(np.interp(below, ends, edges_below)))
    return np.asarray(np.mean(found, axis=0))
