"""Bins as torch modules: raw values (batch, columns) in, embeddings (batch, fields, dim) out, for anyone's network.

One table holds a row of ``dim`` numbers for every level of every column: bins or knots, then special codes, then
missing. A hard bin is a row (paper: CD); a value between two knots is the mix of their two rows (paper: LLE),

    out = (1 - f) E[k] + f E[k + 1],      f = (x - v_k) / (v_{k+1} - v_k)

which is a lookup of two rows and one fraction. It is the same function class as piecewise-linear encoding and a linear
map, E_0 + PLE(x) diff(E). What is trained is diff(E) as there, or E itself: see ``steps``.
"""

from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

import numpy as np
import torch
from torch import Tensor, nn

from softbin.boundaries.grid import Grid
from softbin.deep.locate import Edges, Locate, plan_of
from softbin.deep.lookup import embed
from softbin.deep.options import number, whole
from softbin.deep.starts import STARTS, start_table
from softbin.deep.steps import BASES, Steps
from softbin.encodings.encoder import BinEncoder
from softbin.encodings.options import one_of
from softbin.encodings.plan import Levels, Plan
from softbin.errors import OptionError


class BinEmbedding(nn.Module):
    """The shared half of HardBinEmbedding, SoftBinEmbedding and MultiBinEmbedding; use those.

    ``weight`` is what is trained, ``table()`` has a row per level; ``plan.level_start`` says which rows are whose.
    """

    bends: Tensor
    fixed: Tensor | None = None

    def __init__(
        self, plan: Plan, dim: int, *, init: str, basis: str, smoothness: float, trainable_knots: bool,
        random_state: int | None,
    ) -> None:  # fmt: skip
        super().__init__()
        self.plan = plan
        self.init = one_of("init", init, tuple(STARTS))
        self.basis = one_of("basis", basis, BASES)
        self.smoothness = number("smoothness", smoothness, 0, np.inf)
        self.random_state = None if random_state is None else whole("random_state", random_state, 0, 2**63 - 1)
        self.locate = Locate(plan)
        self.weight = nn.Parameter(torch.empty(plan.n_levels, whole("dim", dim, 1)))
        self.steps = Steps(plan) if basis == "steps" else None
        self.knots = TrainedKnots(plan) if trainable_knots else None
        self.register_buffer("bends", torch.as_tensor(_bends(plan)), persistent=False)
        self.reset_parameters()

    def reset_parameters(self) -> None:
        """The table as it starts: the same for the same ``random_state``, else drawn from torch's own generator."""
        seed = int(torch.randint(2**31, ()).item()) if self.random_state is None else self.random_state
        self.set_table(torch.as_tensor(start_table(self.init, self.plan, self.dim, np.random.default_rng(seed))))
        if self.knots is not None:
            self.knots.reset_parameters()

    def forward(self, values: Tensor) -> Tensor:
        """(batch, columns) -> (batch, fields, dim). NaN takes the missing row; where there is none, NaN comes out."""
        return embed(self.locate, values, self.table(), None if self.knots is None else self.knots())

    def table(self) -> Tensor:
        """The rows of all levels, (levels, dim)."""
        if self.fixed is not None:
            return self.fixed
        return self.weight if self.steps is None else self.steps(self.weight)

    @torch.no_grad()
    def set_table(self, rows: Tensor) -> None:
        """Makes these the rows, (levels, dim)."""
        rows = torch.as_tensor(rows, device=self.weight.device)
        if rows.shape != self.weight.shape:
            raise OptionError(f"rows: {tuple(rows.shape)} is not the shape of this table, {tuple(self.weight.shape)}")
        self.weight.copy_(rows if self.steps is None else self.steps.inverse(rows))

    def penalty(self) -> Tensor:
        """``smoothness`` times the sum of squared second differences along each column's knots; add it to the loss."""
        table = self.table()
        left, middle, right = (table[self.bends[:, i]] for i in range(3))
        return self.smoothness * (left - 2 * middle + right).square().sum()

    @property
    def n_fields(self) -> int:
        """How many embeddings a row gives: one per column, or one per kept granularity."""
        return self.locate.n_fields

    @property
    def dim(self) -> int:
        return self.weight.shape[1]

    def extra_repr(self) -> str:
        return f"columns={self.locate.n_columns}, fields={self.n_fields}, levels={self.plan.n_levels}, dim={self.dim}"


