"""Embeddings: the NumPy encoding times the table, in every form that torch may run them in."""

import copy
import gc

import numpy as np
import pytest
import torch
from tests.deep.tables import mixed_grid, mixed_values
from tests.parity.grids import random_table
from torch import nn

import softbin.deep.steps
from softbin import Boundaries, Grid, HardBins, MultiBins, SoftBins, kernels
from softbin.boundaries.boundaries import Boundaries as Column
from softbin.deep import HardBinEmbedding, MultiBinEmbedding, PiecewiseLinearEmbedding, SoftBinEmbedding
from softbin.deep.embeddings import fixed_tables
from softbin.deep.locate import Locate
from softbin.deep.lookup import IMPLEMENTATIONS, embed, implementation
from softbin.deep.starts import normal_scores
from softbin.encodings.hat import hat
from softbin.encodings.one_hot import one_hot
from softbin.encodings.plan import Plan
from softbin.errors import OptionError

KINDS = {"soft": (SoftBinEmbedding, hat), "hard": (HardBinEmbedding, one_hot)}
each_kind = pytest.mark.parametrize("kind", KINDS)
each_implementation = pytest.mark.parametrize("name", IMPLEMENTATIONS)


def definition(embedding, X):
    """Encoding times table, column by column, in float64."""
    plan, table = embedding.plan, embedding.table().detach().double().numpy()
    encode = hat if plan.soft else one_hot
    fields = []
    for at, levels, start in zip(plan.source, plan.columns, plan.level_start, strict=False):
        fields.append(encode(X[:, at], levels) @ table[start : start + levels.count])
    return np.stack(fields, axis=1)


def known_values(dtype=np.float64):
    """No fault among them."""
    X = mixed_values(dtype=dtype)
    return X[~np.isnan(X[:, 3])]


def assert_close(embedding, X, tolerance):
    got = embedding(torch.as_tensor(X)).detach().double().numpy()
    np.testing.assert_allclose(got, definition(embedding, X), rtol=tolerance, atol=tolerance)


@each_kind
@each_implementation
def test_an_embedding_is_the_encoding_times_the_table(kind, name, monkeypatch):
    monkeypatch.setenv("SOFTBIN_DEEP", name)
    embedding = KINDS[kind][0](mixed_grid(), 5, init="random", random_state=0)
    assert_close(embedding, known_values(np.float32), 1e-5)
    assert_close(embedding.double(), known_values(np.float64), 1e-12)


@each_kind
def test_a_swapped_row_is_noticed(kind):
    embedding = KINDS[kind][0](mixed_grid(), 5, init="random", random_state=0)
    broken = copy.deepcopy(embedding)
    swapped = embedding.table().detach().clone()
    swapped[[0, 1]] = swapped[[1, 0]]
    broken.set_table(swapped)
    X = known_values()
    with pytest.raises(AssertionError):
        np.testing.assert_allclose(broken(torch.as_tensor(X)).detach().numpy(), definition(embedding, X), atol=1e-5)


@pytest.mark.parametrize("n_bins", [1, 2, 10, 1000, 10_000])
def test_any_number_of_bins(n_bins):
    rng = np.random.default_rng(n_bins)
    grid = Grid((Boundaries(tuple(np.unique(rng.normal(size=n_bins + 1)))), Boundaries((0.0, 1.0))))
    X = rng.normal(size=(300, 2)).astype(np.float32)
    for embedding in (SoftBinEmbedding(grid, 3, init="random"), HardBinEmbedding(grid, 3, init="random")):
        assert_close(embedding, X, 1e-5)


@each_implementation
def test_gradients_are_those_of_the_function(name, monkeypatch):
    monkeypatch.setenv("SOFTBIN_DEEP", name)
    embedding = SoftBinEmbedding(mixed_grid(), 2, init="random", random_state=0).double()
    X = known_values()[:8]
    X[:, 3] = [0.3, 2.0, 0.5, 7.0, 3.0, 1.5, 11.0, -2.0]  # a special code is no place for a difference quotient
    values = torch.as_tensor(X).requires_grad_()
    table = embedding.table().detach().clone().requires_grad_()
    assert torch.autograd.gradcheck(lambda v, t: embed(embedding.locate, v, t), (values, table))


