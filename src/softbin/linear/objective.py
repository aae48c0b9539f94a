"""Loss and gradient of a linear model on bins, as sums over blocks of raw rows.

    objective(beta, b) = sum_i w_i loss(y_i, s_i) + penalty(beta),    s_i = b + sum_j piece_j(x_ij)

The arithmetic of a block is in ``block_pass`` (the definition) and the kernel additive_pass (its copy); adding the
blocks up is ``map_items`` here, and can be anything else. Blocks are a fixed number of rows and are added in their
order, so the answer does not depend on the number of threads.

Parameters are one array, outputs x (levels + 1); the last is the intercept.
"""

from collections.abc import Iterator
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from softbin import kernels
from softbin.encodings.locate import locate, wrap
from softbin.encodings.plan import Plan
from softbin.engines.threads import map_items
from softbin.linear.families import FAMILIES, Family, Floats
from softbin.linear.penalties import Penalty
from softbin.linear.pieces import Pieces, codes_of_levels, locate_codes
from softbin.values.tables import Block, Column, Table

Parameters = NDArray[np.float64]

MOST_PARTIAL_SUMS = 2**23  # numbers that all blocks' sums may take together


@dataclass(frozen=True, eq=False)
class Rows:
    """What a model is fitted to: columns, target and weight (or None), all of the table's dtype."""

    table: Table
    target: Column
    weight: Column | None

    def take(self, rows: NDArray[np.intp]) -> "Rows":
        """These rows only, copied."""
        columns = tuple(column[rows] for column in self.table.columns)
        weight = None if self.weight is None else self.weight[rows]
        return Rows(replace(self.table, columns=columns, n_rows=len(rows)), self.target[rows], weight)

    @property
    def total_weight(self) -> float:
        return float(self.table.n_rows if self.weight is None else self.weight.sum(dtype=np.float64))


def prepare_rows(table: Table, plan: Plan, target: Any, weight: Any) -> Rows:
    """Rows with periodic columns moved into their period once, so that no pass has to."""
    pairs = zip(table.columns, plan.grid, strict=True)
    columns = tuple(wrap(values, b.period, b.special) for values, b in pairs)
    target = np.ascontiguousarray(target, table.dtype)
    weight = None if weight is None else np.ascontiguousarray(weight, table.dtype)
    return Rows(replace(table, columns=columns), target, weight)


