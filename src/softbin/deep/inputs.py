"""What stands between raw columns and the network: a table of bins, plain normal scores, or a peer's embedding of them.

Everything but bins is fed normal scores, which are soft bins too (a fine grid whose knots have their score). So every
input has a fitted encoder, and missing values, special codes and faults mean the same for all of them.
"""

from collections.abc import Callable
from typing import Any

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor, nn

from softbin.boundaries.grid import Grid
from softbin.deep.embeddings import HardBinEmbedding, MultiBinEmbedding, SoftBinEmbedding
from softbin.deep.normal_scores import NormalScores, PlainInput
from softbin.deep.options import Input
from softbin.deep.peers import AutoDisEmbedding, PBLDEmbedding, PeriodicEmbedding, PiecewiseLinearEmbedding
from softbin.encodings.plan import Plan
from softbin.encodings.soft_bins import SoftBins
from softbin.values.tables import Table

SCORED_ROWS = 200_000  # rows whose scores decide about PLE's bins


class Scored(nn.Module):
    """Raw values to normal scores to embeddings: (batch, columns) -> (batch, fields, dim)."""

    def __init__(self, plan: Plan, inner: nn.Module) -> None:
        super().__init__()
        self.scores = NormalScores(plan)
        self.inner = inner
        self.n_fields, self.dim = inner.n_fields, inner.dim

    def forward(self, values: Tensor) -> Tensor:
        embedded: Tensor = self.inner(self.scores(values))
        return embedded


def make_embedding(plan: Plan, asked: Input, ple_grid: Grid | None, seed: int) -> nn.Module:
    """The module that an input stands for; it has ``n_fields`` and ``dim``."""
    if asked.peer is not None:
        return Scored(plan, PEERS[asked.peer](plan, asked.dim, ple_grid))
    kind = MultiBinEmbedding if plan.views is not None else SoftBinEmbedding if plan.soft else HardBinEmbedding
    return kind(plan, asked.dim, init=asked.init, basis=asked.basis, smoothness=asked.smoothness, random_state=seed)


def make_ple_grid(plan: Plan, table: Table, n_bins: int) -> Grid:
    """The bins of PLE: equal-frequency ones of the normal scores."""
    return SoftBins(n_bins, missing="level").fit(_scores(plan, table)).grid_


def _scores(plan: Plan, table: Table) -> NDArray[np.float32]:
    """Normal scores of evenly spaced rows of a table."""
    step = max(1, table.n_rows // SCORED_ROWS)
    values = torch.as_tensor(np.stack([column[::step] for column in table.columns], axis=1))
    with torch.inference_mode():
        scores: NDArray[np.float32] = NormalScores(plan)(values).numpy()
    return scores


def _plain(plan: Plan, dim: int, ple_grid: Any) -> nn.Module:
    return PlainInput([b.missing == "level" or bool(b.special) for b in plan.grid])


PEERS: dict[str, Callable[[Plan, int, Any], nn.Module]] = {
    "plain": _plain,
    "ple": lambda plan, dim, grid: PiecewiseLinearEmbedding(grid, dim),
    "periodic": lambda plan, dim, grid: PeriodicEmbedding(len(plan.grid), dim),
    "pbld": lambda plan, dim, grid: PBLDEmbedding(len(plan.grid), dim),
    "autodis": lambda plan, dim, grid: AutoDisEmbedding(len(plan.grid), dim),
}
