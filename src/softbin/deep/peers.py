"""What bins are compared with, in the same form: numbers (batch, columns) in, embeddings (batch, columns, dim) out.

Written from their formulas, x being one column's number, usually a normal score or a standardised value:

    PLE       w x + b + V t(x),  t_k = (x - b_{k-1}) / (b_k - b_{k-1}) kept in [0, 1], the ends open; V starts at zero
              (Gorishniy et al. 2022, version B of rtdl_num_embeddings; no activation)
    PLR       ReLU(V [cos 2 pi c x, sin 2 pi c x] + b),  c ~ N(0, sigma^2) (the same paper)
    PBLD      [x, V cos(2 pi c x + p) + b] (RealMLP, Holzmueller et al. 2024)
    AutoDis   M' softmax(W LeakyReLU(w x) / tau), M the meta-embeddings of the column (Guo et al. 2021)

Differs: a missing value (NaN) has an embedding of its own, which none of the papers says anything about.
"""

import math

import numpy as np
import torch
from torch import Tensor, nn
from torch.nn import functional

from softbin.boundaries.grid import Grid
from softbin.errors import OptionError


class ColumnLinear(nn.Module):
    """A linear map of its own for every column: (batch, columns, n_in) -> (batch, columns, n_out)."""

    def __init__(self, n_columns: int, n_in: int, n_out: int, *, bias: bool = True) -> None:
        super().__init__()
        self.weight = nn.Parameter(torch.empty(n_columns, n_in, n_out))
        self.bias = nn.Parameter(torch.empty(n_columns, n_out)) if bias else None
        self.reset_parameters()

    def reset_parameters(self) -> None:
        bound = self.weight.shape[1] ** -0.5
        nn.init.uniform_(self.weight, -bound, bound)
        if self.bias is not None:
            nn.init.uniform_(self.bias, -bound, bound)

    def forward(self, x: Tensor) -> Tensor:
        # Why not einsum: this is the same product, and torch.export and autocast know it everywhere.
        out = torch.matmul(x.transpose(0, 1), self.weight).transpose(0, 1)
        return out if self.bias is None else out + self.bias


class MissingRows(nn.Module):
    """NaN out of numbers, and an embedding for it into their embeddings."""

    def __init__(self, n_columns: int, dim: int) -> None:
        super().__init__()
        self.weight = nn.Parameter(torch.empty(n_columns, dim))
        self.reset_parameters()

    def reset_parameters(self) -> None:
        nn.init.normal_(self.weight, std=0.1)

    def forward(self, x: Tensor, embedding: nn.Module) -> Tensor:
        absent = torch.isnan(x)
        out: Tensor = embedding(torch.where(absent, 0.0, x))
        return torch.where(absent[..., None], self.weight.to(out.dtype), out)


class PiecewiseLinearEmbedding(nn.Module):
    """PLE, version B. ``grid``: the bins of every column, in the units of what comes in."""

    left: Tensor
    width: Tensor
    low: Tensor
    high: Tensor

    def __init__(self, grid: Grid, dim: int) -> None:
        super().__init__()
        self.n_fields, self.dim = len(grid), dim
        most = max(b.n_bins for b in grid) or 1
        left, width = np.zeros((len(grid), most)), np.ones((len(grid), most))
        low, high = np.zeros((len(grid), most)), np.zeros((len(grid), most))
        for j, b in enumerate(grid):
            n = len(b.edges) - 1
            if n < 1:
                continue
            left[j, :n], width[j, :n], high[j, :n] = b.edges[:-1], np.diff(b.edges), 1
            # Both ends are open: PLE goes on along the slope of the end bins.
            low[j, 0], high[j, n - 1] = -np.inf, np.inf
        for name, numbers in (("left", left), ("width", width), ("low", low), ("high", high)):
            self.register_buffer(name, torch.as_tensor(numbers, dtype=torch.float32))
        self.linear = ColumnLinear(len(grid), 1, dim)
        self.pieces = ColumnLinear(len(grid), most, dim, bias=False)
        self.missing = MissingRows(len(grid), dim)
        self.reset_parameters()

    def reset_parameters(self) -> None:
        self.linear.reset_parameters()
        nn.init.zeros_(self.pieces.weight)

    def encode(self, x: Tensor) -> Tensor:
        """The components t, (batch, columns, most bins)."""
        return torch.clamp((x[..., None] - self.left) / self.width, self.low, self.high)

    def forward(self, x: Tensor) -> Tensor:
        return self.missing(x, self._embedded)

    def _embedded(self, x: Tensor) -> Tensor:
        return self.linear(x[..., None]) + self.pieces(self.encode(x))


