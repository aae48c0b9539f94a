"""Where a value falls, in torch: the rows of the embedding table it takes, and with which weights.

The definition is encodings/locate.py and hat.py, and this is their copy for whole tables at once: bins are found by
bisection, positions inside a bin in float64, so that both agree to the last bit. All levels of all columns stand in one
table, column after column, in the order of ``plan.level_start``. A regular value takes two neighbouring rows (soft
bins) or one (hard bins); missing values and special codes take a row of their own.

    rows      (batch, fields, 2)  lower and upper row           hard bins: (batch, fields, 1)
    weights   (batch, fields, 2)  1 - fraction and fraction     hard bins: (batch, fields, 1), ones

A *field* is a column of the plan: one per table column, or one per kept granularity (MultiBins). A *position* is a bin
of a field, counted through all of them. A module inside a compiled graph cannot raise, so a value that no level is for
(``missing="error"``, ``outside="error"``, infinity on a circle) has the weight NaN: what comes out of its field is NaN.

Why bits: float buffers follow the dtype of a module, and ``network.half()`` would move every edge. Edges are kept as
the bits of their floats, in integer buffers.
"""

import math
from typing import Any, NamedTuple

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor, nn

from softbin.boundaries.grid import Grid
from softbin.encodings.encoder import BinEncoder
from softbin.encodings.plan import Levels, Plan
from softbin.errors import DataError, OptionError

FAR = 1e100  # beyond any knot, and its square is still finite


class Edges(NamedTuple):
    """Left edge and width of every position, in float64, and the inner edges of every field, padded with infinity."""

    left: Tensor  # (positions,)
    width: Tensor  # (positions,)
    cuts: Tensor  # (fields, most cuts), in the dtype of the values


class Bins(NamedTuple):
    """One field, bin by bin."""

    left: NDArray[np.float64]
    width: NDArray[np.float64]
    lower: NDArray[np.int64]
    upper: NDArray[np.int64]


def plan_of(source: Any, soft: bool) -> Plan:
    """The plan of a grid under hard or soft bins. A Plan is itself, a fitted encoder stands for its own."""
    if isinstance(source, BinEncoder):
        source = source.plan_
    if isinstance(source, Grid):
        return Plan(source, soft)
    if not isinstance(source, Plan):
        raise OptionError(f"grid: {source!r} is not a grid; pass encoder.grid_, encoder.plan_ or a fitted encoder")
    if source.soft != soft:
        kinds = ("soft", "hard") if source.soft else ("hard", "soft")
        raise OptionError(f"grid: a plan of {kinds[0]} bins for an embedding of {kinds[1]} ones; pass its grid instead")
    return source


