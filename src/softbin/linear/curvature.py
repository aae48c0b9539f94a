"""Second derivatives on a sample: what makes a few passes over all rows enough.

The levels of a column sum to one, so shifting a column's coefficients and the intercept against each other changes
nothing but the penalty: at the optimum a column's coefficients sum to zero. We work in that subspace (``Centering``)
instead of iterating along it, where float32 sums would drift.

Up to ``DENSE_LEVELS`` the Gram matrix of a sample, weighted by the curvature there, is factorised. Beyond, columns are
coupled through groups of neighbouring levels (a small Gram matrix), and inside a group every level has its own weight:

    M^-1 g = R' A^-1 R g  +  D^-1 g - R' (R D R')^-1 R g

with R summing groups, A the grouped Gram matrix and D the diagonal, or a band where the penalty is one. Hats need no
more than D there: their Gram matrix has condition number about 4. The first is the second with every level a group of
its own, and no rest.

Trap: A must be that between centred parameters. The inverse of the whole one, centred before and after, is another
matrix: a gradient of the intercept would go a long way along the idle directions.
"""

from collections.abc import Callable
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any

import numpy as np
import scipy.sparse
from numpy.typing import NDArray
from scipy.linalg import cho_factor, cho_solve
from scipy.sparse.linalg import splu

from softbin import kernels
from softbin.encodings.plan import Plan
from softbin.encodings.tables import encode_codes
from softbin.engines.threads import map_items, one_blas_thread
from softbin.linear.objective import Objective, Parameters, row_scores
from softbin.linear.penalties import Penalty
from softbin.linear.pieces import codes_of_levels

Matrix = NDArray[np.float64]
Row = NDArray[np.float64]
Solve = Callable[[Parameters], Parameters]

DENSE_LEVELS = 4_000
GROUPED_LEVELS = 1_200


@dataclass(frozen=True, eq=False)
class Centering:
    """Projects parameters onto columns whose coefficients sum to zero, and onto classes that do."""

    means: Any  # sparse, any number x (levels + 1): orthonormal rows that are taken out
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
        means = self.means.toarray()
        removed = self.means @ matrix
        with one_blas_thread():
            kept = removed @ means.T + float(np.mean(np.diag(matrix))) * np.eye(len(means))
            half = removed - 0.5 * kept @ means
            centred: Matrix = matrix - np.vstack([means, half]).T @ np.vstack([half, means])
        return centred

    def of_groups(self, groups: "Groups") -> "Centering":
        """The same between grouped parameters."""
        return replace(self, means=(self.means @ groups.matrix.T).tocsr())


@dataclass(frozen=True, eq=False)
class Sample:
    """Rows to take second derivatives on; where their values fall is found once."""

    objective: Objective

    def with_penalty(self, penalty: Penalty) -> "Sample":
        """The same rows, with where their values fall."""
        sample = Sample(replace(self.objective, penalty=penalty))
        vars(sample)["located"] = self.located
        return sample

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

    def level_sums(self, weight: NDArray[np.float64]) -> NDArray[np.float64]:
        """Sum of weight phi: what stands on every level."""
        n = self.objective.pieces.plan.n_levels
        total = np.zeros(n + 1)  # the last: what stands on none
        for left, right, fraction in zip(*self.located, strict=True):
            second = weight * fraction
            total += np.bincount(left, weight - second, n + 1) + np.bincount(right, second, n + 1)
        return total[:n]

    def pull(self, parameters: Parameters) -> NDArray[np.float64]:
        """The most second derivative that stands on every level, of all outputs."""
        return np.max([self.level_sums(weight) for weight in self.curvature(parameters).T], axis=0)

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
        return mirrored(total[:size, :size])


def mirrored(matrix: Matrix) -> Matrix:
    """The symmetric matrix with this upper half, whatever stands below; in place, square by square."""
    for start in range(0, len(matrix), 256):
        here, behind = slice(start, start + 256), slice(start + 256, None)
        square = matrix[here, here]
        matrix[here, here] = np.triu(square) + np.triu(square, 1).T
        matrix[behind, here] = matrix[here, behind].T
    return matrix


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


@dataclass(frozen=True, eq=False)
class Groups:
    """Runs of neighbouring levels of a column, and parameters that are the same all over a group.

    A grouped parameter is that of its levels times the root of their number, so that lengths stay what they are.
    """

    of_level: NDArray[np.int64]

    @property
    def count(self) -> int:
        return int(self.of_level.max()) + 1

    @cached_property
    def matrix(self) -> Any:
        """(groups + 1) x (levels + 1), sparse, orthonormal rows; the intercept is a group of its own."""
        group = np.append(self.of_level, self.count)
        entries = 1 / np.sqrt(np.bincount(group))[group]
        return scipy.sparse.csr_array((entries, (group, np.arange(len(group)))))

    def spread(self, grouped: Parameters) -> Parameters:
        """Outputs x (levels + 1) from outputs x (groups + 1)."""
        return (self.matrix.T @ grouped.T).T

    def collect(self, gradient: Parameters) -> Parameters:
        """Outputs x (groups + 1) from outputs x (levels + 1): the transpose of ``spread``."""
        return (self.matrix @ gradient.T).T

    def between(self, matrix: Any) -> Any:
        """A sparse matrix between levels, as one between groups."""
        inner = self.matrix[:-1, :-1]
        return inner @ matrix @ inner.T


