"""The written-out training step beside the one that autograd makes, on a GPU."""

import copy

import numpy as np
import pytest
import torch
from torch.nn import functional

from softbin import Boundaries, Grid
from softbin.deep import SoftBinEmbedding
from softbin.deep.kernels.fused_step import FusedStep, fits
from softbin.deep.losses import LOSSES
from softbin.deep.network import Network, Perceptron
from softbin.deep.rows import Resident, Rows
from softbin.deep.training import Step, TrainingOptions

pytestmark = pytest.mark.skipif(not torch.cuda.is_available(), reason="needs a CUDA GPU")
CUDA = torch.device("cuda")
OPTIONS = TrainingOptions(batch_size=1000, weight_decay=0.1)


def network(dropout=0.0, residual=True, depth=3, n_bins=10, basis="steps"):
    torch.manual_seed(0)
    grid = Grid(tuple(Boundaries(tuple(np.linspace(-2, 2, n_bins + 1)), missing="level") for _ in range(5)))
    embedding = SoftBinEmbedding(grid, 8, basis=basis, random_state=0)
    shape = {"width": 96, "depth": depth, "dropout": dropout, "residual": residual, "ensemble": 1}
    return Network(embedding, Perceptron(embedding.n_fields, embedding.dim, 1, **shape)).to(CUDA).train()


def source(loss):
    generator = torch.Generator().manual_seed(1)
    values = torch.randn(3000, 5, generator=generator)
    target = (values[:, 0] + values[:, 1] ** 2 > 1).float() if loss == "binary" else values[:, 0] * 3
    weight = torch.rand(3000, generator=generator) * 2
    values[::7, 2] = torch.nan
    return Resident(Rows(values, target, weight / weight.mean()), OPTIONS.batch_size, CUDA)


def steps(kind, net, loss, n=6):
    held = source(loss)
    step = kind(net, held, LOSSES[loss], OPTIONS, CUDA, 0.9)
    batches = [rows for seed in range(3) for rows in held.epoch(seed)]
    for i in range(n):
        step(batches[i], 1e-3)
    return step


@pytest.mark.parametrize("loss", ["binary", "number"])
@pytest.mark.parametrize(
    "options", [{}, {"residual": False}, {"depth": 1}, {"depth": 5}, {"n_bins": 300}, {"basis": "rows"}]
)
def test_it_is_the_same_step(loss, options):
    nets = [network(**options).requires_grad_() for _ in range(3)]
    wanted, got = steps(Step, nets[0], loss), steps(FusedStep, nets[1], loss)
    assert fits(nets[1], source(loss), LOSSES[loss], OPTIONS, CUDA)
    assert wanted.how == got.how == "CUDA graph"
    assert float(got.loss_sum) == pytest.approx(float(wanted.loss_sum), rel=0.01)
    for start, ours, theirs in zip(*(net.parameters() for net in (nets[2], nets[1], nets[0])), strict=True):
        ours, theirs, start = ours.detach(), theirs.detach(), start.detach()
        # Adam's first steps are the signs of gradients: where these are nearly zero, rounding decides.
        moved = (theirs - start).norm() + 1e-6
        assert float((ours - theirs).norm() / moved) < 0.25
    for ours, theirs in zip(got.averages, wanted.averages, strict=True):
        assert float((ours - theirs).norm() / (theirs.norm() + 1e-6)) < 0.1


@pytest.mark.parametrize("residual", [True, False])
def test_gradients_with_dropout(residual):
    net = network(0.3, residual)
    exact = copy.deepcopy(net).double()
    step = FusedStep(net, source("binary"), LOSSES["binary"], OPTIONS, CUDA, 0.9)
    step.may_capture = False
    step(torch.arange(1000, device=CUDA), 0.0)
    x = exact.embedding(step.values.double()).flatten(1)
    for i, layer in enumerate(exact.perceptron.layers):
        before = layer(x)
        alive = step.alive[i] != 0
        assert float(alive.double().sum() / (before > 0).sum()) == pytest.approx(0.7, abs=0.02)
        h = torch.where(alive, before / 0.7, 0.0)
        x = x + h if residual and i > 0 else h
    score = exact.perceptron.head(x[:, None])[:, 0, 0]
    losses = functional.binary_cross_entropy_with_logits(score, step.target.double(), reduction="none")
    (step.weight.double() * losses).mean().backward()
    losses = losses.detach()
    for ours, theirs in zip(net.parameters(), exact.parameters(), strict=True):
        found = step._view(step.grads, ours).double()
        assert float((found - theirs.grad).norm() / theirs.grad.norm()) < 0.02
    mean = float((step.weight.double() * losses).sum() / step.weight.sum())
    assert float(step.loss_sum) == pytest.approx(mean, rel=0.01)


def test_coins_follow_from_the_seed_and_differ_between_steps():
    step = FusedStep(network(0.5), source("binary"), LOSSES["binary"], OPTIONS, CUDA, 0.9)
    step.may_capture = False
    found = []
    for seed in (3, None, 3):
        if seed is not None:
            torch.manual_seed(seed)
        step(torch.arange(1000, device=CUDA), 0.0)
        found.append(step.alive[0].clone())
    assert not torch.equal(found[0], found[1])
    assert torch.equal(found[0], found[2])


def test_steps_are_the_same_bits_in_every_run():
    runs = []
    for _ in range(2):
        net = network(0.1)
        torch.manual_seed(5)
        steps(FusedStep, net, "binary")
        runs.append([parameter.detach().clone() for parameter in net.parameters()])
    assert all(torch.equal(a, b) for a, b in zip(*runs, strict=True))


def test_nan_reaches_the_loss():
    net = network()
    with torch.no_grad():
        net.perceptron.layers[1].bias[3] = torch.nan
    step = FusedStep(net, source("binary"), LOSSES["binary"], OPTIONS, CUDA, 0.9)
    step(torch.arange(1000, device=CUDA), 1e-3)
    assert step.loss_sum.isnan()
    assert net.perceptron.head.weight.isnan().any()
