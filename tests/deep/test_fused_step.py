"""The written-out training step beside the one that autograd makes, on a GPU, or interpreted (TRITON_INTERPRET=1)."""

import copy
import dataclasses

import numpy as np
import pytest
import torch
from torch.nn import functional

from softbin import Boundaries, Grid
from softbin.deep import SoftBinEmbedding
from softbin.deep.kernels import fused_step
from softbin.deep.kernels.fused_step import FusedStep, can_fold, fits
from softbin.deep.kernels.lookup import INSTALLED, INTERPRETED
from softbin.deep.losses import LOSSES
from softbin.deep.network import Network, Perceptron
from softbin.deep.rows import Resident, Rows
from softbin.deep.training import Step, TrainingOptions

pytestmark = pytest.mark.skipif(
    not INSTALLED or not (INTERPRETED or torch.cuda.is_available()), reason="needs Triton and a CUDA GPU"
)
on_gpu = pytest.mark.skipif(INTERPRETED, reason="needs a CUDA GPU")
DEVICE = torch.device("cpu" if INTERPRETED else "cuda")
OPTIONS = TrainingOptions(batch_size=100 if INTERPRETED else 1000, weight_decay=0.1)


@pytest.fixture(params=[True, False], ids=["folded", "not folded"])
def folds(request, monkeypatch):
    """Whether the first layer may be folded."""
    if not request.param:
        monkeypatch.setattr(fused_step, "can_fold", lambda embedding: False)
    return request.param


def network(dropout=0.0, residual=True, depth=3, n_bins=10, width=96, circle=False, basis="steps"):
    torch.manual_seed(0)
    columns = [Boundaries(tuple(np.linspace(-2, 2, n_bins + 1)), missing="level") for _ in range(5)]
    if circle:
        columns[1] = Boundaries((-2.0, -1.0, 0.0, 1.0), period=(-2.0, 1.0), special=(0.5,), missing="level")
    embedding = SoftBinEmbedding(Grid(tuple(columns)), 8, basis=basis, random_state=0)
    shape = {"width": width, "depth": depth, "dropout": dropout, "residual": residual, "ensemble": 1}
    return Network(embedding, Perceptron(embedding.n_fields, embedding.dim, 1, **shape)).to(DEVICE).train()


def source(loss):
    generator = torch.Generator().manual_seed(1)
    values = torch.randn(3000, 5, generator=generator)
    target = (values[:, 0] + values[:, 1] ** 2 > 1).float() if loss == "binary" else values[:, 0] * 3
    weight = torch.rand(3000, generator=generator) * 2
    values[::7, 2] = torch.nan
    return Resident(Rows(values, target, weight / weight.mean()), OPTIONS.batch_size, DEVICE)


def alive(step, i):
    """Where layer i does not cut off."""
    if i == len(step.layers) - 1:
        return step.backs[i] != 0  # known to nobody but its gradient
    bits = step.alive[i][:, :, None] >> torch.arange(8, device=DEVICE) & 1
    return bits.flatten(1)[:, : step.width] != 0


def steps(kind, net, loss, n=2 if INTERPRETED else 6):
    held = source(loss)
    step = kind(net, held, LOSSES[loss], OPTIONS, DEVICE, 0.9)
    batches = [rows for seed in range(3) for rows in held.epoch(seed)]
    for i in range(n):
        step(batches[i], 1e-3)
    return step


