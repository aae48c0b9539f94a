"""Locate: the NumPy definition's weights on random grids, in float32 and float64, to the last bit."""

import numpy as np
import pytest
import torch
from tests.columns import each_dtype
from tests.parity.grids import random_table
from tests.same import assert_same_bits

from softbin import Boundaries, Grid
from softbin.deep.locate import Locate, round_up
from softbin.encodings.hat import hat
from softbin.encodings.locate import locate
from softbin.encodings.one_hot import one_hot
from softbin.encodings.plan import Plan
from softbin.errors import DataError, OptionError
from softbin.values.tables import read_table

SEEDS = range(24)


def by_definition(table, plan, dtype):
    """Rows x levels by hat and one_hot; NaN throughout a field whose value is a fault."""
    parts = []
    for values, levels in zip(table.columns, plan.columns, strict=True):
        part = (hat if plan.soft else one_hot)(values, levels, dtype)
        part[faulty(values, levels, dtype)] = np.nan
        parts.append(part)
    return np.concatenate(parts, axis=1)


def faulty(values, levels, dtype):
    """Which values are faults: locate only counts them, so odd ones are asked about one by one."""
    wrong = np.zeros(len(values), bool)
    b = levels.boundaries
    odd = ~np.isfinite(values) | (b.outside == "error")
    for i in np.flatnonzero(odd):
        fault = locate(values[i : i + 1], levels, dtype)[2]
        wrong[i] = fault.missing + fault.outside > 0
    return wrong


def by_locate(table, plan, dtype):
    """The same through Locate: rows and weights as a dense matrix."""
    values = torch.as_tensor(np.stack(table.columns, axis=1))
    rows, weights = Locate(plan)(values, torch.from_numpy(np.zeros(0, dtype)).dtype)
    dense = torch.zeros(table.n_rows, plan.n_levels, dtype=weights.dtype)
    wrong = weights.isnan().any(-1).numpy()
    dense.scatter_add_(1, rows.flatten(1), torch.where(weights.isnan(), 0, weights).flatten(1))
    out = dense.numpy()
    for j, (start, stop) in enumerate(zip(plan.level_start[:-1], plan.level_start[1:], strict=True)):
        out[wrong[:, j], start:stop] = np.nan
    return out


def table_and_plan(seed, soft, dtype):
    table, grid = random_table(seed, soft, dtype)
    return table, Plan(grid, soft)


@each_dtype
@pytest.mark.parametrize("soft", [True, False])
@pytest.mark.parametrize("seed", SEEDS)
def test_weights_are_the_definitions(seed, soft, dtype):
    table, plan = table_and_plan(seed, soft, dtype)
    if plan.n_levels == 0:
        pytest.skip("no column has a level")
    assert_same_bits(by_locate(table, plan, dtype), by_definition(table, plan, dtype))


def test_a_moved_edge_is_noticed():
    table = read_table(np.linspace(-0.5, 2.5, 200, dtype=np.float32)[:, None])
    plan, moved = (Plan(Grid((Boundaries((0, edge, 2)),)), True) for edge in (1, 1.001))
    assert_same_bits(by_locate(table, plan, np.float32), by_definition(table, plan, np.float32))
    with pytest.raises(AssertionError):
        assert_same_bits(by_locate(table, moved, np.float32), by_definition(table, plan, np.float32))


def test_edges_are_rounded_up_and_only_as_far_as_needed():
    edges = np.array([0.1, 0.5, 1 / 3, -0.1, 1e300, 1e-300])
    up = round_up(edges)
    assert np.all(up.astype(float) >= edges)
    assert np.all(np.nextafter(up, np.float32(-np.inf)).astype(float) < edges)


def test_half_precision_moves_no_value_to_another_bin():
    grid = Grid((Boundaries(tuple(np.linspace(0, 1, 1001))),))
    values = torch.rand(2000, 1)
    rows, _ = Locate(Plan(grid, False))(values, torch.float32)
    for dtype in (torch.half, torch.bfloat16, torch.double):
        assert torch.equal(Locate(Plan(grid, False)).to(dtype)(values, torch.float32)[0], rows)


def test_values_of_another_shape_are_refused():
    locate = Locate(Plan(Grid((Boundaries((0, 1)),)), True))
    for values in (torch.zeros(3), torch.zeros(3, 2), torch.zeros(3, 1, 1)):
        with pytest.raises(DataError, match="values: shape"):
            locate(values, torch.float32)


def test_a_grid_without_a_level_is_refused():
    with pytest.raises(OptionError, match="no column has a level"):
        Locate(Plan(Grid((Boundaries((), missing="zero"),)), True))
