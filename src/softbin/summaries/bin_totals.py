"""Weight and mean of the values in each bin, for every column at once: one pass.

A bin sums the weighted *offset* of its values from its left edge, in units of about the column's range, so the mean is
right at any scale; values beyond the ends count as on them. Blocks are added in their order: the same bits for any
number of threads.
"""

from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from softbin import kernels
from softbin.engines.threads import map_items
from softbin.values.tables import Block, Column, Source, Weight

Totals = NDArray[np.float64]  # bins x (weight in units, weight times scaled offset)


def bin_totals(
    source: Source, edges: Sequence[tuple[float, ...]], n_threads: int
) -> list[tuple[tuple[float, ...], tuple[float, ...]]]:
    """Per column: the weight (in units) and the mean of each bin. An empty bin's mean is its middle."""
    arrays = [np.asarray(column, np.float64) for column in edges]
    n_bins = [max(1, len(column) - 1) for column in edges]
    plan = compiled_edges(edges)

    def add_up(block: Block) -> Totals:
        if kernels.compiled is not None:
            totals = np.zeros((sum(n_bins), 2))
            kernels.compiled.bin_totals(plan, block.columns, block.weight, totals)
            return totals
        parts = [column_totals(*pair, block.weight) for pair in zip(block.columns, arrays, strict=True)]
        return np.concatenate(parts)

    total: Totals = sum(map_items(add_up, source.blocks(), n_threads), np.zeros((sum(n_bins), 2)))
    parts = np.split(total, np.cumsum(n_bins)[:-1])
    return [_finish(*pair) for pair in zip(arrays, parts, strict=True)]


def column_totals(column: Column, edges: NDArray[np.float64], weight: Weight | None) -> Totals:
    """A block's share of one column's totals; infinite and missing values are left out."""
    finite = np.isfinite(column)
    values = column[finite].astype(np.float64)
    if len(edges):
        # Why: a value beyond edges given by hand counts as on the end; its offset could overflow a sum.
        values = np.clip(values, edges[0], edges[-1])
    units = np.ones(len(values)) if weight is None else weight[finite].astype(np.float64)
    bins = np.searchsorted(edges[1:-1], values, side="right")
    offset = (values - edges[bins]) * column_scale(edges) if len(edges) > 1 else np.zeros(len(values))
    n_bins = max(1, len(edges) - 1)
    return np.stack([np.bincount(bins, part, minlength=n_bins) for part in (units, units * offset)], axis=1)


def column_scale(edges: NDArray[np.float64]) -> float:
    """About 1 / range, a power of two: offsets times it are small, whatever the column's scale."""
    exponent = int(np.frexp(edges[-1] - edges[0])[1]) if len(edges) > 1 else 0
    return float(np.ldexp(1.0, -max(exponent, -1000)))


def _finish(edges: NDArray[np.float64], totals: Totals) -> tuple[tuple[float, ...], tuple[float, ...]]:
    if len(edges) == 0:
        return (), ()
    weight, offset = totals.T
    if len(edges) == 1:
        return (float(weight[0]),), (float(edges[0]),)
    mean = np.divide(offset, weight, out=np.diff(edges) / 2 * column_scale(edges), where=weight > 0)
    return tuple(weight.tolist()), tuple((edges[:-1] + mean / column_scale(edges)).tolist())


def compiled_edges(edges: Sequence[tuple[float, ...]]) -> Any:
    """Bins between these edges, missing values behind them, as the compiled kernels want them."""
    if kernels.compiled is None:
        return None
    n = len(edges)
    start = np.cumsum([0, *map(len, edges)])
    flat = [edge for column in edges for edge in column]
    n_regular = [max(1, len(column) - 1) if column else 0 for column in edges]
    return kernels.compiled.Plan(flat, start.tolist(), [], [0] * (n + 1), n_regular, [-1] * n, [0] * n, [0] * n, False)
