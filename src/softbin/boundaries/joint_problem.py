"""Squared loss of a sum of one curve per column, as a problem in the places where curves may change.

The curve of a column is constant between cuts (hard bins) or straight between knots (soft bins). It is known by its
jumps, or by its changes of slope:

    hard    f(v) =         sum_k b_k [v >= cut_k]              total variation       sum_k |b_k|
    soft    f(v) = a v  +  sum_k b_k |v - knot_k| on one side  linear trend filter   sum_k |b_k| d_k

so both penalties are those of a lasso. d_k makes |b_k| d_k the second difference of the curve at neighbouring knots,
times the number of bins: (v_{k+1} - v_{k-1}) / 2 times the change of slope, whatever the column's scale and
however many knots it has.

A value is seen as the one that stands for its fine bin, so with B_j the functions of column j at its fine bins and N
the pair counts, the Gram matrix is B_j' N_jl B_l: no row is ever needed. What is not penalised (the intercept, a
coefficient for missing values of each column, slopes a) is taken out by projection.
"""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from softbin.summaries.pair_counts import JointCounts
from softbin.summaries.target_counts import TargetCounts

Floats = NDArray[np.float64]
Positions = NDArray[np.intp]

DEPENDENT = 1e-9  # of a function's square, or of an eigenvalue, is nothing
MOST_RESPONSES = 3  # directions of many classes that are looked at
WIDEST = 1e9  # of one penalty beside another


@dataclass(frozen=True, eq=False)
class JointProblem:
    """minimise 1/2 b' gram b - moment' b + gamma penalty' |b| for each response, a column of ``moment``.

    Variable k is a change of the curve of column ``column[k]`` at its fine bin ``at[k]``. Each has square one, weights
    sum to one. ``loss`` is that without changes, response by response.
    """

    gram: Floats
    moment: Floats
    penalty: Floats
    loss: Floats
    column: Positions
    at: Positions


@dataclass(frozen=True, eq=False)
class _Functions:
    """Of one column, at its fine bins and, last, for missing values: the free ones, and the changes with their places.

    ``changes`` is (bins + 1) x changes, ``penalty`` one per change.
    """

    free: Floats
    changes: Floats
    penalty: Floats
    at: Positions

    @property
    def all(self) -> Floats:
        return np.hstack([self.free, self.changes])


def joint_problem(joint: JointCounts, candidates: Sequence[Positions], knots: bool) -> JointProblem:
    """The problem of these columns with changes at these fine bins (the first after a cut; that of a knot)."""
    units = [_with_missing(column) for column in joint.columns]
    total = float(units[0].sum())
    make = _hinges if knots else _steps
    functions = [make(*of) for of in zip(joint.columns, units, candidates, strict=True)]
    gram = _gram(joint, units, [f.all for f in functions]) / total
    targets = [_standardised(column) for column in joint.columns]
    moment = np.concatenate([f.all.T @ target for f, target in zip(functions, targets, strict=True)])
    is_free = np.concatenate([np.arange(f.all.shape[1]) < f.free.shape[1] for f in functions])

    mixed, with_free = gram[np.ix_(is_free, ~is_free)], moment[is_free]
    inverse = _pseudo_inverse(gram[np.ix_(is_free, is_free)])
    square = np.diag(gram)[~is_free]
    gram = gram[np.ix_(~is_free, ~is_free)] - mixed.T @ inverse @ mixed
    moment = moment[~is_free] - mixed.T @ inverse @ with_free
    # Why the identity: standardised responses have square one and do not overlap.
    loss = np.eye(moment.shape[1]) - with_free.T @ inverse @ with_free

    kept = np.flatnonzero(np.diag(gram) > DEPENDENT * square)
    scale = 1 / np.sqrt(np.diag(gram)[kept])
    gram, moment = gram[np.ix_(kept, kept)] * np.outer(scale, scale), moment[kept] * scale[:, None]
    directions = _main_directions(moment)
    return JointProblem(
        gram=gram,
        moment=moment @ directions,
        penalty=np.concatenate([f.penalty for f in functions])[kept] * scale,
        loss=np.maximum(np.diag(directions.T @ loss @ directions), 0.0),
        column=np.repeat(np.arange(len(functions)), [len(f.at) for f in functions])[kept],
        at=np.concatenate([f.at for f in functions])[kept],
    )


