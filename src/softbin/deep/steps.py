"""What is trained of a table: its rows, or the steps from each row to the next.

    rows     T = D
    steps    T_k = D_first + ... + D_k      over the bins or knots of a column; other rows are their own

Both reach the same tables. They differ in how a training gets there: an optimiser that scales every number by its own
gradient (AdamW) moves rows one by one, and with many bins each sees few values and goes its own way. A step moves every
row above it, so neighbours stay together, and what all values ask for is learned at the rate of what few ask for. It is
how piecewise-linear encoding is trained, whose weights are such steps. Circles have no first row and keep rows.

Sums run over all columns at once, in float64, and lose what the columns before have added up to.
"""

import numpy as np
import torch
from torch import Tensor, nn
from torch.nn import functional

from softbin.encodings.plan import Plan

BASES = ("steps", "rows")


class Steps(nn.Module):
    """Steps (levels, dim) to rows (levels, dim), there and back, and the way of gradients."""

    first: Tensor
    last: Tensor

    def __init__(self, plan: Plan) -> None:
        super().__init__()
        first, last = np.arange(plan.n_levels), np.arange(plan.n_levels) + 1
        for levels, start in zip(plan.columns, plan.level_start.tolist(), strict=False):
            if not levels.wraps:
                first[start : start + levels.n_regular] = start
                last[start : start + levels.n_regular] = start + levels.n_regular
        self.register_buffer("first", torch.as_tensor(first), persistent=False)
        self.register_buffer("last", torch.as_tensor(last), persistent=False)

    def forward(self, steps: Tensor) -> Tensor:
        """The table."""
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
