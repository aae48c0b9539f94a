"""The lookup as one Triton kernel each way: raw values and a table in, embeddings out, the table's gradient back.

Forward reads a value, finds its bin, and writes the mix of two rows: nothing in between touches memory. The definition
stores rows, weights and two gathered copies of the output; at 28 columns, 16 coordinates and bfloat16 the kernel moves 1
byte where it moves about 15. Under autocast embeddings come out in autocast's precision, rounded once.

Both directions are operators of torch (``torch.ops.softbin``), so ``torch.compile`` and CUDA graphs take them as they
are. Gradients of the table are the same bits in every run. What the kernels do not do, the definition does: float64
tables, gradients of the values, trained knots, other devices (see ``can_run``).
"""

import importlib.util
from functools import cache
from types import ModuleType
from typing import Any, NamedTuple

import torch
from torch import Tensor

from softbin.deep.locate import Edges, Locate

FEW_LEVELS = 128  # of one field: up to here its gradient is a product of matrices
ROWS_EACH = 512  # of a program of that product, at least
MOST_PARTS = 64
LARGEST_BLOCK_DIM = 64
TABLES = (torch.float32, torch.bfloat16, torch.float16)


@cache
def available() -> bool:
    """Whether Triton is installed."""
    return importlib.util.find_spec("triton") is not None


def can_run(values: Tensor, table: Tensor, edges: Edges | None) -> bool:
    """Whether the kernels do what is asked: no trained knots, no gradient of the values, no float64 table."""
    plain = edges is None and table.dtype in TABLES and not values.requires_grad
    return plain and (values.is_cuda or _interpreted()) and available()


def by_triton(locate: Locate, values: Tensor, table: Tensor, edges: Edges | None) -> Tensor:
    """Embeddings (batch, fields, dim) by the kernel."""
    assert edges is None
    dtype = table.dtype
    if torch.is_autocast_enabled(values.device.type):
        dtype = torch.get_autocast_dtype(values.device.type)
    # Why here: what a circle does to a value is Locate's own business; the rest of it the kernel does.
    views = locate.has_views and not locate.circles
    checked = values if views else locate.fields(values)
    if checked.dtype not in (torch.float32, torch.float64):
        checked = checked.float()
    own = locate.edges(checked.dtype)
    flags = [locate.flat, locate.linear, locate.bounded, locate.finite, locate.strict, locate.blank, locate.void]
    out: Tensor = torch.ops.softbin.lookup(
        checked.contiguous(), table.contiguous(), own.cuts, own.left, own.width, locate.start, locate.last,
        locate.lower_row, locate.upper_row, locate.missing_row, locate.special_row,
        locate.special_bits.view(torch.float64), locate.end_bits.view(torch.float64), *flags,
        locate.source if views else None, locate.soft, dtype,
    )  # fmt: skip
    return out


class _Shape(NamedTuple):
    """What a kernel is compiled for, from the tensors that the operators get."""

    n_values: int
    dim: int
    block_dim: int
    constants: dict[str, Any]