def single_levels(n_levels: int) -> Groups:
    """Every level a group of its own."""
    return Groups(np.arange(n_levels))


def level_groups(plan: Plan) -> Groups:
    """Runs of neighbouring levels of a column, about GROUPED_LEVELS in all."""
    per_column = max(2, GROUPED_LEVELS // max(1, len(plan.columns)))
    groups, first = [], 0
    for count in np.diff(plan.level_start).tolist():
        n = min(count, per_column)
        groups.append(first + (np.arange(count) * n) // max(count, 1))
        first += n
    return Groups(np.concatenate(groups))


def group_hessians(sample: Sample, parameters: Parameters, centre: Centering, groups: Groups) -> list[Matrix]:
    """The sample's Hessian between grouped parameters, by output; ``centre`` is that of groups."""
    penalty = groups.between(sample.objective.penalty.curvature).tocoo()
    scale = groups.matrix.sum(axis=1) / np.bincount(np.append(groups.of_level, groups.count))
    found = []
    for weight in sample.curvature(parameters).T:
        matrix = sample.gram(np.ascontiguousarray(weight), groups.of_level) * scale
        matrix *= scale[:, None]
        # Why before the penalty: a strong one must not drown the rows.
        diagonal = np.diag(matrix)
        least = 1e-10 * float(diagonal.max())
        matrix[penalty.row, penalty.col] += penalty.data
        if not centre.intercept:
            matrix[-1], matrix[:, -1] = 0, 0
        matrix = centre.of_matrix(matrix)
        matrix[np.diag_indices_from(matrix)] += np.where(np.diag(matrix) > 0, least, 1.0)
        found.append(matrix)
    return found


def group_solver(sample: Sample, parameters: Parameters, centre: Centering, groups: Groups) -> Solve:
    """The inverse of the sample's Hessian between grouped parameters, by output; ``centre`` is that of levels."""
    centre = centre.of_groups(groups)
    factors = [factorised(matrix) for matrix in group_hessians(sample, parameters, centre, groups)]

    def solve(gradient: Parameters) -> Parameters:
        rows = [cho_solve(factor, row) for factor, row in zip(factors, centre(gradient), strict=True)]
        return centre(np.stack(rows))

    return solve


def two_level_solver(
    sample: Sample,
    parameters: Parameters,
    centre: Centering,
    groups: Groups,
    level_weight: NDArray[np.float64],
) -> Solve:
    """The approximate inverse for many levels: groups coupled across columns, single levels inside a group."""
    between = group_solver(sample, parameters, centre, groups)
    # Why the average of a group: a level of its own may have few rows in the sample, or none.
    full = np.bincount(groups.of_level, level_weight)
    rests = []
    for weight in sample.curvature(parameters).T:
        average = np.bincount(groups.of_level, sample.level_sums(weight)) / np.where(full > 0, full, 1)
        rests.append(within_groups(groups, average[groups.of_level] * level_weight, sample.objective.penalty))

    def solve(gradient: Parameters) -> Parameters:
        gradient = centre(gradient)
        result = groups.spread(between(groups.collect(gradient)))
        result[:, :-1] += np.stack([rest(row) for rest, row in zip(rests, gradient[:, :-1], strict=True)])
        return centre(result)

    return solve


def within_groups(groups: Groups, curvature: Row, penalty: Penalty) -> Callable[[Row], Row]:
    """D^-1 - R' (R D R')^-1 R, where D is this diagonal and the penalty: a diagonal too, or a band for smoothness."""
    band = penalty.curvature - scipy.sparse.diags_array(penalty.diagonal())
    diagonal = curvature + penalty.diagonal()
    diagonal = np.maximum(diagonal, 1e-8 * diagonal.mean())
    if not np.any(band.data):
        block = np.bincount(groups.of_level, diagonal)
        return lambda row: row / diagonal - (np.bincount(groups.of_level, row) / block)[groups.of_level]
    whole = (scipy.sparse.diags_array(diagonal) + band).tocsc()
    collect = scipy.sparse.csr_array((np.ones(len(diagonal)), (groups.of_level, np.arange(len(diagonal)))))
    inside, outside = (_band_solver(matrix) for matrix in (whole, (collect @ whole @ collect.T).tocsc()))
    return lambda row: inside(row) - collect.T @ outside(collect @ row)


def _band_solver(matrix: Any) -> Callable[[Row], Row]:
    """Why no ordering: neighbours are next to each other already. Why no pivots: the matrix is positive."""
    solve: Callable[[Row], Row] = splu(
        matrix, permc_spec="NATURAL", diag_pivot_thresh=0.0, options={"SymmetricMode": True}
    ).solve
    return solve


def factorised(matrix: Matrix) -> Any:
    """Cholesky, of a matrix a little more positive where this one is not enough so."""
    most = float(np.diag(matrix).max())
    jitter = 0.0
    for _ in range(12):
        try:
            with one_blas_thread():
                return cho_factor(matrix + jitter * np.eye(len(matrix)) if jitter else matrix, overwrite_a=bool(jitter))
        except np.linalg.LinAlgError:
            jitter = max(jitter * 100, 1e-12 * most) or 1.0
    raise np.linalg.LinAlgError("the sample's Hessian cannot be factorised")
