"""What ``bins=`` means: which encoder is fitted, and which module turns raw columns into embeddings.

Bins are a table of their own. Everything else (``"plain"`` and the peers ``"ple:48"``, ``"periodic"``, ``"pbld"``,
``"autodis"``) is fed normal scores, which are soft bins too: a fine grid whose knots have their normal score. So every
input has a fitted encoder, and missing values, special codes and faults are the same for all of them.
"""

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np
import torch
from torch import Tensor, nn

from softbin.deep.embeddings import BinEmbedding, HardBinEmbedding, MultiBinEmbedding, SoftBinEmbedding
from softbin.deep.normal_scores import NormalScores, PlainInput
from softbin.deep.peers import AutoDisEmbedding, PBLDEmbedding, PeriodicEmbedding, PiecewiseLinearEmbedding
from softbin.encodings.encoder import BinEncoder
from softbin.encodings.plan import Plan
from softbin.encodings.soft_bins import SoftBins
from softbin.values.tables import Table, default_names

SCORE_BINS = 1000  # knots of normal scores: the error of interpolating between them is below that of float32 sums
SCORED_ROWS = 200_000  # rows whose scores PLE takes its bins from


@dataclass(frozen=True)
class EmbeddingOptions:
    """How a table starts and what holds it together."""

    dim: int
    init: str = "smooth"
    smoothness: float = 0.0


class Scored(nn.Module):
    """Raw values to normal scores to embeddings: (batch, columns) -> (batch, fields, dim)."""

    def __init__(self, plan: Plan, inner: nn.Module) -> None:
        super().__init__()
        self.scores = NormalScores(plan)
        self.inner = inner
        self.n_fields, self.dim = inner.n_fields, inner.dim

    def forward(self, values: Tensor) -> Tensor:
        return self.inner(self.scores(values))


def bin_embedding(plan: Plan, options: EmbeddingOptions, seed: int) -> BinEmbedding:
    """The table of a fitted encoder's plan."""
    kind = MultiBinEmbedding if plan.views is not None else SoftBinEmbedding if plan.soft else HardBinEmbedding
    return kind(plan, options.dim, init=options.init, smoothness=options.smoothness, random_state=seed)


def plain(plan: Plan, dim: int, ple_grid: Any) -> nn.Module:
    return PlainInput([b.missing == "level" or bool(b.special) for b in plan.grid])


PEERS: dict[str, Callable[[Plan, int, Any], nn.Module]] = {
    "plain": plain,
    "ple": lambda plan, dim, grid: PiecewiseLinearEmbedding(grid, dim),
    "periodic": lambda plan, dim, grid: PeriodicEmbedding(len(plan.grid), dim),
    "pbld": lambda plan, dim, grid: PBLDEmbedding(len(plan.grid), dim),
    "autodis": lambda plan, dim, grid: AutoDisEmbedding(len(plan.grid), dim),
}


def scores_of(plan: Plan, table: Table) -> np.ndarray[Any, np.dtype[np.float32]]:
    """Normal scores of (evenly spaced) rows of a table."""
    step = max(1, table.n_rows // SCORED_ROWS)
    values = np.stack([column[::step] for column in table.columns], axis=1)
    with torch.inference_mode():
        scores: np.ndarray[Any, np.dtype[np.float32]] = NormalScores(plan)(torch.as_tensor(values)).numpy()
    return scores


def ple_encoder(plan: Plan, table: Table, n_bins: int) -> BinEncoder:
    """The bins of PLE: equal-frequency ones of the normal scores."""
    return SoftBins(n_bins, missing="level").fit(scores_of(plan, table))


def names_of(n: int) -> tuple[str, ...]:
    return default_names(n)