@contextmanager
def fixed_tables(network: nn.Module) -> Iterator[None]:
    """In here the tables of a network are worked out once and not for every batch; its weights must not change."""
    parts = [part for part in network.modules() if isinstance(part, BinEmbedding)]
    for part in parts:
        part.fixed = part.table().detach()
    try:
        yield
    finally:
        for part in parts:
            part.fixed = None


class HardBinEmbedding(BinEmbedding):
    """A row per bin.

    Shapes: raw values (batch, columns) in, (batch, columns, dim) out.

    Parameters
    ----------
    grid : Grid, Plan or fitted HardBins
    dim : int
    init : {"smooth", "random"}, default="smooth"
        Rows that start as a smooth function of their bin, or unrelated ones.
    basis : {"steps", "rows"}, default="steps"
        What is trained: the steps from each row to the next, which keeps neighbours together, or the rows themselves.
    smoothness : float, default=0.0
        Strength of ``penalty()``.
    random_state : int or None, default=None
        Of the start; None draws from torch's generator.

    Examples
    --------
    >>> import torch
    >>> from softbin import Boundaries, Grid
    >>> from softbin.deep import HardBinEmbedding
    >>> embedding = HardBinEmbedding(Grid((Boundaries((0, 20, 35)),)), 4)
    >>> embedding(torch.tensor([[3.0], [30.0]])).shape
    torch.Size([2, 1, 4])
    """

    def __init__(
        self,
        grid: Grid | Plan | BinEncoder,
        dim: int,
        *,
        init: str = "smooth",
        basis: str = "steps",
        smoothness: float = 0.0,
        random_state: int | None = None,
    ) -> None:
        super().__init__(
            plan_of(grid, soft=False), dim, init=init, basis=basis, smoothness=smoothness, trainable_knots=False,
            random_state=random_state,
        )  # fmt: skip


class SoftBinEmbedding(BinEmbedding):
    """A row per knot; a value between two knots is the mix of their rows.

    Shapes: raw values (batch, columns) in, (batch, columns, dim) out.

    Parameters
    ----------
    grid : Grid, Plan or fitted SoftBins
    dim : int
    init : {"smooth", "random"}, default="smooth"
        Rows that start as a smooth function of their knot, or unrelated ones.
    basis : {"steps", "rows"}, default="steps"
        What is trained: the steps from each row to the next, which keeps neighbours together, or the rows themselves.
    smoothness : float, default=0.0
        Strength of ``penalty()``: squared second differences of neighbouring rows (round a circle, too).
    trainable_knots : bool, default=False
        Whether the inner knots move with the training; the first and last stay. ``trained_grid()`` says where to.
    random_state : int or None, default=None
        Of the start; None draws from torch's generator.

    Examples
    --------
    >>> import torch
    >>> from softbin import Boundaries, Grid
    >>> from softbin.deep import SoftBinEmbedding
    >>> embedding = SoftBinEmbedding(Grid((Boundaries((0, 20, 40)),)), 1)
    >>> embedding.set_table(torch.tensor([[0.0], [1.0], [5.0]]))
    >>> embedding(torch.tensor([[10.0], [30.0]])).flatten().tolist()
    [0.5, 3.0]
    """

    def __init__(
        self,
        grid: Grid | Plan | BinEncoder,
        dim: int,
        *,
        init: str = "smooth",
        basis: str = "steps",
        smoothness: float = 0.0,
        trainable_knots: bool = False,
        random_state: int | None = None,
    ) -> None:
        super().__init__(
            plan_of(grid, soft=True), dim, init=init, basis=basis, smoothness=smoothness,
            trainable_knots=trainable_knots, random_state=random_state,
        )  # fmt: skip

    def trained_grid(self) -> Grid:
        """The grid with its knots where training has moved them."""
        if self.knots is None:
            return self.plan.grid
        moved = self.knots.tuples()
        columns = (
            b if edges == b.edges else b.with_edges(edges) for b, edges in zip(self.plan.grid, moved, strict=True)
        )
        return Grid(tuple(columns), self.plan.grid.names)