class Locate(nn.Module):
    """Rows and weights of raw values (batch, columns)."""

    edge_bits: Tensor
    width_bits: Tensor
    cut_bits: Tensor
    cut32_bits: Tensor
    start: Tensor
    last: Tensor
    lower_row: Tensor
    upper_row: Tensor
    source: Tensor
    missing_row: Tensor
    special_row: Tensor
    special_bits: Tensor
    end_bits: Tensor
    period_bits: Tensor
    flat: Tensor | None
    linear: Tensor | None
    bounded: Tensor | None
    finite: Tensor | None
    strict: Tensor | None
    blank: Tensor | None
    void: Tensor | None

    def __init__(self, plan: Plan) -> None:
        super().__init__()
        if plan.n_levels == 0:
            raise OptionError("grid: no column has a level; give one an edge, a special code or a missing level")
        self.plan = plan
        self.soft = plan.soft
        self.n_levels = plan.n_levels
        self.n_fields = len(plan.columns)
        self.n_columns = plan.n_table_columns
        self.has_views = plan.views is not None
        self._set_integers("source", plan.source)
        self._set_bins(plan)
        self._set_others(plan)
        self.follows_plan = True
        self.register_load_state_dict_post_hook(_look_again)  # type: ignore[no-untyped-call]

    def _set_bins(self, plan: Plan) -> None:
        bins = [_bins(levels, int(plan.level_start[j])) for j, levels in enumerate(plan.columns)]
        counts = np.array([len(of.left) for of in bins])
        self._set_integers("start", np.cumsum(counts) - counts)
        self._set_integers("last", counts - 1)
        self._set_integers("lower_row", np.concatenate([of.lower for of in bins]))
        self._set_integers("upper_row", np.concatenate([of.upper for of in bins]))
        self._set_bits("edge_bits", np.concatenate([of.left for of in bins]))
        self._set_bits("width_bits", np.concatenate([of.width for of in bins]))
        cuts = _padded([b.edges[1:-1] for b in plan.grid], np.inf)
        self._set_bits("cut_bits", cuts)
        self._set_bits("cut32_bits", round_up(cuts))

    def _set_others(self, plan: Plan) -> None:
        """What becomes of missing values, special codes and values beyond the ends."""
        grid, fields = plan.grid, list(zip(plan.grid, plan.columns, plan.level_start.tolist(), strict=False))
        missing = [start + levels.missing if b.missing == "level" else -1 for b, levels, start in fields]
        self._set_integers("missing_row", missing)
        codes = _padded([b.special for b in grid], np.nan)
        self.has_rows_alone = max(missing) >= 0 or codes.shape[1] > 0
        self._set_bits("special_bits", codes)
        first = np.array([start + levels.n_regular for _, levels, start in fields])
        self._set_integers("special_row", first[:, None] + np.arange(codes.shape[1]))
        bounded = [b.outside == "error" and bool(b.edges) and b.period is None for b in grid]
        ends = [(b.edges[0], b.edges[-1]) if inside else (0.0, 0.0) for b, inside in zip(grid, bounded, strict=True)]
        self._set_bits("end_bits", np.array(ends))
        self.circles = [j for j, b in enumerate(grid) if b.period is not None]
        self._set_bits("period_bits", np.array([grid[j].period for j in self.circles], np.float64).reshape(-1, 2))
        self._set_flags("flat", [len(of) < 2 for of in (_knots(levels) for levels in plan.columns)])
        self._set_flags("linear", [b.outside == "linear" for b in grid])
        self._set_flags("bounded", bounded)
        self._set_flags("finite", [bool(b.edges) and (b.outside == "linear" or b.period is not None) for b in grid])
        self._set_flags("strict", [b.missing == "error" for b in grid])
        self._set_flags("blank", [b.missing == "zero" for b in grid])
        self._set_flags("void", [not b.edges and b.missing != "level" for b in grid])

    def _set_integers(self, name: str, numbers: Any) -> None:
        self.register_buffer(name, torch.as_tensor(np.asarray(numbers, np.int64)))

    def _set_bits(self, name: str, floats: NDArray[Any]) -> None:
        integers = np.int32 if floats.dtype == np.float32 else np.int64
        self.register_buffer(name, torch.as_tensor(np.ascontiguousarray(floats).view(integers)))

    def _set_flags(self, name: str, flags: list[bool]) -> None:
        """One flag per field as a buffer, or None where all are False: what no field needs costs nothing."""
        self.register_buffer(name, torch.tensor(flags) if any(flags) else None)

    def forward(self, values: Tensor, dtype: torch.dtype, edges: Edges | None = None) -> tuple[Tensor, Tensor]:
        """Rows and weights (in ``dtype``). ``edges`` stand in for the grid's own where these are trained."""
        values = self.fields(values)
        edges = self.edges(values.dtype) if edges is None else edges
        missing = torch.isnan(values)
        with torch.no_grad():
            position = self._positions(values, edges)
            alone = self._rows_alone(values, missing)
            nothing, trouble = self._odd(values, missing, alone)
        lower = self.lower_row[position]
        lower = lower if alone is None else torch.where(alone >= 0, alone, lower)
        if not self.soft:
            rows, weights = lower[..., None], torch.ones_like(values, dtype=dtype)[..., None]
        else:
            fraction = self._fraction(values, position, edges).to(dtype)
            upper = self.upper_row[position]
            if alone is not None:
                upper = torch.where(alone >= 0, alone, upper)
                fraction = torch.where(alone >= 0, 0.0, fraction)
            rows, weights = torch.stack([lower, upper], -1), torch.stack([1 - fraction, fraction], -1)
        if nothing is not None:
            weights = torch.where(nothing[..., None], 0.0, weights)
        if trouble is not None:
            weights = torch.where(trouble[..., None], math.nan, weights)
        return rows, weights

    def fields(self, values: Tensor) -> Tensor:
        """Values field by field, (batch, fields): float32 or float64, circles wrapped."""
        self.check_shape(values)
        if values.dtype not in (torch.float32, torch.float64):
            values = values.float()
        if self.has_views:
            values = values[:, self.source]
        if not self.circles:
            return values
        columns, codes, periods = list(values.unbind(1)), self._codes(values.dtype), _floats(self.period_bits)
        for circle, j in enumerate(self.circles):
            columns[j] = _wrap(columns[j], periods[circle, 0], periods[circle, 1], codes[j])
        return torch.stack(columns, 1)

    def check_shape(self, values: Tensor) -> None:
        """Raises DataError unless these are raw columns, (batch, columns)."""
        if values.ndim != 2 or values.shape[1] != self.n_columns:
            raise DataError(f"values: shape {tuple(values.shape)}, not (batch, {self.n_columns}); pass raw columns")

    def edges(self, dtype: torch.dtype) -> Edges:
        """The grid's own edges; cuts are rounded up to the dtype of the values, so that no value changes its bin."""
        cuts = self.cut32_bits.view(torch.float32) if dtype == torch.float32 else _floats(self.cut_bits)
        return Edges(_floats(self.edge_bits), _floats(self.width_bits), cuts)

    def _codes(self, dtype: torch.dtype) -> Tensor:
        """Special codes, (fields, most codes), as values of this dtype spell them; NaN where it cannot."""
        codes = _floats(self.special_bits).to(dtype)
        return torch.where(torch.isfinite(codes), codes, math.nan)

    def _positions(self, values: Tensor, edges: Edges) -> Tensor:
        """The position of every value; any one for NaN."""
        found = torch.searchsorted(edges.cuts, values.to(edges.cuts.dtype).T.contiguous(), right=True).T
        # Why the minimum: NaN and infinity lie behind the padding too.
        return self.start + torch.minimum(found, self.last)

    def _fraction(self, values: Tensor, position: Tensor, edges: Edges) -> Tensor:
        """How far into its bin each value lies, in float64."""
        exact = values.double()
        if edges.left.requires_grad:
            # Why: where a value counts for nothing its gradient is 0 times what stands here, and 0 x NaN is NaN.
            exact = exact.nan_to_num(0.0, FAR, -FAR)
        fraction = (exact - edges.left[position]) / edges.width[position]
        inside = fraction.clamp(0, 1)
        fraction = inside if self.linear is None else torch.where(self.linear, fraction, inside)
        return fraction if self.flat is None else torch.where(self.flat, 0.0, fraction)

    def _rows_alone(self, values: Tensor, missing: Tensor) -> Tensor | None:
        """The row that missing values and special codes have to themselves, -1 for others; None where nobody has."""
        if not self.has_rows_alone:
            return None
        codes = self._codes(values.dtype)
        alone = torch.where(missing, self.missing_row, -1)
        for s in range(codes.shape[1]):
            alone = torch.where(values == codes[:, s], self.special_row[:, s], alone)
        return alone

    def _odd(self, values: Tensor, missing: Tensor, alone: Tensor | None) -> tuple[Tensor | None, Tensor | None]:
        """Which values have no weight at all, and which are an error."""
        nothing = trouble = None
        ordinary = ~missing if alone is None else ~missing & (alone < 0)
        if self.blank is not None:
            nothing = _either(nothing, missing & self.blank)
        if self.void is not None:
            nothing = _either(nothing, ordinary & self.void)
        if self.strict is not None:
            trouble = _either(trouble, missing & self.strict)
        if self.bounded is not None:
            low, high = _floats(self.end_bits).unbind(1)
            trouble = _either(trouble, ordinary & self.bounded & ((values < low) | (values > high)))
        if self.finite is not None:
            trouble = _either(trouble, torch.isinf(values) & self.finite)
        return nothing, trouble


