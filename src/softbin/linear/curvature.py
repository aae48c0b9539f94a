"""Second derivatives on a sample: what makes a few passes over all rows enough.

The levels of a column sum to one, so shifting a column's coefficients and the intercept against each other changes
nothing but the penalty: at the optimum a column's coefficients sum to zero. We work in that subspace (``Centering``)
instead of iterating along it, where float32 sums would drift.

Up to ``DENSE_LEVELS`` the Gram matrix of a sample, weighted by the curvature there, is factorised. Beyond, columns are
coupled through groups of neighbouring levels (a small Gram matrix), and inside a group every level has its own weight:

    M^-1 g = R' A^-1 R g  +  D^-1 g - R' (R D R')^-1 R g

with R summing groups, A the grouped Gram matrix and D the diagonal. Hats need no more than D there: their Gram matrix
has condition number about 4.
"""

from collections.abc import Callable
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np
import scipy.sparse
from numpy.typing import NDArray
from scipy.linalg import cho_factor, cho_solve

from softbin import kernels
from softbin.encodings.plan import Plan
from softbin.encodings.tables import encode_codes
from softbin.engines.threads import map_items, one_blas_thread
from softbin.linear.objective import Objective, Parameters, row_scores
from softbin.linear.pieces import codes_of_levels

Matrix = NDArray[np.float64]
Solve = Callable[[Parameters], Parameters]

DENSE_LEVELS = 4_000
GROUPED_LEVELS = 1_200


@dataclass(frozen=True, eq=False)
class Centering:
    """Projects parameters onto columns whose coefficients sum to zero, and onto classes that do."""

    means: Any  # sparse, columns x (levels + 1): orthonormal rows that are taken out
    across_outputs: bool
    intercept: bool

    @classmethod
    def of(
        cls, plan: Plan, level_weight: NDArray[np.float64], total: float, n_outputs: int, intercept: bool
    ) -> "Centering":
        """Columns take part whose levels sum to one in every row; none do without an intercept to shift against."""
        n, count = len(plan.columns), np.diff(plan.level_start)
        column = np.repeat(np.arange(n), count)
        full = (np.bincount(column, level_weight, n) > total * (1 - 1e-6)) & intercept
        inside = np.flatnonzero(full[column])
        entries = 1 / np.sqrt(count[column[inside]])
        means = scipy.sparse.csr_array((entries, (column[inside], inside)), (n, plan.n_levels + 1))
        return cls(means, n_outputs > 1, intercept)

    def __call__(self, parameters: Parameters) -> Parameters:
        centred = parameters - (self.means.T @ (self.means @ parameters.T)).T
        if not self.intercept:
            centred[:, -1] = 0
        return centred - centred.mean(axis=0) if self.across_outputs else centred

    def of_matrix(self, matrix: Matrix) -> Matrix:
        """The matrix between centred parameters, and a multiple of one on what centring removes."""
        matrix = matrix - self.means.T @ (self.means @ matrix)
        matrix -= (self.means.T @ (self.means @ matrix.T)).T
        return matrix + float(np.mean(np.diag(matrix))) * (self.means.T @ self.means).toarray()


@dataclass(frozen=True, eq=False)
class Sample:
    """Rows to take second derivatives on; where their values fall is found once."""

    objective: Objective

    @cached_property
    def located(self) -> tuple[NDArray[np.int64], NDArray[np.int64], NDArray[np.float32]]:
        """Columns x rows: the two levels a value stands on, and the fraction of the second."""
        pieces, rows = self.objective.pieces, self.objective.rows
        level, fraction = encode_codes(rows.table, pieces.plan, self.objective.n_threads, with_fractions=True)
        assert fraction is not None
        columns = enumerate(zip(pieces.plan.columns, pieces.code_start.tolist(), strict=False))
        code = np.stack([start + codes_of_levels(level[:, j], levels) for j, (levels, start) in columns])
        left, right = pieces.ends
        return left[code], right[code], np.ascontiguousarray(fraction.T)

    def curvature(self, parameters: Parameters) -> Matrix:
        """Rows x outputs: weighted second derivative of every row's loss by its scores."""
        o = self.objective
        weight = 1.0 if o.rows.weight is None else o.rows.weight[:, None].astype(np.float64)
        found = o.family.curvature(row_scores(o, parameters).astype(np.float64), o.rows.target) * weight * o.scale
        return np.maximum(np.nan_to_num(found, posinf=0.0), 0.0)

    def gram(self, weight: NDArray[np.float64], group: NDArray[np.int64]) -> Matrix:
        """Sum of weight phi phi' with phi over groups of levels (``group`` of each) and, last, the intercept."""
        left, right, fraction = self.located
        n_columns, size = len(left), int(group.max()) + 2
        # What stands on no level gets a row of its own per column, cut off below.
        spare = size + np.arange(n_columns)[:, None]
        group = np.append(group, -1)
        sides = [np.where(group[side] < 0, spare, group[side]) for side in (left, right)]
        # The intercept is one more column, always on its level.
        sides = [np.vstack([side, np.full((1, side.shape[1]), size - 1)]).astype(np.uint32) for side in sides]
        fraction = np.vstack([fraction, np.zeros_like(fraction[:1])])
        total = np.zeros((size + n_columns, size + n_columns))

        def add(column: int) -> None:
            add_gram(sides[0], sides[1], fraction, weight, column, total)

        map_items(add, range(n_columns + 1), self.objective.n_threads)
        upper = np.triu(total[:size, :size])
        return upper + np.triu(upper, 1).T