class MultiBinEmbedding(BinEmbedding):
    """A row per bin of every kept (column, granularity) pair, each pair a field of its own.

    Shapes: raw values (batch, columns) in, (batch, kept pairs, dim) out.

    Parameters
    ----------
    grid : fitted MultiBins, or its ``plan_``
        A grid alone does not say which table column each of its columns reads.
    dim : int
    init, basis, smoothness, random_state
        As in HardBinEmbedding.
    """

    def __init__(
        self,
        grid: Plan | BinEncoder,
        dim: int,
        *,
        init: str = "smooth",
        basis: str = "steps",
        smoothness: float = 0.0,
        random_state: int | None = None,
    ) -> None:
        if isinstance(grid, Grid):
            raise OptionError("grid: a grid does not say which column is read several times; pass a fitted MultiBins")
        super().__init__(
            grid.plan_ if isinstance(grid, BinEncoder) else grid, dim, init=init, basis=basis, smoothness=smoothness,
            trainable_knots=False, random_state=random_state,
        )  # fmt: skip


class TrainedKnots(nn.Module):
    """Knots that move: widths are shares of the range, shares a softmax, so knots stay in order whatever happens."""

    inside: Tensor
    at: Tensor
    end_bits: Tensor
    share_bits: Tensor

    def __init__(self, plan: Plan) -> None:
        super().__init__()
        self.plan = plan
        edges = [b.edges if _moves(levels) else (0.0, 1.0) for b, levels in zip(plan.grid, plan.columns, strict=True)]
        widths = [np.diff(of) for of in edges]
        most = max(map(len, widths))
        shares = np.zeros((len(widths), most))
        for j, of in enumerate(widths):
            shares[j, : len(of)] = of / of.sum()
        inside = torch.as_tensor(shares > 0)
        ends = np.array([(of[0], of[-1] - of[0]) for of in edges])
        self.logits = nn.Parameter(torch.empty(int(inside.sum())))
        self.register_buffer("inside", inside, persistent=False)
        self.register_buffer("at", inside.flatten().nonzero()[:, 0], persistent=False)
        self.register_buffer("end_bits", torch.as_tensor(ends.view(np.int64)))
        self.register_buffer("share_bits", torch.as_tensor(shares.view(np.int64)), persistent=False)
        self.reset_parameters()

    def reset_parameters(self) -> None:
        """Knots where the grid has them."""
        with torch.no_grad():
            self.logits.copy_(self.share_bits.view(torch.float64).flatten()[self.at].log())

    def forward(self) -> Edges:
        """The edges as they are now, with gradients to ``logits``."""
        inside, at = self.inside, self.at
        low, span = self.end_bits.view(torch.float64).unbind(1)
        logits = torch.full(inside.shape, -torch.inf, dtype=torch.float64, device=self.logits.device)
        logits = logits.flatten().index_copy(0, at, self.logits.double()).view(inside.shape)
        shares = torch.softmax(logits, 1)
        right = low[:, None] + span[:, None] * shares.cumsum(1)
        width = span[:, None] * shares
        left = torch.cat([low[:, None], right[:, :-1]], 1)
        cuts = torch.where(inside[:, 1:], right[:, :-1], torch.inf).detach().contiguous()
        return Edges(left.flatten()[at], width.flatten()[at], cuts)

    def tuples(self) -> list[tuple[float, ...]]:
        """The edges of every column; both ends, and columns with nothing to move, as the grid has them."""
        with torch.no_grad():
            cuts = self().cuts.cpu()
        return [
            _apart([b.edges[0], *cuts[j, : len(b.edges) - 2].tolist(), b.edges[-1]]) if _moves(levels) else b.edges
            for j, (b, levels) in enumerate(zip(self.plan.grid, self.plan.columns, strict=True))
        ]


def _moves(levels: Levels) -> bool:
    return levels.n_regular > 1 and levels.boundaries.n_bins > 1


def _apart(knots: list[float]) -> tuple[float, ...]:
    """Knots that rounding has put on one place, or behind the last one, a number apart; both ends stay."""
    for k in range(1, len(knots) - 1):
        knots[k] = max(knots[k], float(np.nextafter(knots[k - 1], np.inf)))
    for k in range(len(knots) - 2, 0, -1):
        knots[k] = min(knots[k], float(np.nextafter(knots[k + 1], -np.inf)))
    return tuple(knots)


def _bends(plan: Plan) -> np.ndarray[Any, np.dtype[np.int64]]:
    """Three neighbouring rows each, (bends, 3): those whose second difference is penalised."""
    found = [np.zeros((0, 3), np.int64)]
    for levels, start in zip(plan.columns, plan.level_start.tolist(), strict=False):
        n = levels.n_regular
        middle = np.arange(n) if levels.wraps and n > 2 else np.arange(1, n - 1)
        found.append(start + np.stack([(middle - 1) % max(n, 1), middle, (middle + 1) % max(n, 1)], 1))
    return np.concatenate(found)