def _look_again(locate: Any, incompatible: Any) -> None:
    """Says whether the edges that came with a state_dict are still those of the plan."""
    fresh = Locate(locate.plan)
    pairs = zip(fresh.buffers(), locate.buffers(), strict=True)
    locate.follows_plan = all(torch.equal(old, new.to(old.device)) for old, new in pairs)


def round_up(edges: NDArray[np.float64]) -> NDArray[np.float32]:
    """Edges in float32, rounded up: x >= edge says the same of every float32 x before and after."""
    with np.errstate(over="ignore"):
        nearest = edges.astype(np.float32)
    up = np.nextafter(nearest, np.float32(np.inf))
    rounded: NDArray[np.float32] = np.where(nearest.astype(np.float64) >= edges, nearest, up)
    return rounded


def _bins(levels: Levels, start: int) -> Bins:
    """The bins of one field whose first row is ``start``. One with fewer than two knots has a single bin."""
    b, edges = levels.boundaries, _knots(levels)
    if len(edges) >= 2:
        left, width = np.array(edges[:-1]), np.diff(edges)
        lower = np.arange(len(left))
        upper = (lower + 1) % levels.n_regular if levels.wraps else lower + 1
    else:
        left, width = np.array([*edges, 0.0][:1]), np.ones(1)
        own = 0 if b.edges else levels.missing if b.missing == "level" else -start
        lower = upper = np.array([own])
    return Bins(left, width, lower + start, (upper if levels.soft else lower) + start)


def _knots(levels: Levels) -> tuple[float, ...]:
    """The edges between which a value's place counts: on a circle with a single knot, none."""
    return levels.boundaries.edges[:1] if levels.soft and levels.n_regular < 2 else levels.boundaries.edges


def _padded(rows: list[tuple[float, ...]], filler: float) -> NDArray[np.float64]:
    """Rows of several lengths as one matrix."""
    padded = np.full((len(rows), max(map(len, rows))), filler)
    for j, row in enumerate(rows):
        padded[j, : len(row)] = row
    return padded


def _floats(bits: Tensor) -> Tensor:
    return bits.view(torch.float64)


def _either(flags: Tensor | None, others: Tensor) -> Tensor:
    return others if flags is None else flags | others


def _wrap(values: Tensor, low: Tensor, high: Tensor, codes: Tensor) -> Tensor:
    """A periodic column moved into [low, high]; codes, NaN and infinities stay."""
    exact = values.double()
    inside = (exact >= low) & (exact < high)
    movable = torch.isfinite(values) & ~inside & ~(values[:, None] == codes).any(1)
    wrapped = (low + torch.remainder(exact - low, high - low)).to(values.dtype)
    reached = wrapped.double()
    start = low.to(values.dtype)
    start = torch.where(start.double() >= low, start, torch.nextafter(start, torch.full_like(start, math.inf)))
    wrapped = torch.where((reached >= high) | (reached < low), start, wrapped)
    return torch.where(movable, wrapped, values)
