"""The Triton kernels beside the torch definition, on a GPU, or interpreted on the CPU (TRITON_INTERPRET=1)."""

import numpy as np
import pytest
import torch
from tests.deep.tables import mixed_grid, mixed_values
from torch import nn

from softbin import Boundaries, Grid, MultiBins
from softbin.deep import HardBinEmbedding, MultiBinEmbedding, SoftBinEmbedding
from softbin.deep.kernels import lookup as kernels
from softbin.deep.lookup import by_definition, embed, implementation

INTERPRETED = kernels.INTERPRETED
DEVICE = "cpu" if INTERPRETED else "cuda"

pytestmark = pytest.mark.skipif(
    not kernels.INSTALLED or not (INTERPRETED or torch.cuda.is_available()), reason="needs Triton and a CUDA GPU"
)
on_gpu = pytest.mark.skipif(INTERPRETED, reason="needs a CUDA GPU")
each_kind = pytest.mark.parametrize("kind", [SoftBinEmbedding, HardBinEmbedding])


@pytest.fixture(autouse=True)
def _kernels(monkeypatch):
    monkeypatch.setenv("SOFTBIN_DEEP", "triton")


def both(embedding, values, seed=0):
    """Embeddings and the table's gradient, by the kernels and by the definition in float64."""
    table = embedding.weight.detach().clone().requires_grad_()
    exact = embedding.weight.detach().double().requires_grad_()
    assert implementation(embedding.locate, values, table) == "triton"
    ours, theirs = embed(embedding.locate, values, table), by_definition(embedding.locate, values, exact, None)
    generator = torch.Generator().manual_seed(seed)
    grad = torch.randn(theirs.shape, generator=generator).to(values.device)
    (got,) = torch.autograd.grad(ours, table, grad.to(ours.dtype))
    (wanted,) = torch.autograd.grad(theirs, exact, grad.to(ours.dtype).double())
    return (ours.detach().double(), theirs.detach()), (got.double(), wanted)


def assert_parity(embedding, values, tolerance=1e-5):
    for got, wanted in both(embedding, values):
        scale = float(wanted.nan_to_num().abs().max()) + 1e-30
        torch.testing.assert_close(got, wanted, rtol=tolerance, atol=tolerance * scale, equal_nan=True)


def known(X):
    return torch.as_tensor(X[~np.isnan(X[:, 3])], device=DEVICE)


@each_kind
@pytest.mark.parametrize("dtype", [np.float32, np.float64])
@pytest.mark.parametrize("dim", [1, 5, 16, 70])
def test_parity_on_every_kind_of_column(kind, dtype, dim):
    embedding = kind(mixed_grid(), dim, init="random", random_state=0).to(DEVICE)
    assert_parity(embedding, known(mixed_values(1500 if not INTERPRETED else 60, dtype)))


@each_kind
@pytest.mark.parametrize("n_bins", [1, 2, 10, 100, 1000, 10_000])
def test_parity_on_random_grids(kind, n_bins):
    rng = np.random.default_rng(n_bins)
    n_rows = 200 if INTERPRETED else 5000
    grid = Grid((
        Boundaries(tuple(np.unique(rng.normal(size=n_bins + 1))), missing="level"),
        Boundaries(tuple(np.unique(rng.integers(0, 50, n_bins + 1) * 1.0)), special=(7.0, -1.0), missing="zero"),
        Boundaries((0.0, 1.0), outside="linear"),
        Boundaries((2.0,)),
    ))  # fmt: skip
    X = np.stack([rng.normal(size=n_rows), rng.integers(-1, 51, n_rows), rng.normal(size=n_rows) * 9,
                  rng.normal(size=n_rows)], 1)  # fmt: skip
    X[::3, 0] = X[::4, 1] = np.nan
    X[1, 0], X[2, 0] = np.inf, -np.inf
    embedding = kind(grid, 16, init="random", random_state=1).to(DEVICE)
    assert_parity(embedding, torch.as_tensor(X.astype(np.float32), device=DEVICE))