@torch.library.custom_op("softbin::lookup", mutates_args=())
def lookup(
    values: Tensor, table: Tensor, cuts: Tensor, left: Tensor, width: Tensor, start: Tensor, last: Tensor,
    lower_row: Tensor, upper_row: Tensor, missing_row: Tensor, special_row: Tensor, special: Tensor, ends: Tensor,
    flat: Tensor | None, linear: Tensor | None, bounded: Tensor | None, finite: Tensor | None, strict: Tensor | None,
    blank: Tensor | None, void: Tensor | None, source: Tensor | None, soft: bool, dtype: torch.dtype,
) -> Tensor:  # fmt: skip
    """(batch, fields, dim)."""
    own = (cuts, left, width, start, last, lower_row, upper_row, missing_row, special_row, special, ends)
    flags = (flat, linear, bounded, finite, strict, blank, void)
    out = values.new_empty((len(values), len(start), table.shape[1]), dtype=dtype)
    shape = _shape(values, table.shape[1], cuts, start, special, flags, source, soft)
    if shape.n_values and out.numel():
        block = max(16, 2048 // shape.block_dim)
        grid = (-(-shape.n_values // block), -(-shape.dim // shape.block_dim))
        _device().forward_kernel[grid](
            values, table, out, shape.n_values, _or(source, start), *own, *_or_start(flags, start),
            **shape.constants, BLOCK=block, BLOCK_DIM=shape.block_dim,
        )  # fmt: skip
    return out


@lookup.register_fake
def _(values: Tensor, table: Tensor, cuts: Tensor, left: Tensor, width: Tensor, start: Tensor, *others: Any) -> Tensor:
    return values.new_empty((values.shape[0], start.shape[0], table.shape[1]), dtype=others[-1])


@torch.library.custom_op("softbin::lookup_backward", mutates_args=())
def lookup_backward(
    grad: Tensor, values: Tensor, table: Tensor, cuts: Tensor, left: Tensor, width: Tensor, start: Tensor, last: Tensor,
    lower_row: Tensor, upper_row: Tensor, missing_row: Tensor, special_row: Tensor, special: Tensor, ends: Tensor,
    flat: Tensor | None, linear: Tensor | None, bounded: Tensor | None, finite: Tensor | None, strict: Tensor | None,
    blank: Tensor | None, void: Tensor | None, source: Tensor | None, soft: bool,
) -> Tensor:  # fmt: skip
    """The gradient of the table (levels, dim), from that of what came out (batch, fields, dim)."""
    own = (cuts, left, width, start, last, lower_row, upper_row, missing_row, special_row, special, ends)
    flags = (flat, linear, bounded, finite, strict, blank, void)
    grad = grad.contiguous()
    shape = _shape(values, table.shape[1], cuts, start, special, flags, source, soft)
    if shape.n_values == 0:
        return torch.zeros_like(table)
    given = (_or(source, start), *own, *_or_start(flags, start))
    n_levels = cuts.shape[1] + 2 + special.shape[1] + 1
    if n_levels <= FEW_LEVELS:
        return _few_levels(grad, values, table, n_levels, given, shape)
    return _many_levels(grad, values, table, given, shape)


@lookup_backward.register_fake
def _(grad: Tensor, values: Tensor, table: Tensor, *others: Any) -> Tensor:
    return torch.empty_like(table)


def _few_levels(
    grad: Tensor, values: Tensor, table: Tensor, n_levels: int, given: tuple[Tensor, ...], shape: _Shape
) -> Tensor:
    n_rows, n_fields = grad.shape[:2]
    n_parts = min(MOST_PARTS, -(-n_rows // ROWS_EACH))
    rows_each = -(-n_rows // n_parts)
    parts = torch.empty((n_parts, *table.shape), dtype=torch.float32, device=grad.device)
    block_dim = max(16, shape.block_dim)
    levels = max(16, _power_of_two(n_levels))
    _device().few_levels_kernel[(n_fields, n_parts, -(-shape.dim // block_dim))](
        grad, values, parts, n_rows, len(table), rows_each, *given, **shape.constants,
        BLOCK=64 if levels > 64 else 128, BLOCK_DIM=block_dim, LEVELS=levels,
    )  # fmt: skip
    out = torch.empty_like(table)
    block = 256
    _device().sum_parts_kernel[(-(-out.numel() // block),)](parts, out, n_parts, out.numel(), BLOCK=block)
    return out


def _many_levels(grad: Tensor, values: Tensor, table: Tensor, given: tuple[Tensor, ...], shape: _Shape) -> Tensor:
    largest = torch.zeros((1,), dtype=torch.int32, device=grad.device)
    sums = torch.zeros(table.shape, dtype=torch.int64, device=grad.device)
    out = torch.empty_like(table)
    # A row of the table gets two contributions from a value at most (on a circle with one bin, say).
    headroom = max(1, (2 * grad.shape[0]).bit_length())
    block = max(16, 2048 // shape.block_dim)
    grid = (-(-shape.n_values // block), -(-shape.dim // shape.block_dim))
    sizes = {**shape.constants, "BLOCK": block, "BLOCK_DIM": shape.block_dim}
    device = _device()
    device.largest_kernel[grid](grad, values, largest, shape.n_values, *given, **sizes)
    device.many_levels_kernel[grid](grad, values, largest, sums, shape.n_values, *given, **sizes, HEADROOM=headroom)
    device.from_units_kernel[(-(-out.numel() // 1024),)](
        sums, largest, out, out.numel(), HEADROOM=headroom, BLOCK=1024
    )
    return out


def _keep_inputs(ctx: Any, inputs: tuple[Any, ...], output: Tensor) -> None:
    tensors = [given for given in inputs if isinstance(given, Tensor)]
    ctx.absent = [not isinstance(given, Tensor) for given in inputs[:-2]]
    ctx.soft = inputs[-2]
    ctx.save_for_backward(*tensors)


def _table_gradient(ctx: Any, grad: Tensor) -> tuple[Tensor | None, ...]:
    tensors = iter(ctx.saved_tensors)
    given = [None if absent else next(tensors) for absent in ctx.absent]
    found = torch.ops.softbin.lookup_backward(grad, *given, ctx.soft) if ctx.needs_input_grad[1] else None
    return (None, found, *[None] * len(given[2:]), None, None)


lookup.register_autograd(_table_gradient, setup_context=_keep_inputs)


def _shape(
    values: Tensor, dim: int, cuts: Tensor, start: Tensor, special: Tensor, flags: tuple[Tensor | None, ...],
    source: Tensor | None, soft: bool,
) -> _Shape:  # fmt: skip
    names = ("FLAT", "LINEAR", "BOUNDED", "FINITE", "STRICT", "BLANK", "VOID")
    constants = {
        "N_FIELDS": len(start), "N_COLUMNS": values.shape[1], "VIEWS": source is not None, "DIM": dim,
        "CUTS": cuts.shape[1], "STEPS": cuts.shape[1].bit_length(), "CODES": special.shape[1], "SOFT": soft,
        **{name: flag is not None for name, flag in zip(names, flags, strict=True)},
    }  # fmt: skip
    return _Shape(len(values) * len(start), dim, min(LARGEST_BLOCK_DIM, _power_of_two(dim)), constants)


def _or(tensor: Tensor | None, other: Tensor) -> Tensor:
    """A pointer that is not followed where there is no tensor."""
    return other if tensor is None else tensor


def _or_start(flags: tuple[Tensor | None, ...], start: Tensor) -> list[Tensor]:
    return [start if flag is None else flag.view(torch.uint8) for flag in flags]


def _power_of_two(number: int) -> int:
    return 1 << max(0, number - 1).bit_length()


def _device() -> ModuleType:
    # Why not at the top: without Triton there is nothing to import, and everything else works.
    return importlib.import_module("softbin.deep.kernels.device")


@cache
def _interpreted() -> bool:
    """Whether Triton was asked to interpret kernels on the CPU, as tests do (TRITON_INTERPRET=1)."""
    import os

    return os.environ.get("TRITON_INTERPRET") == "1"
