"""The kernels of linear models against their NumPy definitions: scores, pass, Gram matrix."""

from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from tests.columns import each_dtype, numpy_definitions, only_compiled
from tests.parity.grids import random_table

import softbin.linear.curvature
import softbin.linear.objective
from softbin import Boundaries, Grid, kernels
from softbin.encodings.locate import wrap
from softbin.encodings.plan import Plan
from softbin.linear.curvature import add_gram
from softbin.linear.families import FAMILIES
from softbin.linear.objective import block_pass, block_scores
from softbin.linear.pieces import Pieces, locate_codes
from softbin.values.tables import Table

SEEDS = st.integers(0, 2**32 - 1)
TOLERANCE = {np.dtype(np.float32): 1e-5, np.dtype(np.float64): 1e-12}
each_kind = pytest.mark.parametrize("soft", [False, True], ids=["hard", "soft"])
each_family = pytest.mark.parametrize("family", FAMILIES)


def model_table(seed, soft, dtype) -> tuple[Table, Plan]:
    """A random table, its circles wrapped, without values that the encoder would have refused."""
    table, grid = random_table(seed, soft, dtype)
    table = in_period(table, grid)
    plan = Plan(grid, soft)
    columns, kept = [], []
    for values, boundaries, levels in zip(table.columns, grid, plan.columns, strict=True):
        _, fraction = locate_codes(values, levels)
        # Why 3: an end slope a million bins long is nothing that two precisions can agree on.
        good = np.flatnonzero((np.abs(fraction) < 3) & ~np.isinf(values))
        if boundaries.period is not None and boundaries.edges[-1] - boundaries.edges[0] < 1e-6 * abs(
            boundaries.edges[0]
        ):
            good = good[:0]  # nor a circle narrower than two float32 numbers
        kept.append(boundaries if len(good) else Boundaries((0.0, 1.0)))
        columns.append(np.resize(values[good], table.n_rows) if len(good) else np.linspace(0, 1, table.n_rows))
    array = np.array(np.stack(columns, axis=1), dtype, order="FC"[seed % 2])
    return Table(tuple(array.T), None, table.n_rows, array.dtype), Plan(Grid(tuple(kept)), soft)


def in_period(table: Table, grid: Grid) -> Table:
    """What prepare_rows and _scores do before the kernels see a row."""
    columns = [wrap(values, b.period, b.special) for values, b in zip(table.columns, grid, strict=True)]
    return replace(table, columns=tuple(columns))


def random_model(seed, plan, n_outputs, dtype):
    """Kernel arrays: value and slope of every code, and the intercepts."""
    rng = np.random.default_rng(seed)
    value, slope = Pieces(plan).of(rng.normal(size=(n_outputs, plan.n_levels)) / len(plan.columns))
    return [np.ascontiguousarray(part, dtype) for part in (value, slope, rng.normal(size=n_outputs))]


def random_rows(seed, family, n_rows, n_outputs, dtype):
    """Target and weight (or None)."""
    rng = np.random.default_rng(seed)
    y = {
        "gaussian": rng.normal(size=n_rows),
        "bernoulli": rng.integers(0, 2, n_rows),
        "poisson": rng.poisson(1.0, n_rows),
        "gamma": rng.gamma(2.0, size=n_rows),
        "multinomial": rng.integers(0, n_outputs, n_rows),
    }[family]
    weight = rng.choice([0.25, 1.0, 3.0], n_rows).astype(dtype) if rng.random() < 0.5 else None
    return np.asarray(y, dtype), weight


def assert_close(got, expected, dtype, size):
    """Equal up to the dtype's rounding of sums of numbers whose magnitudes add to ``size``."""
    np.testing.assert_allclose(got, expected, rtol=0, atol=TOLERANCE[np.dtype(dtype)] * size)