@each_kind
def test_a_swapped_row_is_noticed(kind):
    embedding = kind(mixed_grid(), 5, init="random", random_state=0).to(DEVICE)
    swapped = embedding.locate.lower_row.clone()
    swapped[[0, 1]] = embedding.locate.lower_row[[1, 0]]
    values = known(mixed_values(dtype=np.float32))
    wanted = by_definition(embedding.locate, values, embedding.weight, None)
    embedding.locate.lower_row.copy_(swapped)
    with pytest.raises(AssertionError):
        torch.testing.assert_close(embedding(values), wanted)


@pytest.mark.parametrize("few", [0, 128])
def test_both_ways_to_the_gradient_agree(few, monkeypatch):
    monkeypatch.setattr(kernels, "FEW_LEVELS", few)
    grid = Grid(tuple(Boundaries(tuple(np.linspace(-2, 2, n)), missing="level") for n in (3, 11, 60)))
    X = np.random.default_rng(0).normal(size=(300, 3)).astype(np.float32)
    X[::5] = np.nan
    assert_parity(SoftBinEmbedding(grid, 16, init="random", basis="rows").to(DEVICE), torch.as_tensor(X, device=DEVICE))


@each_kind
def test_faults_are_nan_and_only_in_their_field(kind):
    kinds = ({}, {"missing": "level"}, {"outside": "error"})
    grid = Grid(tuple(Boundaries((0.0, 1.0), **options) for options in kinds))
    embedding = kind(grid, 2, init="random").to(DEVICE)
    values = torch.tensor([[np.nan, np.nan, 2.0], [0.5, 0.5, 0.5]], dtype=torch.float32, device=DEVICE)
    torch.testing.assert_close(
        embedding(values), by_definition(embedding.locate, values, embedding.table(), None), equal_nan=True
    )


def test_views_of_several_granularities():
    rng = np.random.default_rng(0)
    X = rng.normal(size=(500, 3)).astype(np.float32)
    bins = MultiBins((3, 10, 50)).fit(X, X[:, 0] + np.abs(X[:, 2]) > 0.5)
    assert_parity(MultiBinEmbedding(bins, 4, init="random", basis="rows").to(DEVICE), torch.as_tensor(X, device=DEVICE))


@pytest.mark.parametrize("few", [0, 128])
def test_half_precision_rounds_once(few, monkeypatch):
    if INTERPRETED and few:
        pytest.skip("Triton's interpreter has no products in bfloat16")
    monkeypatch.setattr(kernels, "FEW_LEVELS", few)
    embedding = SoftBinEmbedding(mixed_grid(), 16, init="random", random_state=0, basis="rows").to(DEVICE)
    values = known(mixed_values(dtype=np.float32))
    wanted = by_definition(embedding.locate, values, embedding.weight, None)
    with torch.autocast(DEVICE, torch.bfloat16):
        out = embedding(values)
    assert out.dtype == torch.bfloat16
    torch.testing.assert_close(out.float(), wanted, rtol=2**-7 if INTERPRETED else 2**-8, atol=1e-6)  # it truncates
    grad = torch.randn_like(out)
    (got,) = torch.autograd.grad(out, embedding.weight, grad)
    (exact,) = torch.autograd.grad(wanted, embedding.weight, grad.float())
    assert got.dtype == torch.float32
    torch.testing.assert_close(got, exact, rtol=1e-4, atol=1e-4)


@pytest.mark.parametrize("size", [1e-30, 1.0, 1e30])
def test_units_fit_gradients_of_any_size(size, monkeypatch):
    monkeypatch.setattr(kernels, "FEW_LEVELS", 0)
    embedding = SoftBinEmbedding(Grid((Boundaries((0.0, 1.0, 2.0)),)), 4, init="random", basis="rows").to(DEVICE)
    values = torch.rand(100, 1, device=DEVICE) * 2
    grads = []
    for name in ("triton", "definition"):
        with pytest.MonkeyPatch.context() as patch:
            patch.setenv("SOFTBIN_DEEP", name)
            (found,) = torch.autograd.grad(embedding(values).sum() * size, embedding.weight)
            grads.append(found / size)
    torch.testing.assert_close(*grads, rtol=1e-5, atol=1e-5)


@pytest.mark.filterwarnings("ignore")
def test_a_gradient_that_is_not_finite_stays_so(monkeypatch):
    for few in (0, 128):
        monkeypatch.setattr(kernels, "FEW_LEVELS", few)
        embedding = SoftBinEmbedding(Grid((Boundaries((0.0, 1.0, 2.0)),)), 4, init="random", basis="rows").to(DEVICE)
        values = torch.full((8, 1), 0.5, device=DEVICE)
        (found,) = torch.autograd.grad(embedding(values).sum() * torch.nan, embedding.weight)
        assert found[:2].isnan().all()


