"""Changes that survive without the penalty: least squares on them, and the worst dropped one after the other.

The penalised fit finds about where curves change, but leaves several small changes beside a large one and shrinks
them all. Without the penalty, dropping change k raises the loss of a response by b_k^2 / (G^-1)_kk, exactly. The change
with the smallest rise goes first: as long as a column has too many, a bin is too light, or

    n log(loss after / loss before)  <  log n + log(number of places)        (summed over responses, log n for each)

This is the extended Bayesian information criterion (Chen & Chen 2008, with half of what it asks for independent places,
for neighbours are almost alike): a change was chosen among many places, so one of them explaining a little is no news.
What is left over scores by the same criterion.
"""

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from softbin.boundaries.joint_problem import JointProblem
from softbin.boundaries.lasso import ActiveSet

Floats = NDArray[np.float64]
Positions = NDArray[np.intp]

LEAST_NOISE = 0.1  # of the loss without any change: no fit counts as surer than that


@dataclass(frozen=True, eq=False)
class Limits:
    """For each variable: the most changes of its column, the share of the column's weight below it, the least share.

    ``rows`` is the weight of all rows, which weights count.
    """

    most: Positions
    below: Floats
    least: Floats
    rows: float


@dataclass(frozen=True, eq=False)
class Refit:
    """The variables kept, in order; what each of the others went for; the criterion, lower is better."""

    kept: Positions
    too_many: Positions
    too_light: Positions
    no_gain: Positions
    score: float


def refit(problem: JointProblem, variables: Positions, limits: Limits) -> Refit:
    """The best of these variables (in increasing order)."""
    active = ActiveSet.of(problem.gram, variables)
    went: dict[str, list[int]] = {"too_many": [], "too_light": [], "no_gain": []}
    went["no_gain"] += np.setdiff1d(variables, active.variables).tolist()
    rows = max(limits.rows, 1.0)
    n_responses = problem.moment.shape[1]
    price = n_responses * np.log(rows) + np.log(max(len(problem.at), 1))
    # Why: where nearly all is explained, a few rows hold what is left, and their noise is not that of the others.
    floor = LEAST_NOISE * problem.loss + 1e-300
    while True:
        at = np.array(active.variables, np.intp)
        found = active.inverse @ problem.moment[at]
        loss = np.maximum(problem.loss - np.sum(problem.moment[at] * found, axis=0), 0.0) + floor
        rise = found**2 / np.diag(active.inverse)[:, None]
        worth = limits.rows * np.sum(np.log1p(rise / loss), axis=1)
        too_many, too_light = _must_go(problem, limits, at)
        bound = too_many | too_light
        if len(at) == 0 or not (bound.any() or worth.min() < price):
            break
        first = int(np.argmin(np.where(bound, worth, np.inf) if bound.any() else worth))
        reason = "no_gain" if worth[first] < price else "too_many" if too_many[first] else "too_light"
        went[reason].append(int(at[first]))
        active.drop(first)
    score = float(limits.rows * np.sum(np.log(loss)) + price * len(at))
    reasons = {reason: np.array(gone, np.intp) for reason, gone in went.items()}
    return Refit(kept=at, score=score, **reasons)


def _must_go(problem: JointProblem, limits: Limits, at: Positions) -> tuple[NDArray[np.bool_], NDArray[np.bool_]]:
    """Which of these are in a column with too many of them, and which are at an end of a bin that is too light."""
    column, below, least = problem.column[at], limits.below[at], limits.least[at]
    many = np.bincount(column, minlength=1)[column] > limits.most[at]
    same = column[1:] == column[:-1]
    left = np.concatenate([[0.0], np.where(same, below[:-1], 0.0)])[: len(at)]
    right = np.concatenate([np.where(same, below[1:], 1.0), [1.0]])[-len(at) :] if len(at) else below
    return many, (below - left < least) | (right - below < least)
