"""Peers: their formulas, written out with NumPy, and a row of their own for missing values."""

import numpy as np
import pytest
import torch

from softbin import Boundaries, Grid
from softbin.deep import AutoDisEmbedding, PBLDEmbedding, PeriodicEmbedding, PiecewiseLinearEmbedding
from softbin.errors import OptionError

GRID = Grid((Boundaries((-1.0, 0.0, 2.0)), Boundaries((0.0, 1.0)), Boundaries((5.0,))))
X = np.array([[-3.0, 0.5, 1.0], [-0.5, 2.0, 0.0], [1.0, -1.0, 7.0], [4.0, 0.0, -2.0]], np.float32)
PEERS = {
    "ple": lambda: PiecewiseLinearEmbedding(GRID, 5),
    "periodic": lambda: PeriodicEmbedding(3, 5, n_frequencies=7, sigma=0.5),
    "pbld": lambda: PBLDEmbedding(3, 5, n_frequencies=7, sigma=0.5),
    "autodis": lambda: AutoDisEmbedding(3, 5, n_meta=6),
}


def arrays(module):
    return {name: value.detach().double().numpy() for name, value in module.state_dict().items()}


def per_column(x, weight):
    return np.stack([x[:, j] @ weight[j] for j in range(weight.shape[0])], axis=1)


def ple(a):
    t = np.zeros((*X.shape, 2))
    for j, b in enumerate(GRID):
        for k in range(len(b.edges) - 1):
            raw = (X[:, j] - b.edges[k]) / (b.edges[k + 1] - b.edges[k])
            low = -np.inf if k == 0 else 0
            high = np.inf if k == len(b.edges) - 2 else 1
            t[:, j, k] = np.clip(raw, low, high)
    linear = per_column(X[..., None].astype(float), a["linear.weight"]) + a["linear.bias"]
    return linear + per_column(t, a["pieces.weight"])


def periodic(a):
    angle = 2 * np.pi * a["frequency"] * X[..., None]
    waves = np.concatenate([np.cos(angle), np.sin(angle)], axis=-1)
    return np.maximum(per_column(waves, a["linear.weight"]) + a["linear.bias"], 0)


def pbld(a):
    waves = np.cos(2 * np.pi * a["frequency"] * X[..., None] + a["phase"])
    return np.concatenate([X[..., None], per_column(waves, a["linear.weight"]) + a["linear.bias"]], axis=-1)


def autodis(a):
    scores = per_column(X[..., None].astype(float), a["scores.weight"])
    chosen = per_column(np.where(scores > 0, scores, 0.01 * scores), a["mix.weight"]) / 0.1
    share = np.exp(chosen - chosen.max(-1, keepdims=True))
    return per_column(share / share.sum(-1, keepdims=True), a["meta.weight"])


FORMULAS = {"ple": ple, "periodic": periodic, "pbld": pbld, "autodis": autodis}
each_peer = pytest.mark.parametrize("name", PEERS)


@each_peer
def test_a_peer_is_its_formula(name):
    torch.manual_seed(0)
    module = PEERS[name]()
    if name == "ple":
        assert not module.pieces.weight.detach().any()  # version B starts as the linear map
        torch.nn.init.normal_(module.pieces.weight)
    out = module(torch.as_tensor(X)).detach().numpy()
    assert out.shape == (4, 3, 5)
    np.testing.assert_allclose(out, FORMULAS[name](arrays(module)), rtol=1e-4, atol=1e-5)


@each_peer
def test_missing_values_have_a_row_of_their_own_and_no_nan_comes_back(name):
    module = PEERS[name]()
    values = torch.as_tensor(X).clone()
    values[1, 0] = torch.nan
    out = module(values)
    torch.testing.assert_close(out[1, 0], module.missing.weight[0])
    out.sum().backward()
    assert all(parameter.grad.isfinite().all() for parameter in module.parameters())


@each_peer
def test_autocast_and_state_dict(name):
    module, other = PEERS[name](), PEERS[name]()
    other.load_state_dict(module.state_dict())
    torch.testing.assert_close(other(torch.as_tensor(X)), module(torch.as_tensor(X)))
    with torch.autocast("cpu", torch.bfloat16):
        assert module(torch.as_tensor(X)).isfinite().all()


def test_options_that_mean_nothing_are_refused():
    for make in (
        lambda: PeriodicEmbedding(2, sigma=0.0),
        lambda: AutoDisEmbedding(2, temperature=-1.0),
        lambda: PBLDEmbedding(2, 1),
    ):
        with pytest.raises(OptionError):
            make()