@dataclass(frozen=True, eq=False)
class Objective:
    """Call it with parameters: the objective's value and gradient there."""

    rows: Rows
    pieces: Pieces
    family: Family
    penalty: Penalty
    n_outputs: int
    n_threads: int
    scale: float = 1.0  # of the rows' weights: more than one where the rows are a sample

    def __call__(self, parameters: Parameters) -> tuple[float, Parameters]:
        loss, sums = self._sum_blocks(self.family, parameters)
        coef = parameters[:, :-1]
        gradient = np.empty_like(parameters)
        gradient[:, :-1] = self.scale * self.pieces.back(sums[:, :-1]) + self.penalty.gradient(coef)
        gradient[:, -1] = self.scale * sums[:, -1, 0]
        return self.scale * loss + self.penalty.value(coef), gradient

    def level_weights(self) -> NDArray[np.float64]:
        """The weight that stands on every level: the sum of w_i phi_i."""
        # Why it works: a gaussian score of 0 for the target -1 has the residual 1.
        ones = replace(self.rows, target=np.full_like(self.rows.target, -1))
        objective = replace(self, rows=ones, n_outputs=1)
        _, sums = objective._sum_blocks(FAMILIES["gaussian"], np.zeros((1, self.pieces.plan.n_levels + 1)))
        return self.scale * self.pieces.back(sums[:, :-1])[0]

    def _sum_blocks(self, family: Family, parameters: Parameters) -> tuple[float, NDArray[np.float64]]:
        value, slope = self.pieces.of(parameters[:, :-1])
        dtype = self.rows.table.dtype
        arrays = [np.ascontiguousarray(part, dtype) for part in (value, slope, parameters[:, -1])]

        def run(block: tuple[Block, Column, Column | None]) -> tuple[float, NDArray[np.float64]]:
            # Why: a step too far has infinite losses; the solver sees that and goes back.
            with np.errstate(invalid="ignore", over="ignore"):
                return block_pass(block, self.pieces, family, arrays)

        loss, total = 0.0, np.zeros((self.n_outputs, self.pieces.n_codes + 1, 2))
        for part, sums in map_items(run, self._blocks(), self.n_threads):
            loss += part
            total += sums
        return loss, total

    def _blocks(self) -> Iterator[tuple[Block, Column, Column | None]]:
        numbers = 2 * self.n_outputs * (self.pieces.n_codes + 1)
        n_blocks = max(4, min(256, MOST_PARTIAL_SUMS // numbers))
        size = max(16_384, -(-self.rows.table.n_rows // n_blocks))
        for block in self.rows.table.blocks(size):
            part = slice(block.start, block.start + block.n_rows)
            weight = None if self.rows.weight is None else self.rows.weight[part]
            yield block, self.rows.target[part], weight


def block_pass(
    block: tuple[Block, Column, Column | None], pieces: Pieces, family: Family, arrays: list[Floats]
) -> tuple[float, NDArray[np.float64]]:
    """Summed loss of a block, and outputs x (codes + 1) x 2: per code the residuals and residuals times fraction.

    The last "code" holds the residuals of all rows. ``arrays``: value and slope of every code, and the intercepts.
    """
    rows, target, weight = block
    value, slope, intercept = arrays
    sums = np.zeros((len(intercept), pieces.n_codes + 1, 2))
    if kernels.compiled is not None:
        loss = kernels.compiled.additive_pass(
            pieces.plan.compiled, rows.columns, value, slope, intercept, family.code, target, weight, sums.reshape(-1)
        )
        return loss, sums
    located = [locate_codes(*pair) for pair in zip(rows.columns, pieces.plan.columns, strict=True)]
    score = np.tile(intercept.astype(np.float64), (rows.n_rows, 1))
    for (code, fraction), start in zip(located, pieces.code_start, strict=False):
        score += (value[:, start + code] + slope[:, start + code] * fraction).T
    units = np.ones(rows.n_rows) if weight is None else weight.astype(np.float64)
    residual = family.residual(score, target) * units[:, None]
    for (code, fraction), start, stop in zip(located, pieces.code_start, pieces.code_start[1:], strict=False):
        for k in range(len(intercept)):
            sums[k, start:stop, 0] = np.bincount(code, residual[:, k], minlength=stop - start)
            sums[k, start:stop, 1] = np.bincount(code, residual[:, k] * fraction, minlength=stop - start)
    sums[:, -1, 0] = residual.sum(axis=0)
    return float(np.sum(family.loss(score, target) * units)), sums


def block_scores(block: Block, pieces: Pieces, arrays: list[Floats], faults: NDArray[np.int64]) -> Floats:
    """Rows x outputs: the scores of a block; ``faults`` (columns x 2) counts what may not be."""
    value, slope, intercept = arrays
    if kernels.compiled is not None:
        scores = np.empty((block.n_rows, len(intercept)), value.dtype)
        kernels.compiled.additive_scores(
            pieces.plan.compiled, block.columns, value, slope, intercept, scores, faults.reshape(-1)
        )
        return scores
    score = np.tile(intercept.astype(np.float64), (block.n_rows, 1))
    for j, levels in enumerate(pieces.plan.columns):
        level, fraction, found = locate(block.columns[j], levels)
        faults[j] += found.missing, found.outside
        code = pieces.code_start[j] + codes_of_levels(level, levels)
        score += (value[:, code] + slope[:, code] * fraction).T
    return score.astype(value.dtype)


def row_scores(objective: Objective, parameters: Parameters) -> Floats:
    """Rows x outputs: the scores of all rows of a (small) objective."""
    rows, pieces = objective.rows, objective.pieces
    value, slope = pieces.of(parameters[:, :-1])
    arrays = [np.ascontiguousarray(part, rows.table.dtype) for part in (value, slope, parameters[:, -1])]
    faults = np.zeros((len(pieces.plan.columns), 2), np.int64)
    return np.concatenate([block_scores(block, pieces, arrays, faults) for block in rows.table.blocks()])
