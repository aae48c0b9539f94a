"""Columns as numbers near a standard normal, for what is not a table: the network's plain input, and that of the peers.

A soft embedding of one coordinate that is not trained: every knot of a fine grid has its normal score, values between
two knots the mix of theirs. Missing values stay NaN; special codes become missing, for they are no numbers.
"""

import numpy as np
import torch
from torch import Tensor, nn

from softbin.deep.locate import Locate, plan_of
from softbin.deep.lookup import embed
from softbin.deep.starts import normal_scores
from softbin.encodings.plan import Plan


class NormalScores(nn.Module):
    """Raw values (batch, columns) -> scores (batch, columns), in float32; NaN for missing values and special codes."""

    table: Tensor

    def __init__(self, plan: Plan) -> None:
        super().__init__()
        plan = plan_of(plan, soft=True)
        self.locate = Locate(plan)
        parts = [
            np.concatenate([_standard(normal_scores(levels)), np.full(levels.count - levels.n_regular, np.nan)])
            for levels in plan.columns
        ]
        self.register_buffer("table", torch.as_tensor(np.concatenate(parts), dtype=torch.float32)[:, None])

    def forward(self, values: Tensor) -> Tensor:
        return embed(self.locate, values, self.table)[..., 0]


class PlainInput(nn.Module):
    """Scores as they are: (batch, columns) -> (batch, columns + columns that may be missing, 1).

    A missing value has score 0 and a one in a column of its own.
    """

    missing: Tensor

    def __init__(self, may_be_missing: list[bool]) -> None:
        super().__init__()
        self.register_buffer("missing", torch.as_tensor(np.flatnonzero(may_be_missing), dtype=torch.int64))
        self.n_fields = len(may_be_missing) + len(self.missing)
        self.dim = 1

    def forward(self, scores: Tensor) -> Tensor:
        absent = torch.isnan(scores)
        flags = absent[:, self.missing].to(scores.dtype)
        return torch.cat([torch.where(absent, 0.0, scores), flags], 1)[..., None]


def _standard(scores: np.ndarray) -> np.ndarray:
    """Finite scores; a column without a knot has none."""
    return np.nan_to_num(scores)