def told(loss_and_sums, plan):
    """Loss, residuals per code, gradient per level: what a fit reads. Fractions of hard bins nobody reads."""
    loss, sums = loss_and_sums
    return np.concatenate([[loss], sums[:, :, 0].ravel(), Pieces(plan).back(sums[:, :-1]).ravel()])


def pass_of(seed, soft, dtype, family):
    """Loss and sums: by the kernel, by the definition, and how large the numbers are that were added."""
    table, plan = model_table(seed, soft, dtype)
    n_outputs = 3 if family == "multinomial" else 1
    arrays = random_model(seed, plan, n_outputs, dtype)
    y, weight = random_rows(seed, family, table.n_rows, n_outputs, dtype)
    block = next(table.blocks()), y, weight
    got = block_pass(block, Pieces(plan), FAMILIES[family], arrays)
    with numpy_definitions():
        expected = block_pass(block, Pieces(plan), FAMILIES[family], [part.astype(np.float64) for part in arrays])
        faults = np.zeros((len(plan.columns), 2), np.int64)
        score = block_scores(block[0], Pieces(plan), [part.astype(np.float64) for part in arrays], faults)
    units = np.ones(table.n_rows) if weight is None else weight
    terms = np.abs(FAMILIES[family].loss(score, y)) + np.abs(FAMILIES[family].residual(score, y)).sum(axis=1)
    slack = (1 + np.abs(score).max()) * np.sum((terms + 1) * units)
    return told(got, plan), told(expected, plan), slack


@only_compiled
@each_kind
@each_dtype
@each_family
@settings(max_examples=40)
@given(seed=SEEDS)
def test_pass(soft, dtype, family, seed):
    got, expected, size = pass_of(seed, soft, dtype, family)
    assert_close(got, expected, dtype, size)


@only_compiled
@each_family
def test_a_broken_family_is_noticed(family, monkeypatch):
    original = type(FAMILIES[family]).residual
    monkeypatch.setattr(type(FAMILIES[family]), "residual", lambda self, s, y: original(self, s, y) + 0.1)
    got, expected, size = pass_of(11, True, np.float32, family)
    with pytest.raises(AssertionError):
        assert_close(got, expected, np.float32, size)


@only_compiled
@each_kind
@each_dtype
@pytest.mark.parametrize("n_outputs", [1, 3])
@settings(max_examples=60)
@given(seed=SEEDS)
def test_scores(soft, dtype, n_outputs, seed):
    table, plan = model_table(seed, soft, dtype)
    arrays = random_model(seed, plan, n_outputs, dtype)
    assert_close(*scores_both_ways(table, plan, arrays), dtype, 20)


def scores_both_ways(table, plan, arrays):
    block, found = next(table.blocks()), np.zeros((2, len(plan.columns), 2), np.int64)
    got = block_scores(block, Pieces(plan), arrays, found[0])
    with numpy_definitions():
        expected = block_scores(block, Pieces(plan), [part.astype(np.float64) for part in arrays], found[1])
    assert got.dtype == arrays[0].dtype
    np.testing.assert_array_equal(found[0], found[1])
    return got, expected


@only_compiled
@each_kind
@each_dtype
@settings(max_examples=100)
@given(seed=SEEDS)
def test_scores_count_the_same_faults(soft, dtype, seed):
    """On any table: values beyond the ends, missing where there were none, infinities on slopes."""
    table, grid = random_table(seed, soft, dtype)
    table, plan = in_period(table, grid), Plan(grid, soft)
    arrays = [
        np.zeros((1, Pieces(plan).n_codes), dtype),
        np.zeros((1, Pieces(plan).n_codes), dtype),
        np.zeros(1, dtype),
    ]
    with np.errstate(invalid="ignore", over="ignore"):
        scores_both_ways(table, plan, arrays)


