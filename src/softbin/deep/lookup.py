"""One step from raw values and a table to embeddings, in several implementations, and which of them runs.

The definition: every value takes the rows that ``Locate`` names, and what comes out is their weighted sum,

    out[i, j] = sum over e of weights[i, j, e] * table[rows[i, j, e]]       (batch, fields, dim)

two rows and one fraction for soft bins, one row for hard ones; never a vector as wide as the number of bins. On the CPU
compiled kernels do both steps at once. A new implementation (deep/kernels) is one line in IMPLEMENTATIONS and one in
``implementation``.
"""

import os
import weakref
from collections.abc import Callable
from dataclasses import replace
from itertools import pairwise
from typing import Any

import numpy as np
import torch
from torch import Tensor
from torch.autograd.function import once_differentiable
from torch.nn import functional

from softbin import kernels
from softbin.deep.locate import Edges, Locate
from softbin.encodings.locate import wrap
from softbin.encodings.plan import Plan
from softbin.engines.threads import map_items
from softbin.errors import OptionError

Lookup = Callable[[Locate, Tensor, Tensor, Edges | None], Tensor]

FEWEST_NUMBERS = 2**18  # that a thread is worth starting for


def embed(locate: Locate, values: Tensor, table: Tensor, edges: Edges | None = None) -> Tensor:
    """(batch, fields, dim) of raw values (batch, columns) and a table (levels, dim). ``edges``: trained ones."""
    return IMPLEMENTATIONS[implementation(locate, values, table, edges)](locate, values, table, edges)


def implementation(locate: Locate, values: Tensor, table: Tensor, edges: Edges | None = None) -> str:
    """The name of what runs for these.

    "compiled" on the CPU, where it can: not for float64 tables, gradients of the values, trained edges, edges that came
    with a state_dict and are not those of the grid, nor inside graphs of torch.compile and torch.export. There, and on
    other devices, "definition"; SOFTBIN_DEEP=definition runs that everywhere.
    """
    asked = os.environ.get("SOFTBIN_DEEP", "compiled")
    if asked not in IMPLEMENTATIONS:
        raise OptionError(f"SOFTBIN_DEEP: {asked!r} is not one of {', '.join(map(repr, IMPLEMENTATIONS))}")
    if torch.compiler.is_compiling() or asked == "definition" or kernels.compiled is None:
        return "definition"
    plain = edges is None and locate.follows_plan and table.dtype == torch.float32
    moving = torch.is_grad_enabled() and values.requires_grad
    return "compiled" if plain and not moving and values.device.type == table.device.type == "cpu" else "definition"


def by_definition(locate: Locate, values: Tensor, table: Tensor, edges: Edges | None) -> Tensor:
    """Rows by gathering, times weights, added up."""
    rows, weights = locate(values, table.dtype, edges)
    out = weights[..., :1] * functional.embedding(rows[..., 0], table)
    return out + weights[..., 1:] * functional.embedding(rows[..., 1], table) if locate.soft else out


def by_kernel(locate: Locate, values: Tensor, table: Tensor, edges: Edges | None) -> Tensor:
    """Bin search and mix in one compiled pass (cpp/embed.cpp); its gradient in another."""
    locate.check_shape(values)
    found: Tensor = CompiledLookup.apply(table, values, locate.plan)  # type: ignore[no-untyped-call]
    return found


IMPLEMENTATIONS: dict[str, Lookup] = {"definition": by_definition, "compiled": by_kernel}


class CompiledLookup(torch.autograd.Function):
    """The compiled kernels as one step of autograd. Rows are split among threads forwards, columns backwards."""

    @staticmethod
    def forward(ctx: Any, table: Tensor, values: Tensor, plan: Plan) -> Tensor:
        # Why weakly: a graph that lives until the process ends would hold the compiled plan beyond the kernels' end.
        ctx.plan, ctx.spare, ctx.shape = weakref.ref(plan), replace(plan), table.shape
        ctx.columns = _columns(values, plan)
        n_rows, rows = len(values), table.detach().contiguous().numpy()
        out = np.empty((n_rows, len(plan.columns), table.shape[1]), np.float32)
        cuts = _cuts(n_rows, out.size)

        def run(part: tuple[int, int]) -> None:
            block = slice(*part)
            kernels.compiled.embed(plan.compiled, tuple(column[block] for column in ctx.columns), rows, out[block])

        _each(run, cuts)
        return torch.from_numpy(out)

    @staticmethod
    @once_differentiable
    def backward(ctx: Any, gradient: Tensor) -> tuple[Tensor, None, None]:
        given = gradient.contiguous().numpy()
        found = np.zeros(ctx.shape, np.float32)
        cuts = _cuts(len(ctx.columns), given.size)
        compiled = (ctx.plan() or ctx.spare).compiled

        def run(part: tuple[int, int]) -> None:
            kernels.compiled.embed_gradient(compiled, ctx.columns, *part, given, found)

        _each(run, cuts)
        return torch.from_numpy(found), None, None


def _columns(values: Tensor, plan: Plan) -> tuple[np.ndarray[Any, Any], ...]:
    """The columns as the plan reads them, circles wrapped."""
    values = values if values.dtype in (torch.float32, torch.float64) else values.float()
    columns = values.detach().numpy().T
    return tuple(wrap(columns[at], b.period, b.special) for at, b in zip(plan.source, plan.grid, strict=True))


def _cuts(n_items: int, n_numbers: int) -> list[tuple[int, int]]:
    """Runs of items, one per thread that is worth it."""
    n = max(1, min(torch.get_num_threads(), n_items, n_numbers // FEWEST_NUMBERS))
    ends = [n_items * i // n for i in range(n + 1)]
    return list(pairwise(ends))


def _each(run: Callable[[tuple[int, int]], None], cuts: list[tuple[int, int]]) -> None:
    if len(cuts) == 1:
        run(cuts[0])
    else:
        map_items(run, cuts, len(cuts))