@pytest.mark.parametrize("seed", range(16))
@pytest.mark.parametrize("soft", [True, False])
@pytest.mark.skipif(kernels.compiled is None, reason="the compiled kernels are not running")
def test_the_kernels_agree_with_the_definition_on_random_grids(soft, seed, monkeypatch):
    """Forward to the last bit, faults too; gradients of the table up to the order of their sums."""
    dtype = [np.float32, np.float64][seed % 2]
    table, grid = random_table(seed, soft, dtype)
    plan = Plan(grid, soft)
    if plan.n_levels == 0:
        pytest.skip("no column has a level")
    values = torch.as_tensor(np.stack(table.columns, axis=1))
    weight = torch.randn(plan.n_levels, 3)
    outs, gradients = [], []
    for asked in ("definition", "compiled"):
        monkeypatch.setenv("SOFTBIN_DEEP", asked)
        own = weight.clone().requires_grad_()
        out = embed(Locate(plan), values, own)
        outs.append(out.detach())
        torch.where(out.isnan(), 0, out.clamp(-1e3, 1e3) * torch.arange(3)).sum().backward()
        gradients.append(own.grad)
    finite = outs[0].isfinite()  # an end slope may leave float32
    assert torch.equal(outs[0][finite], outs[1][finite])
    assert torch.equal(outs[0].isnan() | outs[0].isinf(), outs[1].isnan() | outs[1].isinf())
    known = gradients[0].isfinite()
    torch.testing.assert_close(gradients[1][known], gradients[0][known], rtol=1e-3, atol=1e-2)


def test_gradients_do_not_depend_on_threads(monkeypatch):
    monkeypatch.setattr("softbin.deep.lookup.FEWEST_NUMBERS", 1)
    embedding = SoftBinEmbedding(mixed_grid(), 5, random_state=0)
    values, found = torch.as_tensor(known_values(np.float32)), []
    for n_threads in (1, 2, 4):
        monkeypatch.setattr(torch, "get_num_threads", lambda n=n_threads: n)
        out = embedding(values)
        (gradient,) = torch.autograd.grad(out.square().sum(), embedding.weight)
        found.append((out, gradient))
    for out, gradient in found[1:]:
        assert torch.equal(out, found[0][0])
        assert torch.equal(gradient, found[0][1])


def test_a_gradient_outlives_its_module():
    values = torch.as_tensor(known_values(np.float32))
    embedding = SoftBinEmbedding(mixed_grid(), 2, random_state=0)
    table, out = embedding.weight, embedding(values).square().sum()
    del embedding
    gc.collect()
    (gradient,) = torch.autograd.grad(out, table)
    again = SoftBinEmbedding(mixed_grid(), 2, random_state=0)
    assert torch.equal(gradient, torch.autograd.grad(again(values).square().sum(), again.weight)[0])


def test_gradients_of_the_knots():
    embedding = SoftBinEmbedding(mixed_grid(), 2, init="random", trainable_knots=True, random_state=0).double()
    X = known_values()[:8]
    X[0, 0], X[1, 0] = np.inf, -np.inf
    values = torch.as_tensor(X)
    out = embedding(values).square().sum()
    (found,) = torch.autograd.grad(out, embedding.knots.logits)
    step = 1e-6
    for i in range(len(found)):
        ends = []
        for sign in (-1, 1):
            with torch.no_grad():
                embedding.knots.logits[i] += sign * step
                ends.append(float(embedding(values).square().sum()))
                embedding.knots.logits[i] -= sign * step
        assert float(found[i]) == pytest.approx((ends[1] - ends[0]) / (2 * step), rel=1e-4, abs=1e-6)