def test_no_rows():
    embedding = SoftBinEmbedding(mixed_grid(), 4, basis="rows").to(DEVICE)
    out = embedding(torch.zeros(0, 6, device=DEVICE))
    assert out.shape == (0, 6, 4)
    assert not torch.autograd.grad(out.sum(), embedding.weight)[0].any()


def test_what_the_kernels_do_not_do_the_definition_does():
    embedding = SoftBinEmbedding(mixed_grid(), 4, trainable_knots=True, basis="rows").to(DEVICE)
    values = known(mixed_values(dtype=np.float32))
    assert implementation(embedding.locate, values, embedding.weight) == "triton"
    assert implementation(embedding.locate, values, embedding.weight, embedding.knots()) == "definition"
    assert implementation(embedding.locate, values, embedding.weight.double()) == "definition"
    assert implementation(embedding.locate, values.clone().requires_grad_(), embedding.weight) == "definition"


@pytest.mark.filterwarnings("ignore")
def test_dropout_is_fair_and_differs_between_layers_and_places():
    from softbin.deep.kernels.device_step import activate_kernel

    n = 2**16
    ones, out = torch.ones(n, device=DEVICE), torch.empty(n, device=DEVICE)
    step = torch.tensor(7.0, device=DEVICE)
    coins = []
    for layer in range(2):
        alive = torch.empty(n // 8, dtype=torch.uint8, device=DEVICE)
        activate_kernel[(n // 2048,)](
            ones, ones, out, alive, step, 123456789, n // 512, round(0.3 * 2**24), 1 / 0.7, WIDTH=512, BYTES=64,
            LAYER=layer, RESIDUAL=layer > 0, DROPS=True, ROWS=4, COLUMNS=512,
        )  # fmt: skip
        lives = (alive[:, None] >> torch.arange(8, device=DEVICE) & 1).flatten()
        torch.testing.assert_close(out, lives / 0.7 + (layer > 0))
        coins.append(lives.double())
    for places in (coins[0], coins[1], coins[0][::512], coins[1][3::512]):
        assert abs(float(places.mean()) - 0.7) < 4 * (0.21 / len(places)) ** 0.5
    pairs = [coins, *((coin[:-gap], coin[gap:]) for coin in coins for gap in (1, 2, 512))]
    for pair in pairs:
        assert abs(float(torch.corrcoef(torch.stack(list(pair)))[0, 1])) < 4 * n**-0.5


@on_gpu
@pytest.mark.parametrize("n_bins", [10, 1000])
def test_gradients_are_the_same_bits_in_every_run(n_bins):
    grid = Grid(tuple(Boundaries(tuple(np.linspace(-3, 3, n_bins + 1)), missing="level") for _ in range(8)))
    embedding = SoftBinEmbedding(grid, 16, init="random", basis="rows").to(DEVICE)
    values = torch.randn(50_000, 8, device=DEVICE)
    grad = torch.randn(50_000, 8, 16, device=DEVICE)
    found = [torch.autograd.grad(embedding(values), embedding.weight, grad)[0] for _ in range(5)]
    assert all(torch.equal(found[0], other) for other in found[1:])


@on_gpu
@pytest.mark.filterwarnings("ignore")
def test_compiled_and_captured(monkeypatch):
    monkeypatch.delenv("SOFTBIN_DEEP")
    embedding = SoftBinEmbedding(mixed_grid(), 4, random_state=0, basis="rows")
    model = nn.Sequential(embedding, nn.Flatten(), nn.Linear(24, 2)).to(DEVICE)
    values = known(mixed_values(dtype=np.float32))
    assert implementation(embedding.locate, values, embedding.weight) == "triton"
    wanted = model(values)
    compiled = torch.compile(model, fullgraph=True)
    torch.testing.assert_close(compiled(values), wanted)
    compiled(values).sum().backward()
    graph = torch.cuda.CUDAGraph()
    with torch.cuda.graph(graph):
        out = model(values)
    out.zero_()
    graph.replay()
    torch.testing.assert_close(out, wanted)
