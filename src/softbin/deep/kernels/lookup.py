"""The lookup as one Triton kernel each way: raw values and a table in, embeddings out, the table's gradient back.

Forward reads a value, finds its bin, and writes the mix of two rows; the definition stores rows, weights and two
gathered copies of the output on the way. Under autocast embeddings come out in autocast's precision, rounded once.

Both directions are operators of torch (``torch.ops.softbin``), so ``torch.compile`` and CUDA graphs take them as they
are. Gradients of the table are the same bits in every run. What the kernels do not do, the definition does: float64
tables, gradients of the values, trained knots, other devices (see ``can_run``).
"""

import importlib.util
import os
from types import ModuleType
from typing import Any, NamedTuple

import torch
from torch import Tensor

from softbin.deep.locate import Edges, Locate

FEW_LEVELS = 128  # of one field: up to here its gradient is a product of matrices
ROWS_EACH = 128  # of a program of that product, at least
MOST_PARTS = 256
BITE = (32, 1)  # rows of it at once, and warps, of fields of 32 levels at most
FORWARD = (1024, 1)  # numbers and warps of a program where tables are small
LARGEST_BLOCK_DIM = 64
ONE_BITS = 0x3F800000  # of 1.0 in float32
TABLES = (torch.float32, torch.bfloat16, torch.float16)
# Why constants: what torch.compile traces should not go looking for packages.
INSTALLED = importlib.util.find_spec("triton") is not None
INTERPRETED = os.environ.get("TRITON_INTERPRET") == "1"  # on the CPU, as tests do


def can_run(values: Tensor, table: Tensor, edges: Edges | None) -> bool:
    """Whether the kernels do what is asked: no trained knots, no gradient of the values, no float64 table."""
    moving = torch.is_grad_enabled() and values.requires_grad
    plain = edges is None and table.dtype in TABLES and not moving
    return plain and (values.is_cuda or INTERPRETED) and INSTALLED


def by_triton(locate: Locate, values: Tensor, table: Tensor, edges: Edges | None) -> Tensor:
    """Embeddings (batch, fields, dim) by the kernel."""
    assert edges is None
    dtype = table.dtype
    if torch.is_autocast_enabled(values.device.type):
        dtype = torch.get_autocast_dtype(values.device.type)
    values, given = arguments(locate, values)
    out: Tensor = torch.ops.softbin.lookup(values, table.contiguous(), *given, dtype)
    return out


def arguments(locate: Locate, values: Tensor) -> tuple[Tensor, tuple[Any, ...]]:
    """Values as the operators take them, and everything they need of ``locate``."""
    # Why here: what a circle does to a value is Locate's own business; the rest of it the kernel does.
    views = locate.has_views and not locate.circles
    if not views or values.ndim != 2 or values.shape[1] != locate.n_columns:
        values = locate.fields(values)
    if values.dtype not in (torch.float32, torch.float64):
        values = values.float()
    own = locate.edges(values.dtype)
    flags = [locate.flat, locate.linear, locate.bounded, locate.finite, locate.strict, locate.blank, locate.void]
    given = (
        own.cuts, own.left, own.width, locate.start, locate.last, locate.lower_row, locate.upper_row,
        locate.missing_row, locate.special_row, locate.special_bits.view(torch.float64),
        locate.end_bits.view(torch.float64), *flags, locate.source if views else None, locate.soft,
    )  # fmt: skip
    return values.contiguous(), given


