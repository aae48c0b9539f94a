"""One step from raw values and a table to embeddings, in several implementations, and which of them runs.

The definition: every value takes the rows that ``Locate`` names, and what comes out is their weighted sum,

    out[i, j] = sum over e of weights[i, j, e] * table[rows[i, j, e]]       (batch, fields, dim)

two rows and one fraction for soft bins, one row for hard ones; never a vector as wide as the number of bins. The others
are copies of it. A new one is one line in IMPLEMENTATIONS and one in ``implementation``.
"""

import os
from collections.abc import Callable

import torch
from torch import Tensor
from torch.nn import functional

from softbin.deep.kernels.lookup import by_triton, can_run
from softbin.deep.locate import Edges, Locate
from softbin.errors import OptionError

Lookup = Callable[[Locate, Tensor, Tensor, Edges | None], Tensor]


def embed(locate: Locate, values: Tensor, table: Tensor, edges: Edges | None = None) -> Tensor:
    """(batch, fields, dim) of raw values (batch, columns) and a table (levels, dim). ``edges``: trained ones."""
    return IMPLEMENTATIONS[implementation(values, table, edges)](locate, values, table, edges)


def implementation(values: Tensor, table: Tensor, edges: Edges | None = None) -> str:
    """The name of what runs for these: "bag" on the CPU, "triton" on a CUDA GPU where its kernels do what is
    asked (``kernels.lookup.can_run``), "definition" elsewhere and inside compiled graphs on the CPU.

    SOFTBIN_DEEP=definition (or another name) runs that everywhere ("triton": wherever it can).
    """
    asked = os.environ.get("SOFTBIN_DEEP")
    if asked:
        if asked not in IMPLEMENTATIONS:
            raise OptionError(f"SOFTBIN_DEEP: {asked!r} is not one of {', '.join(map(repr, IMPLEMENTATIONS))}")
        return asked if asked != "triton" or can_run(values, table, edges) else "definition"
    if values.is_cuda and can_run(values, table, edges):
        return "triton"
    whole = table.dtype in (torch.float32, torch.float64)
    if torch.compiler.is_compiling() or values.device.type != "cpu" or not whole:
        return "definition"
    return "bag"


def by_definition(locate: Locate, values: Tensor, table: Tensor, edges: Edges | None) -> Tensor:
    """Rows by gathering, times weights, added up."""
    rows, weights = locate(values, table.dtype, edges)
    out = weights[..., :1] * functional.embedding(rows[..., 0], table)
    return out + weights[..., 1:] * functional.embedding(rows[..., 1], table) if locate.soft else out


def by_bag(locate: Locate, values: Tensor, table: Tensor, edges: Edges | None) -> Tensor:
    """The weighted sum without the rows in between: one pass over memory instead of five."""
    rows, weights = locate(values, table.dtype, edges)
    width = rows.shape[-1]
    bags = functional.embedding_bag(
        rows.reshape(-1, width), table, per_sample_weights=weights.reshape(-1, width), mode="sum"
    )
    return bags.reshape(*rows.shape[:2], table.shape[1])


IMPLEMENTATIONS: dict[str, Lookup] = {"definition": by_definition, "bag": by_bag, "triton": by_triton}
