"""Weight and mean of the values in each bin, for every column at once: one pass.

A bin sums the weighted *fraction* of its values (0 at the left edge, 1 at the right), so the mean is exact
relative to the bin's width, at any scale. Blocks are added in their order: the same bits for any threads.
"""

from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from softbin import kernels
from softbin.engines.threads import map_items
from softbin.values.tables import Block, Column, Source, Weight

Totals = NDArray[np.float64]  # 2 x bins: weight in units, weight times fraction


def bin_totals(
    source: Source, edges: Sequence[tuple[float, ...]], n_threads: int
) -> list[tuple[tuple[float, ...], tuple[float, ...]]]:
    """Per column with edges: the weight (in units) and the mean of each bin. An empty bin's mean is its middle."""
    arrays = [np.asarray(column, np.float64) for column in edges]
    plan = _compiled_plan(edges)

    def add_up(block: Block) -> list[Totals]:
        return [
            block_totals(block.columns[j], block.weight, arrays[j], plan, j) for j in range(len(arrays))
        ]

    sums: list[Totals] | None = None
    for totals in map_items(add_up, source.blocks(), n_threads):
        sums = totals if sums is None else [a + b for a, b in zip(sums, totals, strict=True)]
    assert sums is not None
    return [_finish(*pair) for pair in zip(arrays, sums, strict=True)]


def block_totals(column: Column, weight: Weight | None, edges: Totals, plan: Any, position: int) -> Totals:
    """A block's share of one column's totals; infinite and missing values are left out."""
    totals = np.zeros((2, max(1, len(edges) - 1)))
    if len(edges) == 0:
        return totals
    if kernels.compiled is not None:
        kernels.compiled.bin_totals(plan, position, column, weight, totals[0], totals[1])
        return totals
    finite = np.isfinite(column)
    values = column[finite].astype(np.float64)
    units = np.ones(len(values)) if weight is None else weight[finite].astype(np.float64)
    bins = np.searchsorted(edges[1:-1], values, side="right")
    totals[0] = np.bincount(bins, units, minlength=totals.shape[1])
    if len(edges) > 1:
        fraction = (values - edges[bins]) / np.diff(edges)[bins]
        totals[1] = np.bincount(bins, units * fraction, minlength=totals.shape[1])
    return totals


def _finish(edges: Totals, totals: Totals) -> tuple[tuple[float, ...], tuple[float, ...]]:
    if len(edges) == 0:
        return (), ()
    weight, position = totals
    fraction = np.divide(position, weight, out=np.full(len(weight), 0.5), where=weight > 0)
    mean = edges[:1] if len(edges) == 1 else edges[:-1] + np.diff(edges) * fraction
    return tuple(weight.tolist()), tuple(mean.tolist())


def _compiled_plan(edges: Sequence[tuple[float, ...]]) -> Any:
    if kernels.compiled is None:
        return None
    n = len(edges)
    start = np.cumsum([0, *map(len, edges)])
    flat = [edge for column in edges for edge in column]
    return kernels.compiled.Plan(flat, start.tolist(), [], [0] * (n + 1), [1] * n, [-1] * n, [0] * n, [0] * n)