def add_gram(
    left: NDArray[np.uint32],
    right: NDArray[np.uint32],
    fraction: NDArray[np.float32],
    weight: NDArray[np.float64],
    column: int,
    total: Matrix,
) -> None:
    """Adds the products of one column's levels with those of this and all later columns; rows of other columns stay."""
    if kernels.compiled is not None:
        kernels.compiled.gram(left, right, fraction, weight, column, column + 1, total)
        return
    for other in range(column, len(left)):
        for a, share_a in ((left[column], 1 - fraction[column]), (right[column], fraction[column])):
            for b, share_b in ((left[other], 1 - fraction[other]), (right[other], fraction[other])):
                np.add.at(total, (a, b), weight * share_a * share_b)


def dense_solver(sample: Sample, parameters: Parameters, ridge: float, centre: Centering) -> Solve:
    """The inverse of the sample's Hessian there, output by output."""
    n_levels = parameters.shape[1] - 1
    group = np.arange(n_levels)
    factors = []
    for weight in sample.curvature(parameters).T:
        matrix = sample.gram(np.ascontiguousarray(weight), group)
        matrix[np.arange(n_levels), np.arange(n_levels)] += ridge
        if not centre.intercept:
            matrix[-1], matrix[:, -1] = 0, 0
        factors.append(_factor(centre.of_matrix(matrix)))

    def solve(gradient: Parameters) -> Parameters:
        rows = [cho_solve(factor, row) for factor, row in zip(factors, centre(gradient), strict=True)]
        return centre(np.stack(rows))

    return solve


def grouped_solver(
    sample: Sample, parameters: Parameters, ridge: float, centre: Centering, level_weight: NDArray[np.float64]
) -> Solve:
    """The approximate inverse for very many levels: groups coupled across columns, single levels inside a group."""
    group = level_groups(sample.objective.pieces.plan)
    n_levels, n_groups = len(group), int(group.max()) + 1
    members = np.bincount(group, minlength=n_groups)
    parts = []
    for weight in sample.curvature(parameters).T:
        total = float(weight.sum())
        diagonal = level_weight * (total / max(float(level_weight.sum()) / len(sample.located[0]), 1e-300)) + ridge
        diagonal = np.maximum(diagonal, 1e-8 * diagonal.mean())
        coarse = sample.gram(np.ascontiguousarray(weight), group)
        coarse[np.arange(n_groups), np.arange(n_groups)] += ridge * members
        if not centre.intercept:
            coarse[-1], coarse[:, -1] = 0, 0
        parts.append((_factor(coarse), diagonal, np.bincount(group, diagonal, n_groups)))

    def solve(gradient: Parameters) -> Parameters:
        rows = []
        for (factor, diagonal, block), row in zip(parts, centre(gradient), strict=True):
            grouped = np.bincount(group, row[:-1], n_groups)
            moved = cho_solve(factor, np.append(grouped, row[-1]))
            within = row[:-1] / diagonal - (grouped / block)[group]
            rows.append(np.append(moved[:-1][group] + within, moved[-1]))
        return centre(np.stack(rows))

    assert n_levels == parameters.shape[1] - 1
    return solve


def level_groups(plan: Plan) -> NDArray[np.int64]:
    """The group of every level: runs of neighbouring levels of a column, about GROUPED_LEVELS in all."""
    per_column = max(2, GROUPED_LEVELS // max(1, len(plan.columns)))
    groups, first = [], 0
    for count in np.diff(plan.level_start).tolist():
        n = min(count, per_column)
        groups.append(first + (np.arange(count) * n) // max(count, 1))
        first += n
    return np.concatenate(groups)


def _factor(matrix: Matrix) -> Any:
    diagonal = np.diag(matrix)
    jitter = 1e-10 * float(diagonal.max()) or 1.0
    for _ in range(12):
        try:
            with one_blas_thread():
                return cho_factor(matrix + np.diag(np.where(diagonal > 0, jitter, 1.0)), overwrite_a=True)
        except np.linalg.LinAlgError:
            jitter *= 100
    raise np.linalg.LinAlgError("the sample's Hessian cannot be factorised")