def test_knots_start_where_the_grid_has_them_and_stay_in_order():
    still = SoftBinEmbedding(mixed_grid(), 3, random_state=0)
    moving = SoftBinEmbedding(mixed_grid(), 3, trainable_knots=True, random_state=0)
    values = torch.as_tensor(known_values(np.float32))
    torch.testing.assert_close(still(values), moving(values), rtol=1e-4, atol=1e-5)
    with torch.no_grad():
        moving.knots.logits += torch.randn(moving.knots.logits.shape) * 3
    trained = moving.trained_grid()
    for before, after in zip(mixed_grid(), trained, strict=True):
        assert (before.edges[:1], before.edges[-1:]) == (after.edges[:1], after.edges[-1:])
    moved = SoftBinEmbedding(trained, 3)
    moved.set_table(moving.table())
    torch.testing.assert_close(moved(values), moving(values), rtol=1e-4, atol=1e-4)
    # As far as it goes: knots fall together, and the grid keeps them apart.
    with torch.no_grad():
        moving.knots.logits *= 300
    for before, after in zip(mixed_grid(), moving.trained_grid(), strict=True):
        assert (before.edges[:1], before.edges[-1:], before.n_bins) == (after.edges[:1], after.edges[-1:], after.n_bins)


def test_faults_are_nan_and_only_in_their_field():
    grid = Grid((Boundaries((0.0, 1.0)), Boundaries((0.0, 1.0), missing="level")))
    for embedding in (SoftBinEmbedding(grid, 2), HardBinEmbedding(grid, 2)):
        out = embedding(torch.full((1, 2), torch.nan))
        assert out[0, 0].isnan().all()
        assert out[0, 1].isfinite().all()


def test_multi_bins_give_a_field_per_kept_pair():
    rng = np.random.default_rng(0)
    X = rng.normal(size=(500, 3))
    bins = MultiBins((3, 10, 50)).fit(X, X[:, 0] + np.abs(X[:, 2]) > 0.5)
    embedding = MultiBinEmbedding(bins, 4, init="random")
    assert embedding(torch.as_tensor(X)).shape == (500, len(bins.kept_), 4)
    assert_close(embedding.double(), X, 1e-12)
    with pytest.raises(OptionError, match="read several times"):
        MultiBinEmbedding(bins.grid_, 4)


def test_fitted_encoders_stand_for_their_plan():
    X = np.random.default_rng(0).normal(size=(100, 2))
    for bins, kind in ((SoftBins(5), SoftBinEmbedding), (HardBins(5), HardBinEmbedding)):
        assert_close(kind(bins.fit(X), 3).double(), X, 1e-12)
    with pytest.raises(OptionError, match="a plan of soft bins"):
        HardBinEmbedding(SoftBins(5).fit(X), 3)
    with pytest.raises(OptionError, match="is not a grid"):
        SoftBinEmbedding([0, 1], 3)


def test_lle_is_ple_and_a_linear_map():
    """E(x) = E_0 + PLE(x) . diff(E), section 1 of the algorithms: one function class, two bases."""
    grid = Grid((Boundaries((-1.0, -0.25, 0.0, 2.0)), Boundaries((0.0, 1.0, 3.0))))
    soft = SoftBinEmbedding(grid, 4, init="random", random_state=1).double()
    ple = PiecewiseLinearEmbedding(grid, 4).double()
    values = torch.rand(50, 2, dtype=torch.float64)
    mapped = []
    for j, levels in enumerate(soft.plan.columns):
        rows = soft.table()[int(soft.plan.level_start[j]) :][: levels.count]
        mapped.append(rows[0] + ple.encode(values)[:, j, : levels.count - 1] @ rows.diff(dim=0))
    torch.testing.assert_close(soft(values), torch.stack(mapped, 1), rtol=1e-14, atol=1e-14)


# How tables start


