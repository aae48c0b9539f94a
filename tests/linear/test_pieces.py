"""Codes, their two levels, and that the way back is the transpose of the way there."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from tests.columns import each_dtype
from tests.parity.grids import random_table

from softbin import Boundaries, Grid
from softbin.encodings.hat import hat
from softbin.encodings.one_hot import one_hot
from softbin.encodings.plan import Plan
from softbin.linear.pieces import Pieces, codes_of_levels, locate_codes, n_codes

SEEDS = st.integers(0, 2**32 - 1)
each_kind = pytest.mark.parametrize("soft", [False, True], ids=["hard", "soft"])


def assert_adjoint(pieces, seed):
    """<of(a), b> == <a, back(b)> for any a and b."""
    rng = np.random.default_rng(seed)
    coef = rng.normal(size=(2, pieces.plan.n_levels))
    sums = rng.normal(size=(2, pieces.n_codes, 2))
    value, slope = pieces.of(coef)
    assert value.shape == slope.shape == (2, pieces.n_codes)
    there = np.sum(value * sums[:, :, 0]) + np.sum(slope * sums[:, :, 1])
    np.testing.assert_allclose(there, np.sum(coef * pieces.back(sums)), rtol=1e-10, atol=1e-9)


@each_kind
@given(seed=SEEDS)
def test_back_is_the_transpose_of_of(soft, seed):
    assert_adjoint(Pieces(Plan(random_table(seed, soft, np.float64)[1], soft)), seed)


def test_a_broken_transpose_is_noticed():
    class Broken(Pieces):
        def back(self, sums):
            return super().back(sums[:, :, ::-1])

    grid = Grid((Boundaries((0, 1, 2, 3), "level"),))
    assert_adjoint(Pieces(Plan(grid, True)), 0)
    with pytest.raises(AssertionError):
        assert_adjoint(Broken(Plan(grid, True)), 0)


@each_kind
@each_dtype
@given(seed=SEEDS)
def test_pieces_give_what_the_encoding_times_the_coefficients_gives(soft, dtype, seed):
    table, grid = random_table(seed, soft, dtype)
    plan = Plan(grid, soft)
    pieces = Pieces(plan)
    coef = np.random.default_rng(seed).normal(size=(1, plan.n_levels))
    value, slope = pieces.of(coef)
    for j, (values, levels) in enumerate(zip(table.columns, plan.columns, strict=True)):
        code, fraction = locate_codes(values, levels)
        keep = np.isfinite(fraction)  # an infinity on an end slope is a fault, reported elsewhere
        at = pieces.code_start[j] + code
        encoded = (hat if soft else one_hot)(values, levels, np.float64)
        expected = encoded[keep] @ coef[0, plan.level_start[j] : plan.level_start[j + 1]]
        got = (value[0, at] + slope[0, at] * fraction)[keep]
        np.testing.assert_allclose(
            got, expected, rtol=1e-9, atol=1e-9 * (1 + np.max(np.abs(fraction[keep]), initial=0))
        )


@each_kind
@given(seed=SEEDS)
def test_every_code_lies_in_its_own_column(soft, seed):
    table, grid = random_table(seed, soft, np.float64)
    pieces = Pieces(Plan(grid, soft))
    assert pieces.code_start[0] == 0
    assert np.diff(pieces.code_start).tolist() == [n_codes(levels) for levels in pieces.plan.columns]
    for values, levels in zip(table.columns, pieces.plan.columns, strict=True):
        code, _ = locate_codes(values, levels)
        assert code.min() >= 0
        assert code.max() < n_codes(levels)


def test_codes_behind_the_bins_are_special_codes_and_then_missing():
    boundaries = Boundaries((0, 1, 2), "level", special=(-999.0, 7.0))
    for soft in (False, True):
        levels = Plan(Grid((boundaries,)), soft).columns[0]
        code, _ = locate_codes(np.array([0.5, 1.5, -999.0, 7.0, np.nan]), levels)
        assert code.tolist() == [0, 1, 2, 3, 4]


@pytest.mark.parametrize("soft", [False, True])
def test_what_has_no_level_gives_nothing_and_takes_nothing(soft):
    pieces = Pieces(Plan(Grid((Boundaries((0, 1, 2), "zero"),)), soft))
    value, slope = pieces.of(np.ones((1, pieces.plan.n_levels)))
    assert (value[0, -1], slope[0, -1]) == (0, 0)
    sums = np.zeros((1, pieces.n_codes, 2))
    sums[0, -1] = 5
    assert not pieces.back(sums).any()


def test_the_last_knot_of_a_circle_is_the_first():
    pieces = Pieces(Plan(Grid((Boundaries((0, 8, 16, 24), period=(0, 24)),)), True))
    left, right = pieces.ends
    assert left.tolist()[:3] == [0, 1, 2]
    assert right.tolist()[:3] == [1, 2, 0]


@pytest.mark.parametrize("soft", [False, True])
def test_codes_of_small_unsigned_levels_do_not_overflow(soft):
    levels = Plan(Grid((Boundaries(tuple(range(256)), "level", special=(-1.0,)),)), soft).columns[0]
    highest = np.array([levels.missing, levels.n_regular - 1 - soft], np.min_scalar_type(levels.missing))
    assert codes_of_levels(highest, levels).tolist() == [n_codes(levels) - 1, levels.boundaries.n_bins - 1]
