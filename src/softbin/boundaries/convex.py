"""Boundaries of all columns at once: a penalised fit says where curves change, a refit which changes matter.

Franc, Fikar, Bartos and Sofka 2018: start from a fine grid in every column, fit all coefficients together with a
penalty on the differences of neighbours (hard bins: fused lasso; soft bins: linear trend filter), and join
neighbours whose coefficients are equal. The loss is squared, of a number or of 0/1 labels (joint_problem.py).

The strength gamma runs down from where no curve changes. At each strength the changes are fitted again without the
penalty and those that do not matter are dropped (refit.py), beyond ``n_bins`` per column too; the strength whose
remaining changes score best is taken. A column that says what another says already gets few changes or none.

Paper: the loss is logistic there. Differs: of the label the squared loss is taken, because then the counts of pairs
of bins are all that is ever needed, whatever the number of rows; boundaries hardly differ by it, and the model that is
fitted on them is not concerned.

Differs: of several classes, each is a response (standardised, so that rare ones count as much), turned into the at
most three directions in which columns tell most; each has its own penalised fit, and the refit sees the changes of all.
"""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from softbin.boundaries.boundaries import Boundaries
from softbin.boundaries.fine_bins import coarser
from softbin.boundaries.joint_problem import JointProblem, joint_problem
from softbin.boundaries.lasso import lasso
from softbin.boundaries.refit import Limits, Refit, refit
from softbin.boundaries.rule import AskedKind, check_n_bins, check_share
from softbin.boundaries.tidy import at_cuts, at_values
from softbin.engines.threads import one_blas_thread
from softbin.summaries.pair_counts import JointCounts
from softbin.summaries.target_counts import TargetCounts

Floats = NDArray[np.float64]
Positions = NDArray[np.intp]

MOST_FINE_BINS = 256  # of a column on its own
WEAKER = 0.85  # each strength, times the one before
WEAKEST = 1e-5  # of the first strength
PATIENCE = 6  # strengths in a row that score no better by what one change has to
MOST_CHANGES = 600  # of all columns, before the refit,
MANY_CHANGES = (20, 6)  # and this many, and this often as many as may stay
ALMOST = 1 - 1e-9  # shares are rounded, and a bin of exactly the least share is heavy enough


@dataclass(frozen=True)
class Chosen:
    """What a joint fit chose for one column: fine bins that start a bin, or that have a knot."""

    at: tuple[int, ...]
    n_bins: int
    note: str = ""

    @property
    def target(self) -> AskedKind:
        return "auto"

    def boundaries(self, counts: TargetCounts, *, knots: bool = False) -> Boundaries:
        return at_values(counts, self.at, self.note) if knots else at_cuts(counts, self.at, knots, self.note)


@dataclass(frozen=True)
class Convex:
    """At most ``n_bins`` bins, each with ``min_bin_share`` of the weight or more; often fewer.

    Weights count rows: with ten times the weight, smaller differences are taken for real.

    >>> import numpy as np
    >>> from softbin import HardBins
    >>> X = np.random.default_rng(0).uniform(size=(1000, 2))
    >>> bins = HardBins(strategy=Convex()).fit(X, X[:, 0] > 0.5)
    >>> bins.n_bins_.tolist()
    [2, 1]
    >>> round(float(bins.bin_edges_[0][1]), 2)
    0.5
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
        """Those of a column on its own."""
        counts = coarser(counts, MOST_FINE_BINS)
        (chosen,) = self.together([self], JointCounts.alone(counts), knots=knots)
        return chosen.boundaries(counts, knots=knots)

    @classmethod
    def together(cls, rules: Sequence["Convex"], joint: JointCounts, *, knots: bool = False) -> list[Chosen]:
        """What each column's rule chooses beside the others."""
        candidates = [_candidates(*pair, knots) for pair in zip(rules, joint.columns, strict=True)]
        with one_blas_thread():
            problem = joint_problem(joint, candidates, knots)
            most = MANY_CHANGES[0] + MANY_CHANGES[1] * sum(rule.n_bins - 1 for rule in rules)
            best, left = _best(problem, _limits(problem, rules, joint), min(most, MOST_CHANGES))
        chosen = []
        for column, rule in enumerate(rules):
            at = problem.at[best.kept[problem.column[best.kept] == column]]
            note = _note(problem, best, left, column, len(candidates[column]))
            chosen.append(Chosen(tuple(at.tolist()), rule.n_bins, note))
        return chosen