@only_compiled
@each_dtype
@pytest.mark.parametrize("n_bins", [3, 40])
@pytest.mark.parametrize("odd", [{"period": (0.0, 1.0)}, {"outside": "linear"}, {"outside": "error"}])
def test_infinities_are_the_same_fault_with_few_and_with_many_bins(dtype, n_bins, odd):
    plan = Plan(Grid((Boundaries(tuple(np.linspace(0, 1, n_bins + 1)), **odd),)), True)
    values = np.array([0.5, np.inf, -np.inf], dtype)
    table = Table((values,), None, 3, values.dtype)
    faults = np.zeros((1, 2), np.int64)
    arrays = [
        np.zeros((1, Pieces(plan).n_codes), dtype),
        np.zeros((1, Pieces(plan).n_codes), dtype),
        np.zeros(1, dtype),
    ]
    block_scores(next(table.blocks()), Pieces(plan), arrays, faults)
    assert faults.tolist() == [[0, 2]]


@only_compiled
@each_kind
@each_dtype
@pytest.mark.parametrize("outside", ["clip", "linear"])
@pytest.mark.parametrize("n_bins", [1, 2, 10, 14, 15, 16, 17, 31, 33, 200])
@pytest.mark.parametrize("missing", ["level", "zero", "error"])
def test_scores_of_any_number_of_bins(soft, dtype, outside, n_bins, missing):
    """Few codes are looked up in registers, many in memory; the seam lies at sixteen."""
    if outside == "linear" and not soft:
        pytest.skip("a hard bin has no slope")
    rng = np.random.default_rng(n_bins)
    edges = np.sort(rng.normal(size=n_bins + 1))
    plan = Plan(Grid((Boundaries(tuple(edges), missing, outside=outside),) * 2), soft)
    values = rng.uniform(edges[0] - 0.1, edges[-1] + 0.1, (777, 2)).astype(dtype)
    values[:50, 0] = rng.choice(edges, 50)
    if missing != "error":
        values[::7, 1] = np.nan
    table = Table(tuple(values.T), None, 777, values.dtype)
    arrays = random_model(0, plan, 1, dtype)
    _, fraction = locate_codes(values[:, 0], plan.columns[0])
    assert_close(*scores_both_ways(table, plan, arrays), dtype, 10 * (1 + np.abs(fraction).max()))


@only_compiled
@each_kind
@each_dtype
@pytest.mark.parametrize("boundaries", [Boundaries((3.0,), "level"), Boundaries((), "level"), Boundaries((), "zero")])
def test_columns_with_one_value_or_none(soft, dtype, boundaries):
    plan = Plan(Grid((boundaries, Boundaries((0.0, 1.0), "level"))), soft)
    values = np.array([[3.0, 0.2], [3.0, np.nan], [np.nan, 0.7], [-1.0, 1.0]], dtype)
    table = Table(tuple(values.T), None, 4, values.dtype)
    assert_close(*scores_both_ways(table, plan, random_model(0, plan, 2, dtype)), dtype, 5)


@only_compiled
@each_dtype
@pytest.mark.parametrize("size", [20.0, 60.0, 88.0, 500.0, 1e10])
@pytest.mark.parametrize("family", ["bernoulli", "multinomial"])
def test_far_scores_have_right_losses(dtype, size, family):
    n_outputs = 3 if family == "multinomial" else 1
    plan = Plan(Grid((Boundaries((0.0, 1.0)),)), True)
    values = np.linspace(0, 1, 300, dtype=dtype)
    coef = size * np.random.default_rng(0).uniform(-1, 1, (n_outputs, 2))
    value, slope = Pieces(plan).of(coef)
    arrays = [np.ascontiguousarray(part, dtype) for part in (value, slope, np.zeros(n_outputs))]
    block = next(Table((values,), None, 300, values.dtype).blocks()), (np.arange(300) % 2).astype(dtype), None
    got = block_pass(block, Pieces(plan), FAMILIES[family], arrays)
    with numpy_definitions():
        expected = block_pass(block, Pieces(plan), FAMILIES[family], [part.astype(np.float64) for part in arrays])
    # Where two scores tie, a rounding of the score is one of the residual.
    assert_close(got[0], expected[0], dtype, 300 * size)
    if size < 1e3:
        assert_close(got[1], expected[1], dtype, 300 * (1 + size))
    assert np.all(np.isfinite(got[1]))