class PeriodicEmbedding(nn.Module):
    """PLR: waves of trained frequencies, a linear map of each column's, ReLU."""

    def __init__(self, n_columns: int, dim: int = 24, *, n_frequencies: int = 48, sigma: float = 0.01) -> None:
        super().__init__()
        self.n_fields, self.dim, self.sigma = n_columns, dim, _positive("sigma", sigma)
        self.frequency = nn.Parameter(torch.empty(n_columns, n_frequencies))
        self.linear = ColumnLinear(n_columns, 2 * n_frequencies, dim)
        self.missing = MissingRows(n_columns, dim)
        self.reset_parameters()

    def reset_parameters(self) -> None:
        # Why the bound: one frequency far out makes a column noise.
        nn.init.trunc_normal_(self.frequency, std=self.sigma, a=-3 * self.sigma, b=3 * self.sigma)
        self.linear.reset_parameters()

    def forward(self, x: Tensor) -> Tensor:
        return self.missing(x, self._embedded)

    def _embedded(self, x: Tensor) -> Tensor:
        angle = 2 * math.pi * self.frequency * x[..., None]
        return functional.relu(self.linear(torch.cat([torch.cos(angle), torch.sin(angle)], -1)))


class PBLDEmbedding(nn.Module):
    """PBLD: the number itself, and a linear map of cosines with trained phases."""

    def __init__(self, n_columns: int, dim: int = 4, *, n_frequencies: int = 16, sigma: float = 0.1) -> None:
        super().__init__()
        if dim < 2:
            raise OptionError(f"dim: {dim} leaves no room beside the number itself; pass 2 or more")
        self.n_fields, self.dim, self.sigma = n_columns, dim, _positive("sigma", sigma)
        self.frequency = nn.Parameter(torch.empty(n_columns, n_frequencies))
        self.phase = nn.Parameter(torch.empty(n_columns, n_frequencies))
        self.linear = ColumnLinear(n_columns, n_frequencies, dim - 1)
        self.missing = MissingRows(n_columns, dim)
        self.reset_parameters()

    def reset_parameters(self) -> None:
        nn.init.normal_(self.frequency, std=self.sigma)
        nn.init.uniform_(self.phase, -math.pi, math.pi)
        self.linear.reset_parameters()

    def forward(self, x: Tensor) -> Tensor:
        return self.missing(x, self._embedded)

    def _embedded(self, x: Tensor) -> Tensor:
        waves = torch.cos(2 * math.pi * self.frequency * x[..., None] + self.phase)
        out = self.linear(waves)
        return torch.cat([x[..., None].to(out.dtype), out], -1)


class AutoDisEmbedding(nn.Module):
    """AutoDis: a soft choice among a column's meta-embeddings."""

    def __init__(self, n_columns: int, dim: int = 16, *, n_meta: int = 20, temperature: float = 0.1) -> None:
        super().__init__()
        self.n_fields, self.dim, self.temperature = n_columns, dim, _positive("temperature", temperature)
        self.scores = ColumnLinear(n_columns, 1, n_meta, bias=False)
        self.mix = ColumnLinear(n_columns, n_meta, n_meta, bias=False)
        self.meta = ColumnLinear(n_columns, n_meta, dim, bias=False)
        self.missing = MissingRows(n_columns, dim)
        self.reset_parameters()

    def reset_parameters(self) -> None:
        for part in (self.scores, self.mix, self.meta):
            part.reset_parameters()

    def forward(self, x: Tensor) -> Tensor:
        return self.missing(x, self._embedded)

    def _embedded(self, x: Tensor) -> Tensor:
        chosen = self.mix(functional.leaky_relu(self.scores(x[..., None])))
        return self.meta(torch.softmax(chosen / self.temperature, -1))


def _positive(option: str, given: float) -> float:
    if not (given > 0 and math.isfinite(given)):
        raise OptionError(f"{option}: {given!r} is not a positive number")
    return float(given)
