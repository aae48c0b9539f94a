"""What is trained of a table: its rows, or the steps from each row to the next.

    rows     T = D
    steps    T_k = D_first + ... + D_k      over the bins or knots of a column; other rows are their own

Both reach the same tables. They differ in how a training gets there: an optimiser that scales every number by its own
gradient (AdamW) moves rows one by one, and with many bins each sees few values and goes its own way. A step moves every
row above it, so neighbours stay together, and what all values ask for is learned at the rate of what few ask for. It is
how piecewise-linear encoding is trained, whose weights are such steps. Circles have no first row and keep rows.

The definition sums over all columns at once, in float64, and takes off what the columns before have added up to. On the
CPU, large tables are summed column by column in NumPy, which stays in the processor's cache.
"""

from itertools import pairwise
from typing import Any

import numpy as np
import torch
from torch import Tensor, nn
from torch.autograd.function import once_differentiable
from torch.nn import functional

from softbin.encodings.plan import Plan

BASES = ("steps", "rows")
MANY_NUMBERS = 2**17  # in a table: fewer are summed faster all at once
Runs = list[tuple[int, int]]
WHOLE = (torch.float32, torch.float64)  # what NumPy can add up


class Steps(nn.Module):
    """Steps (levels, dim) to rows (levels, dim), there and back, and the way of gradients.

    ``first`` and ``last`` are in the state_dict: numbers that were trained as steps mean nothing as rows, and what runs
    they belong to has to come along with them.
    """

    first: Tensor
    last: Tensor

    def __init__(self, plan: Plan) -> None:
        super().__init__()
        first, last = np.arange(plan.n_levels), np.arange(plan.n_levels) + 1
        for levels, start in zip(plan.columns, plan.level_start.tolist(), strict=False):
            if not levels.wraps:
                first[start : start + levels.n_regular] = start
                last[start : start + levels.n_regular] = start + levels.n_regular
        self.register_buffer("first", torch.as_tensor(first))
        self.register_buffer("last", torch.as_tensor(last))
        self.runs = _runs(first)
        self.register_load_state_dict_post_hook(_find_runs)  # type: ignore[no-untyped-call]

    def forward(self, steps: Tensor) -> Tensor:
        """The table."""
        large = steps.device.type == "cpu" and steps.numel() >= MANY_NUMBERS and steps.dtype in WHOLE
        if large and not torch.compiler.is_compiling():
            table: Tensor = ByColumns.apply(steps, self.runs)  # type: ignore[no-untyped-call]
            return table
        return self.by_definition(steps)

    def by_definition(self, steps: Tensor) -> Tensor:
        """The table, all columns at once."""
        total = _running(steps)
        # Why not index_select: the gradient of this way of indexing is added up in the same order every time.
        return (total[1:] - total[self.first]).to(steps.dtype)

    def gradient(self, of_table: Tensor) -> Tensor:
        """The gradient of the steps from that of the table, as autograd finds it."""
        total = _running(of_table)
        return (total[self.last] - total[:-1]).to(of_table.dtype)

    def inverse(self, table: Tensor) -> Tensor:
        """The steps of a table."""
        before = functional.pad(table, (0, 0, 1, 0))[:-1]
        follows = self.first < torch.arange(len(table), device=table.device)
        return torch.where(follows[:, None], table - before, table)


def _running(numbers: Tensor) -> Tensor:
    """Sums of no row, of the first, of the first two, and so on."""
    # Why on its side: down a tall matrix, a GPU adds number by number.
    return functional.pad(numbers.double().t().contiguous().cumsum(1).t(), (0, 0, 1, 0))


class ByColumns(torch.autograd.Function):
    """The same sums column by column, and those of the gradient from the last row to the first."""

    @staticmethod
    def forward(ctx: Any, steps: Tensor, runs: Runs) -> Tensor:
        ctx.runs = runs
        given = steps.detach().numpy()
        table = np.empty_like(given, order="C")
        for begin, end in runs:
            table[begin:end] = np.add.accumulate(given[begin:end], axis=0, dtype=np.float64)
        return torch.from_numpy(table)

    @staticmethod
    @once_differentiable
    def backward(ctx: Any, gradient: Tensor) -> tuple[Tensor, None]:
        given = gradient.numpy()
        found = np.empty_like(given, order="C")
        for begin, end in ctx.runs:
            found[begin:end] = np.add.accumulate(given[begin:end][::-1], axis=0, dtype=np.float64)[::-1]
        return torch.from_numpy(found), None


def _runs(first: np.ndarray[Any, np.dtype[np.int64]]) -> Runs:
    """From where to where rows are summed; rows that are their own, one or many in a row, are runs of one."""
    begins = np.flatnonzero(first == np.arange(len(first)))
    return list(pairwise([*begins.tolist(), len(first)]))


def _find_runs(steps: Steps, incompatible: Any) -> None:
    """Again, for what came with a state_dict."""
    steps.runs = _runs(steps.first.cpu().numpy())