@pytest.mark.parametrize("loss", ["binary", "number"])
@pytest.mark.parametrize(
    "options",
    [
        {}, {"residual": False}, {"depth": 1}, {"depth": 5}, {"n_bins": 300}, {"n_bins": 1100}, {"circle": True},
        {"width": 601 if INTERPRETED else 600}, {"basis": "rows"},
    ],
)  # fmt: skip
def test_it_is_the_same_step(loss, options, folds):
    nets = [network(**options).requires_grad_() for _ in range(3)]
    wanted, got = steps(Step, nets[0], loss), steps(FusedStep, nets[1], loss)
    assert got.folds == (can_fold(nets[1].embedding) and folds)
    assert got.folds == ("not folded" not in got.name)
    if INTERPRETED:  # everything in float32
        for ours, theirs in zip(nets[1].parameters(), nets[0].parameters(), strict=True):
            moments = [step.optimizer.state[of]["exp_avg"] for step, of in ((got, ours), (wanted, theirs))]
            # A sum that is zero but for rounding may wake a unit in one row, or not.
            assert float((moments[0] - moments[1]).norm() / moments[1].norm()) < 2e-3
        return
    assert fits(nets[1], source(loss), LOSSES[loss], OPTIONS, DEVICE)
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
def test_gradients_with_dropout(residual, folds):
    net = network(0.3, residual)
    exact = copy.deepcopy(net).double()
    step = FusedStep(net, source("binary"), LOSSES["binary"], OPTIONS, DEVICE, 0.9)
    step.may_capture = False
    rows = torch.arange(OPTIONS.batch_size, device=DEVICE)
    step(rows, 0.0)
    x = exact.embedding(step.held.values[rows].double()).flatten(1)
    for i, layer in enumerate(exact.perceptron.layers):
        before = layer(x)
        lives = alive(step, i)
        assert float(lives.double().sum() / (before > 0).sum()) == pytest.approx(0.7, abs=0.02)
        h = torch.where(lives, before / 0.7, 0.0)
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


def test_coins_follow_from_the_seed_and_the_step():
    found = []
    for seed, done in ((3, 0), (3, 1), (4, 0), (3, 0)):
        options = dataclasses.replace(OPTIONS, seed=seed)
        step = FusedStep(network(0.5), source("binary"), LOSSES["binary"], options, DEVICE, 0.9)
        step.may_capture = False
        step.t.fill_(done)
        step(torch.arange(OPTIONS.batch_size, device=DEVICE), 0.0)
        found.append(alive(step, 0))
    assert not torch.equal(found[0], found[1])
    assert not torch.equal(found[0], found[2])
    assert torch.equal(found[0], found[3])


@on_gpu
def test_steps_are_the_same_bits_in_every_run(folds):
    runs = []
    for _ in range(2):
        net = network(0.1)
        steps(FusedStep, net, "binary")
        runs.append([parameter.detach().clone() for parameter in net.parameters()])
    assert all(torch.equal(a, b) for a, b in zip(*runs, strict=True))


def test_nan_reaches_the_loss(folds):
    net = network()
    with torch.no_grad():
        net.perceptron.layers[1].bias[3] = torch.nan
    step = FusedStep(net, source("binary"), LOSSES["binary"], OPTIONS, DEVICE, 0.9)
    step(torch.arange(OPTIONS.batch_size, device=DEVICE), 1e-3)
    assert step.loss_sum.isnan()
    assert net.perceptron.head.weight.isnan().any()


def test_a_level_in_the_wrong_place_is_noticed():
    """The first gradients of a table whose rows of two bins are swapped on the way to the hats."""
    moments = []
    for broken in (False, True):
        net = network()
        step = FusedStep(net, source("binary"), LOSSES["binary"], OPTIONS, DEVICE, 0.9)
        assert step.folds
        if broken:
            step.level_start[1:] -= 3
        step(torch.arange(OPTIONS.batch_size, device=DEVICE), 1e-3)
        moments.append(step.optimizer.state[net.embedding.weight]["exp_avg"])
    assert float((moments[1] - moments[0]).norm() / moments[0].norm()) > 0.1


def test_what_is_not_folded():
    assert can_fold(network().embedding)
    for columns in (
        [Boundaries(tuple(range(300)))],  # many levels
        [Boundaries((0.0, 1.0), outside="linear")],  # weights of any size
        [Boundaries((0.0, 1.0)), Boundaries(())],  # nothing to fold
    ):
        assert not can_fold(SoftBinEmbedding(Grid(tuple(columns)), 16))