@only_compiled
@each_dtype
@pytest.mark.parametrize("family", ["poisson", "gamma"])
@pytest.mark.parametrize("score", [-100.0, -87.5, -80.0, 0.0, 80.0, 88.5, 200.0, 1000.0])
def test_means_beyond_all_numbers_are_infinite_or_zero_never_nan(dtype, family, score):
    plan = Plan(Grid((Boundaries((0.0, 1.0)),)), True)
    values = np.full(100, 0.5, dtype)
    block = next(Table((values,), None, 100, values.dtype).blocks()), np.ones(100, dtype), None
    arrays = [np.zeros((1, 2), dtype), np.zeros((1, 2), dtype), np.full(1, score, dtype)]
    arrays[0], arrays[1] = (np.zeros((1, Pieces(plan).n_codes), dtype) for _ in range(2))
    loss, sums = block_pass(block, Pieces(plan), FAMILIES[family], arrays)
    with numpy_definitions():
        wanted, _ = block_pass(block, Pieces(plan), FAMILIES[family], arrays)
    assert not np.isnan(loss)
    assert not np.isnan(sums[0, -1, 0])
    if np.isfinite(loss) and np.isfinite(wanted):
        np.testing.assert_allclose(loss, wanted, rtol=20 * TOLERANCE[np.dtype(dtype)])
    else:
        assert loss == np.inf


@only_compiled
@each_kind
@each_dtype
@given(seed=SEEDS)
def test_rows_behind_the_last_whole_tile_count_once(soft, dtype, seed):
    """The sums of a block are those of its two halves, wherever it is cut."""
    table, plan = model_table(seed, soft, dtype)
    arrays = random_model(seed, plan, 1, dtype)
    y, weight = random_rows(seed, "gaussian", table.n_rows, 1, dtype)
    whole = block_pass((next(table.blocks()), y, weight), Pieces(plan), FAMILIES["gaussian"], arrays)
    cut = 1 + seed % table.n_rows
    parts = [
        block_pass(
            (
                block,
                *(None if side is None else side[block.start : block.start + block.n_rows] for side in (y, weight)),
            ),
            Pieces(plan),
            FAMILIES["gaussian"],
            arrays,
        )
        for block in table.blocks(cut)
    ]
    added = sum(loss for loss, _ in parts), np.sum([sums for _, sums in parts], axis=0)
    assert_close(told(whole, plan), told(added, plan), dtype, 60 * table.n_rows)


def random_gram(seed):
    rng = np.random.default_rng(seed)
    n_columns, n_rows, per_column = int(rng.integers(1, 6)), int(rng.choice([1, 17, 300])), int(rng.integers(1, 8))
    start = per_column * np.arange(n_columns)[:, None]
    left, right = (start + rng.integers(0, per_column, (n_columns, n_rows)) for _ in range(2))
    fraction = rng.random((n_columns, n_rows)).astype(np.float32)
    right = np.where(rng.random(right.shape) < 0.2, left, right)
    fraction[left == right] = 0
    return left.astype(np.uint32), right.astype(np.uint32), fraction, rng.random(n_rows), n_columns * per_column


def gram_by_kernel(left, right, fraction, weight, size):
    total = np.zeros((size, size))
    for column in range(len(left)):
        add_gram(left, right, fraction, weight, column, total)
    return np.triu(total) + np.triu(total, 1).T


def gram_by_matrix(left, right, fraction, weight, size):
    phi = np.zeros((len(weight), size))
    for j in range(len(left)):
        np.add.at(phi, (np.arange(len(weight)), left[j]), 1 - fraction[j].astype(np.float64))
        np.add.at(phi, (np.arange(len(weight)), right[j]), fraction[j].astype(np.float64))
    return phi.T @ (phi * weight[:, None])