@each_kind
def test_the_smooth_start_is_the_normal_score(kind):
    X = np.random.default_rng(0).normal(size=(20_000, 1))
    bins = (SoftBins if kind == "soft" else HardBins)(40).fit(X)
    out = KINDS[kind][0](bins, 6)(torch.as_tensor(X)).detach().numpy()[:, 0]
    assert np.corrcoef(out[:, 0], X[:, 0])[0, 1] > 0.995
    assert out[:, 0].std() == pytest.approx(1, abs=0.03)
    assert np.all(np.diff(out[np.argsort(X[:, 0]), 0]) >= -1e-6)
    assert 0.02 < out[:, 1:].std(axis=0).mean() < 0.3
    assert np.abs(out[:, 1:]).max() <= 0.2 + 1e-6


def test_normal_scores_have_mean_zero_and_variance_one():
    weight = tuple(np.random.default_rng(0).uniform(0.5, 2, 30))
    b = Column(tuple(np.arange(31.0)), weight=weight)
    hard = normal_scores(Plan(Grid((b,)), False).columns[0])
    assert np.average(hard, weights=weight) == pytest.approx(0, abs=1e-9)
    assert np.average(hard**2, weights=weight) == pytest.approx(1, abs=0.02)
    for shares in ((0.0, 0.0, 1.0), (1.0, 0.0, 0.0), (0.0, 1.0, 0.0), (1e-300, 1.0, 1e300)):
        for soft in (True, False):
            scores = normal_scores(Plan(Grid((Column((0, 1, 2, 3), weight=shares),)), soft).columns[0])
            assert np.all(np.isfinite(scores))
            assert np.all(np.diff(scores) >= 0)


def test_a_circle_starts_closed():
    grid = Grid((Boundaries(tuple(np.linspace(0, 24, 25)), period=(0, 24)),))
    out = SoftBinEmbedding(grid, 4)(torch.linspace(-24, 48, 400)[:, None])[:, 0].detach()
    assert float(out.diff(dim=0).abs().max()) < 0.2
    torch.testing.assert_close(out[0], out[-1], rtol=0, atol=1e-5)


def test_starts_repeat_and_unknown_ones_are_refused():
    first, again, other = (SoftBinEmbedding(mixed_grid(), 4, random_state=seed).weight for seed in (1, 1, 2))
    assert torch.equal(first, again)
    assert not torch.equal(first, other)
    torch.manual_seed(5)
    drawn = SoftBinEmbedding(mixed_grid(), 4).weight
    torch.manual_seed(5)
    assert torch.equal(drawn, SoftBinEmbedding(mixed_grid(), 4).weight)
    for options in (
        {"init": "zero"}, {"init": ["smooth"]}, {"basis": "hats"}, {"smoothness": -1.0}, {"smoothness": "much"},
        {"smoothness": np.inf}, {"dim": 0}, {"dim": True}, {"dim": 2.0}, {"random_state": -1}, {"random_state": "x"},
    ):  # fmt: skip
        with pytest.raises(OptionError, match=next(iter(options))):
            SoftBinEmbedding(mixed_grid(), **{"dim": 4, **options})


def test_the_penalty_is_that_of_second_differences():
    grid = Grid((Boundaries((0, 1, 2, 3), missing="level"), Boundaries((0, 1, 2, 3), period=(0, 3))))
    embedding = SoftBinEmbedding(grid, 1, smoothness=0.5)
    embedding.set_table(torch.tensor([1.0, 2.0, 3.0, 4.0, 100.0, 1.0, 0.0, 0.0])[:, None])
    assert float(embedding.penalty().detach()) == pytest.approx(0.5 * (0 + 0 + 4 + 1 + 1))
    assert float(SoftBinEmbedding(Grid((Boundaries((0.0,)),)), 1, smoothness=1.0).penalty().detach()) == 0


# What is trained of a table


@each_kind
def test_steps_and_rows_are_two_forms_of_one_table(kind):
    values = torch.as_tensor(known_values())
    steps, rows = (
        KINDS[kind][0](mixed_grid(), 5, init="random", basis=basis, random_state=0).double()
        for basis in ("steps", "rows")
    )
    assert torch.equal(rows.table(), rows.weight)
    steps.set_table(rows.table())
    assert not torch.equal(steps.weight, rows.weight)
    torch.testing.assert_close(steps.table(), rows.table(), rtol=1e-12, atol=1e-12)
    torch.testing.assert_close(steps(values), rows(values), rtol=1e-12, atol=1e-12)
    steps.set_table(np.zeros(rows.weight.shape))
    assert not steps.table().any()
    with pytest.raises(OptionError, match="is not the shape"):
        steps.set_table(rows.table()[1:])