def _steps(column: TargetCounts, units: Floats, at: Positions) -> _Functions:
    steps = (np.arange(len(column))[:, None] >= at).astype(np.float64)
    return _Functions(_free(units), np.vstack([steps, np.zeros(len(at))]), np.ones(len(at)), at)


def _hinges(column: TargetCounts, units: Floats, at: Positions) -> _Functions:
    """|v - knot| on the lighter side of each knot, over its length there. With a slope, both sides are the same."""
    values, n = column.values, len(column)
    if n < 2:
        return _Functions(_free(units), np.zeros((n + 1, 0)), np.zeros(0), at[:0])
    knot = values[at]
    below = np.cumsum(units[:-1])[at] < 0.5 * np.sum(units[:-1])
    # Why ignored: edges this far apart are refused with an error that says so.
    with np.errstate(over="ignore", invalid="ignore"):
        length = np.where(below, knot - values[0], values[-1] - knot)
        away = np.where(below, knot - values[:, None], values[:, None] - knot) / length
        slope = (values - values[0]) / (values[-1] - values[0])
        penalty = (values[at + 1] - values[at - 1]) * ((n - 1) / 2) / length
    hinges = np.vstack([np.nan_to_num(np.maximum(away, 0.0)), np.zeros(len(at))])
    free = np.column_stack([_free(units), np.append(np.nan_to_num(slope), 0.0)])
    return _Functions(free, hinges, np.clip(np.nan_to_num(penalty), 1 / WIDEST, WIDEST), at)


def _free(units: Floats) -> Floats:
    """The intercept, and one for missing values. That all columns have the same intercept does no harm."""
    missing = np.arange(len(units)) == len(units) - 1
    return np.column_stack([np.ones(len(units)), missing])


def _gram(joint: JointCounts, units: Sequence[Floats], functions: Sequence[Floats]) -> Floats:
    """Sum over rows of the products of all functions of all columns."""
    start = np.cumsum([0, *(f.shape[1] for f in functions)])
    gram = np.empty((start[-1], start[-1]))
    for j, left in enumerate(functions):
        for k in range(j, len(functions)):
            counts = np.diag(units[j]) if j == k else joint.pairs.table(j, k).astype(np.float64)
            rows, columns = slice(*start[j : j + 2]), slice(*start[k : k + 2])
            gram[rows, columns] = left.T @ counts @ functions[k]
            gram[columns, rows] = gram[rows, columns].T
    return gram


def _with_missing(column: TargetCounts) -> Floats:
    """The weight of each fine bin and, last, of missing values, in units."""
    sums = np.vstack([column.sums, column.missing])
    return (sums.sum(axis=1) if column.kind == "classes" else sums[:, 0]).astype(np.float64)


def _standardised(column: TargetCounts) -> Floats:
    """(Bins + 1) x responses: sums of the target in each bin; each response has square one in all.

    A number is one response. Each class is one, one over the root of its share where it is and zero elsewhere.
    """
    sums = np.vstack([column.sums, column.missing]).astype(np.float64)
    total = sums.sum(axis=0)
    if column.kind == "classes":
        return sums / np.sqrt(np.maximum(total, 1.0) * total.sum())
    # Why roots one by one: the product of large sums may overflow.
    weight, _, second = np.sqrt(total * (1, 0, 1)) * np.sqrt(column.unit)
    spread = float(weight * second)
    return sums[:, 1:2] * (column.unit[1] / spread if spread > 0 else 0.0)


def _pseudo_inverse(square: Floats) -> Floats:
    scale = 1 / np.sqrt(np.maximum(np.diag(square), 1e-300))
    scale[np.diag(square) <= 0] = 0.0
    values, vectors = np.linalg.eigh(square * np.outer(scale, scale))
    inverse = np.where(values > DEPENDENT * max(values[-1], 1e-300), 1 / np.maximum(values, 1e-300), 0.0)
    return (vectors * inverse) @ vectors.T * np.outer(scale, scale)


def _main_directions(moment: Floats) -> Floats:
    """Responses x fewer: the directions in which changes tell most. Two classes, or a number, have one."""
    n_responses = moment.shape[1]
    if n_responses == 1:
        return np.eye(1)
    _, vectors = np.linalg.eigh(moment.T @ moment)
    return np.asarray(vectors[:, ::-1][:, : min(n_responses - 1, MOST_RESPONSES)])