class _Shape(NamedTuple):
    """What a kernel is compiled for, from the tensors that the operators get."""

    n_rows: int
    n_fields: int
    dim: int
    block_dim: int
    constants: dict[str, Any]
    places: Any  # integers wide enough to count the numbers of the largest tensor

    def grid(self, block: int) -> tuple[int, int]:
        return -(-self.n_rows // block) * self.n_fields, -(-self.dim // self.block_dim)


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
    shape = _shape(values, table.shape[1], cuts, start, special, flags, source, soft, len(table))
    if out.numel():
        # Measured: one warp each where tables are small, wide programs where rows come from afar.
        numbers, warps = FORWARD if _n_levels(cuts, special) <= FEW_LEVELS else (8192, 8)
        block = max(16, numbers // shape.block_dim)
        _device().forward_kernel[shape.grid(block)](
            values, table, out, shape.n_rows, _or(source, start), *own, *_or_start(flags, start),
            **shape.constants, BLOCK=block, BLOCK_DIM=shape.block_dim, PLACES=shape.places, num_warps=warps,
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
    return gradient_into(torch.empty_like(table), grad, values, (*own, *flags, source, soft))


@lookup_backward.register_fake
def _(grad: Tensor, values: Tensor, table: Tensor, *others: Any) -> Tensor:
    return torch.empty_like(table)


def gradient_into(out: Tensor, grad: Tensor, values: Tensor, given: tuple[Any, ...]) -> Tensor:
    """The gradient of the table, written to ``out`` (levels, dim)."""
    own, flags, source, soft = given[:11], given[11:18], given[18], given[19]
    cuts, start, special = own[0], own[3], own[9]
    grad = grad.contiguous()
    if grad.numel() == 0:
        return out.zero_()
    shape = _shape(values, out.shape[1], cuts, start, special, flags, source, soft, len(out))
    tensors = (_or(source, start), *own, *_or_start(flags, start))
    n_levels = _n_levels(cuts, special)
    (_few_levels if n_levels <= FEW_LEVELS else _many_levels)(out, grad, values, n_levels, tensors, shape)
    return out


def _few_levels(
    out: Tensor, grad: Tensor, values: Tensor, n_levels: int, given: tuple[Tensor, ...], shape: _Shape
) -> None:
    n_parts = min(MOST_PARTS, -(-shape.n_rows // ROWS_EACH))
    parts = torch.empty((n_parts, *out.shape), dtype=torch.float32, device=grad.device)
    block_dim, levels = max(16, shape.block_dim), max(16, power_of_two(n_levels))
    bite, warps = (64, 4) if levels > 32 else BITE
    _device().few_levels_kernel[(shape.n_fields * n_parts, -(-shape.dim // block_dim))](
        grad, values, parts, shape.n_rows, len(out), -(-shape.n_rows // n_parts), *given, **shape.constants,
        BLOCK=bite, BLOCK_DIM=block_dim, LEVELS=levels, PLACES=shape.places, num_warps=warps,
    )  # fmt: skip
    sum_parts(parts, out)


def sum_parts(parts: Tensor, out: Tensor) -> None:
    """The sum of the parts (parts, ...) into ``out``, always in the same order."""
    block, n_parts = 16, len(parts)
    _device().sum_parts_kernel[(-(-out.numel() // block),)](
        parts, out, n_parts, out.numel(), BLOCK=block, PARTS=min(128, power_of_two(n_parts))
    )


def _many_levels(
    out: Tensor, grad: Tensor, values: Tensor, n_levels: int, given: tuple[Tensor, ...], shape: _Shape
) -> None:
    # The bits of the largest gradient, of the largest weight (one, unless found to be more), whether one is NaN; one.
    largest = torch.zeros((4,), dtype=torch.int32, device=grad.device)
    largest[1:2].fill_(ONE_BITS)
    largest[3:4].fill_(1)
    sums = torch.zeros(out.shape, dtype=torch.int64, device=grad.device)
    # A row of the table gets two contributions from a value at most (on a circle with one bin, say).
    headroom = max(1, (2 * shape.n_rows).bit_length())
    block = max(16, 2048 // shape.block_dim)
    device = _device()
    device.largest_kernel[(-(-grad.numel() // 4096),)](grad, largest, grad.numel(), BLOCK=4096)
    if shape.constants["LINEAR"]:
        device.largest_weight_kernel[(-(-shape.n_rows // 256) * shape.n_fields,)](
            values, largest, shape.n_rows, *given, **shape.constants, BLOCK=256
        )
    device.many_levels_kernel[shape.grid(block)](
        grad, values, largest, sums, shape.n_rows, *given, **shape.constants, BLOCK=block, BLOCK_DIM=shape.block_dim,
        PLACES=shape.places, HEADROOM=headroom,
    )  # fmt: skip
    device.from_units_kernel[(-(-out.numel() // 1024),)](sums, largest, out, out.numel(), HEADROOM=headroom, BLOCK=1024)


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
    source: Tensor | None, soft: bool, n_levels: int,
) -> _Shape:  # fmt: skip
    names = ("FLAT", "LINEAR", "BOUNDED", "FINITE", "STRICT", "BLANK", "VOID")
    constants = {
        "N_FIELDS": len(start), "N_COLUMNS": values.shape[1], "VIEWS": source is not None, "DIM": dim,
        "CUTS": cuts.shape[1], "STEPS": cuts.shape[1].bit_length(), "CODES": special.shape[1], "SOFT": soft,
        **{name: flag is not None for name, flag in zip(names, flags, strict=True)},
    }  # fmt: skip
    largest = max(len(values) * max(len(start) * dim, values.shape[1]), n_levels * dim)
    places = _device().tl.int32 if largest < 2**31 - 2**16 else _device().tl.int64
    return _Shape(len(values), len(start), dim, min(LARGEST_BLOCK_DIM, power_of_two(dim)), constants, places)


def launch(values: Tensor, given: tuple[Any, ...], dim: int) -> tuple[tuple[Tensor, ...], dict[str, Any]]:
    """Pointers and constants of a kernel that calls ``place``, from what ``arguments`` gave."""
    own, flags, source, soft = given[:11], given[11:18], given[18], given[19]
    start = own[3]
    shape = _shape(values, dim, own[0], start, own[9], flags, source, soft, 1)
    return (_or(source, start), *own, *_or_start(flags, start)), shape.constants


def _n_levels(cuts: Tensor, special: Tensor) -> int:
    """The most levels that a field can have: knots, special codes, missing."""
    return cuts.shape[1] + 2 + special.shape[1] + 1


def _or(tensor: Tensor | None, other: Tensor) -> Tensor:
    """A pointer that is not followed where there is no tensor."""
    return other if tensor is None else tensor


def _or_start(flags: tuple[Tensor | None, ...], start: Tensor) -> list[Tensor]:
    return [start if flag is None else flag.view(torch.uint8) for flag in flags]


def power_of_two(number: int) -> int:
    return 1 << max(0, number - 1).bit_length()


def _device() -> ModuleType:
    # Why not at the top: without Triton there is nothing to import, and everything else works.
    return importlib.import_module("softbin.deep.kernels.device")