@settings(max_examples=60)
@given(seed=SEEDS)
def test_gram(seed):
    arguments = random_gram(seed)
    np.testing.assert_allclose(gram_by_kernel(*arguments), gram_by_matrix(*arguments), rtol=1e-6, atol=1e-6)


@only_compiled
@settings(max_examples=60)
@given(seed=SEEDS)
def test_gram_and_its_definition(seed):
    arguments = random_gram(seed)
    got = gram_by_kernel(*arguments)
    with numpy_definitions():
        expected = gram_by_kernel(*arguments)
    np.testing.assert_allclose(got, expected, rtol=1e-6, atol=1e-6)


def test_a_broken_gram_is_noticed():
    left, right, fraction, weight, size = random_gram(3)
    assert np.any(fraction > 0)
    got = gram_by_kernel(left, right, fraction, weight, size)
    with pytest.raises(AssertionError):
        np.testing.assert_allclose(got, gram_by_matrix(right, left, fraction, weight, size), rtol=1e-6, atol=1e-6)


PASS = {
    "short value": {"value": np.zeros((1, 2), np.float32)},
    "wide slope": {"slope": np.zeros((1, 9), np.float32)},
    "value of another dtype": {"value": np.zeros((1, 4))},
    "two outputs for a family of one": {"intercept": np.zeros(2, np.float32)},
    "short y": {"y": np.zeros(3, np.float32)},
    "long weight": {"weight": np.zeros(9, np.float32)},
    "unknown family": {"family": 9},
    "negative family": {"family": -1},
    "short sums": {"sums": np.zeros(9)},
    "sums of another dtype": {"sums": np.zeros(10, np.float32)},
    "a column too many": {"columns": (np.zeros(4, np.float32),) * 2},
    "a column of another dtype": {"columns": (np.zeros(4),)},
}


def pass_arguments():
    plan = Plan(Grid((Boundaries((0.0, 1.0, 2.0, 3.0), "level"),)), True)
    n = plan.compiled.n_codes
    zeros = np.zeros((1, n), np.float32)
    return {
        "plan": plan.compiled,
        "columns": (np.zeros(4, np.float32),),
        "value": zeros,
        "slope": zeros,
        "intercept": np.zeros(1, np.float32),
        "family": 0,
        "y": np.zeros(4, np.float32),
        "weight": None,
        "sums": np.zeros(2 * (n + 1)),
    }


@only_compiled
@pytest.mark.parametrize("what", [None, *PASS])
def test_arrays_that_do_not_fit_are_refused(what):
    if what is None:
        assert kernels.compiled.additive_pass(**pass_arguments()) == 0
        return
    with pytest.raises((ValueError, TypeError, RuntimeError)):
        kernels.compiled.additive_pass(**{**pass_arguments(), **PASS[what]})


@only_compiled
@pytest.mark.parametrize("label", [-1.0, 3.0, np.nan, np.inf])
def test_a_class_that_is_none_is_refused(label):
    arguments = pass_arguments()
    n = arguments["plan"].n_codes
    arguments |= {"family": 4, "value": np.zeros((3, n), np.float32), "slope": np.zeros((3, n), np.float32)}
    arguments |= {"intercept": np.zeros(3, np.float32), "sums": np.zeros(6 * (n + 1))}
    arguments["y"] = np.array([0, 1, 2, label], np.float32)
    with pytest.raises((ValueError, RuntimeError)):
        kernels.compiled.additive_pass(**arguments)


@only_compiled
def test_levels_beyond_the_matrix_are_refused():
    left, right, fraction, weight, size = random_gram(3)
    left[0, 0] = size
    with pytest.raises((ValueError, RuntimeError)):
        kernels.compiled.gram(left, right, fraction, weight, 0, 1, np.zeros((size, size)))


def test_modules_use_the_kernels_that_are_there():
    assert softbin.linear.objective.kernels is softbin.linear.curvature.kernels is kernels