@pytest.mark.parametrize("basis", ["steps", "rows"])
def test_fixed_tables_are_worked_out_once_and_forgotten(basis, monkeypatch):
    embedding, values = SoftBinEmbedding(mixed_grid(), 2, basis=basis), torch.as_tensor(known_values())
    before = embedding(values)
    with fixed_tables(nn.Sequential(embedding)):
        assert torch.equal(embedding(values), before)
        assert embedding.table() is embedding.table()
    with torch.no_grad():
        embedding.weight += 1
    assert not torch.equal(embedding(values), before)
    assert list(embedding.parameters()) == [embedding.weight]


def test_a_step_moves_the_rows_above_it_in_its_column_and_no_other():
    grid = Grid(
        (
            Boundaries((0, 1, 2, 3), missing="level", special=(9,)),
            Boundaries((0, 1, 2, 3), period=(0, 3)),
            Boundaries((0, 1)),
        )
    )
    embedding = SoftBinEmbedding(grid, 2)
    starts, n = embedding.plan.level_start.tolist(), embedding.plan.n_levels
    before = embedding.table().detach()
    for level in range(n):
        moved = copy.deepcopy(embedding)
        with torch.no_grad():
            moved.weight[level] += 1
        summed = {**dict.fromkeys(range(4), 4), **dict.fromkeys(range(starts[2], n), n)}
        wanted = torch.zeros(n, 2)
        wanted[level : summed.get(level, level + 1)] = 1  # codes, missing and circles: the row itself
        torch.testing.assert_close(moved.table() - before, wanted, rtol=0, atol=1e-6)


def test_gradients_of_steps_are_sums_of_those_of_rows():
    embedding = SoftBinEmbedding(mixed_grid(), 3, init="random", random_state=0).double()
    of_table = torch.randn(embedding.weight.shape, dtype=torch.float64)
    (wanted,) = torch.autograd.grad(embedding.table(), embedding.weight, of_table)
    torch.testing.assert_close(embedding.steps.gradient(of_table), wanted, rtol=1e-12, atol=1e-12)
    assert torch.autograd.gradcheck(embedding.steps, embedding.weight)


def test_many_steps_lose_nothing_to_the_columns_before():
    """Sums run over all columns; what they add up to must not cost the last column its digits."""
    grid = Grid((Boundaries(tuple(np.arange(10_001.0))),) * 3)
    embedding = SoftBinEmbedding(grid, 1)
    rows = 1e4 * torch.randn(embedding.weight.shape)
    rows[-10_001:] /= 1e6
    embedding.set_table(rows)
    torch.testing.assert_close(embedding.table()[-10_001:], rows[-10_001:], rtol=1e-4, atol=1e-6)


@pytest.mark.parametrize("dtype", [torch.float32, torch.float64])
def test_large_tables_are_summed_as_the_definition_says(dtype, monkeypatch):
    """Column by column in NumPy, forwards and backwards."""
    monkeypatch.setattr(softbin.deep.steps, "MANY_NUMBERS", 1)
    embedding = SoftBinEmbedding(mixed_grid(), 3, init="random", random_state=0).to(dtype)
    table, wanted = embedding.steps(embedding.weight), embedding.steps.by_definition(embedding.weight)
    assert table.dtype == dtype
    torch.testing.assert_close(table, wanted, rtol=1e-6, atol=1e-6)
    backward = torch.randn(3, len(table), dtype=dtype).T  # not contiguous
    found, expected = (torch.autograd.grad(of, embedding.weight, backward)[0] for of in (table, wanted))
    torch.testing.assert_close(found, expected, rtol=1e-5, atol=1e-6)
    broken = copy.deepcopy(embedding.steps)
    broken.runs[0] = (0, broken.runs[0][1] - 1)
    with pytest.raises(AssertionError):
        torch.testing.assert_close(broken(embedding.weight), wanted)