def _candidates(rule: Convex, column: TargetCounts, knots: bool) -> Positions:
    """Where the curve may change: both sides are heavy enough."""
    if rule.n_bins == 1:
        return np.zeros(0, np.intp)
    at = np.arange(1, len(column) - knots)
    below = _below(column)[at]
    return at[np.minimum(below, 1 - below) >= rule.min_bin_share * ALMOST]


def _below(column: TargetCounts) -> Floats:
    """The share of the weight below each fine bin."""
    ends = np.cumsum(column.weight)
    return (ends - column.weight) / ends[-1] if len(ends) else ends


def _limits(problem: JointProblem, rules: Sequence[Convex], joint: JointCounts) -> Limits:
    column = problem.column
    most = np.array([rule.n_bins - 1 for rule in rules], np.intp)[column]
    least = np.array([rule.min_bin_share for rule in rules])[column]
    of_column = [_below(counts)[problem.at[column == j]] for j, counts in enumerate(joint.columns)]
    first = joint.columns[0]
    below = np.concatenate(of_column)
    missing = float(first.missing.sum() if first.kind == "classes" else first.missing[0]) * first.unit[0]
    return Limits(most, below, least * ALMOST, float(first.weight.sum()) + missing)


def _best(problem: JointProblem, limits: Limits, most_changes: int) -> tuple[Refit, Positions]:
    """The refit that scores best over all strengths with at most so many changes, and those its penalised fit left."""
    nothing = np.zeros(0, np.intp)
    best, left = refit(problem, nothing, limits), nothing
    strength = np.abs(problem.moment).max(axis=1) / problem.penalty
    if len(strength) == 0 or strength.max() <= 1e-12:
        return best, left
    coefficients = np.zeros_like(problem.moment)
    gamma, weakest = strength.max(), WEAKEST * strength.max()
    enough, mark = np.log(max(limits.rows, 2.0)), best.score
    since, before = 0, nothing
    while gamma > weakest and since < PATIENCE:
        gamma *= WEAKER
        coefficients = _penalised(problem, coefficients, gamma)
        changes = np.flatnonzero(coefficients.any(axis=1))
        if len(changes) > most_changes:
            break
        if np.array_equal(changes, before):
            continue
        before = changes
        found = refit(problem, changes, limits)
        since += 1
        if found.score < best.score:
            best, left = found, changes
        if found.score < mark - enough:
            mark, since = found.score, 0
    return best, left


def _penalised(problem: JointProblem, start: Floats, gamma: float) -> Floats:
    """The optimum at this strength, from that of a slightly greater one, response by response."""
    found = np.empty_like(start)
    for response, moment in enumerate(problem.moment.T):
        coefficients = start[:, response]
        penalty = gamma * problem.penalty
        # Why so: by this rule (Tibshirani et al. 2012) hardly any other one becomes active; they are looked at after.
        seen = np.abs(moment - problem.gram @ coefficients) >= (2 - 1 / WEAKER) * penalty
        while True:
            inside = np.flatnonzero(seen | (coefficients != 0))
            part = problem.gram[np.ix_(inside, inside)]
            coefficients = np.zeros(len(moment))
            coefficients[inside] = lasso(part, moment[inside], penalty[inside], start[inside, response])
            new = np.abs(moment - problem.gram @ coefficients) > penalty * (1 + 1e-6)
            new[inside] = False
            if not new.any():
                break
            seen |= new
            seen[inside] = True
        found[:, response] = coefficients
    return found


def _note(problem: JointProblem, best: Refit, left: Positions, column: int, n_candidates: int) -> str:
    """Why this column has the changes it has."""
    if n_candidates == 0:
        return ""
    n_left = int(np.sum(problem.column[left] == column))
    if n_left == 0:
        return "its curve does not change beside the other columns"
    counts = {
        "without gain": best.no_gain,
        "beyond n_bins": best.too_many,
        "beside a light bin": best.too_light,
    }
    gone = [f"{n} {why}" for why, at in counts.items() if (n := int(np.sum(problem.column[at] == column)))]
    return f"{n_left} changes of the penalised fit" + (f", dropped: {', '.join(gone)}" if gone else "")