def test_numbers_trained_as_rows_are_no_steps():
    steps, rows = (SoftBinEmbedding(mixed_grid(), 3, basis=basis) for basis in ("steps", "rows"))
    for one, other in ((steps, rows), (rows, steps)):
        with pytest.raises(RuntimeError, match=r"steps\.first"):
            one.load_state_dict(other.state_dict())


@pytest.mark.parametrize("many", [1, 10**9])
def test_steps_come_with_the_columns_they_belong_to(many, monkeypatch):
    """Two grids with as many levels, in other columns."""
    monkeypatch.setattr(softbin.deep.steps, "MANY_NUMBERS", many)
    short, long = Boundaries((0.0, 1.0, 2.0)), Boundaries((0.0, 1.0, 2.0, 3.0, 4.0))
    saved, other = (SoftBinEmbedding(Grid(columns), 2) for columns in ((short, long), (long, short)))
    other.load_state_dict(saved.state_dict())
    values = 4 * torch.rand(50, 2)
    torch.testing.assert_close(other(values), saved(values))


# What torch may do with them


def network():
    embedding = SoftBinEmbedding(mixed_grid(), 4, random_state=0)
    return nn.Sequential(embedding, nn.Flatten(), nn.Linear(24, 2))


def test_autocast():
    values = torch.as_tensor(known_values(np.float32))
    model = network()
    with torch.autocast("cpu", torch.bfloat16):
        out = model(values)
    assert out.dtype == torch.bfloat16
    torch.testing.assert_close(out.float(), model(values), rtol=0.05, atol=0.05)


def test_state_dict_brings_edges_along():
    model, other = network(), network()
    moved = SoftBinEmbedding(
        Grid((*mixed_grid().columns[:5], Boundaries((0.0, 7.0), outside="linear", missing="level"))), 4
    )
    other[0] = moved
    other.load_state_dict(model.state_dict())
    values = torch.as_tensor(known_values(np.float32))
    assert torch.equal(model(values), other(values))
    assert implementation(other[0].locate, values, other[0].weight) == "definition"
    again = network()
    again.load_state_dict(model.state_dict())
    assert again[0].locate.follows_plan


@pytest.mark.filterwarnings("ignore")
def test_export():
    model, values = network().eval(), torch.as_tensor(known_values(np.float32))
    batch = torch.export.Dim("batch", min=2)
    exported = torch.export.export(model, (values,), dynamic_shapes=({0: batch},))
    torch.testing.assert_close(exported.module()(values[:7]), model(values[:7]))


@pytest.mark.filterwarnings("ignore")
def test_compile_without_a_break():
    model, values = network(), torch.as_tensor(known_values(np.float32))
    compiled = torch.compile(model, backend="aot_eager", fullgraph=True)
    torch.testing.assert_close(compiled(values), model(values))
    compiled(values).sum().backward()


def test_copies_are_equal():
    model, values = network(), torch.as_tensor(known_values(np.float32))
    assert torch.equal(copy.deepcopy(model)(values), model(values))


def test_which_implementation_runs_is_said(monkeypatch):
    monkeypatch.delenv("SOFTBIN_DEEP", raising=False)
    locate, one = Locate(Plan(mixed_grid(), True)), torch.zeros(1)
    best = "definition" if kernels.compiled is None else "compiled"
    assert implementation(locate, one, one) == best
    assert implementation(locate, one, one.double()) == "definition"
    assert implementation(locate, one, one.bfloat16()) == "definition"
    assert implementation(locate, one.clone().requires_grad_(), one) == "definition"
    monkeypatch.setenv("SOFTBIN_DEEP", "definition")
    assert implementation(locate, one, one) == "definition"
    monkeypatch.setenv("SOFTBIN_DEEP", "magic")
    with pytest.raises(OptionError, match="SOFTBIN_DEEP"):
        implementation(locate, one, one)
