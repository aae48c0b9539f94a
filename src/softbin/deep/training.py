"""The training loop, top to bottom: shuffle, step, average, judge, remember the best, save, stop.

AdamW with a linear warm-up and a cosine to zero, gradients clipped by norm. What is judged and kept is not the network
itself but the exponential average of its weights, sum_t (1 - d) d^(T - t) w_t / (1 - d^T) with 1 / (1 - d) a 20th of
all steps, 100 at most. On a GPU, forward and backward run in bfloat16, and the whole step is captured in a CUDA graph
where it can be.

Everything random follows from the seed and the number of the epoch or step, so a checkpoint after an epoch needs no
state of generators, and a training that was killed goes on to the same result. With several processes
(torch.distributed) every one holds all rows, takes its share of each batch and sees the mean gradient; all stay equal.
"""

import copy
import math
import time
from collections.abc import Callable
from dataclasses import asdict, dataclass, replace
from typing import Any, ClassVar

import numpy as np
import torch
from torch import Tensor, nn

from softbin.deep.checkpoints import Checkpoint
from softbin.deep.embeddings import BinEmbedding, fixed_tables
from softbin.deep.losses import Loss
from softbin.deep.progress import EpochReport, ProgressLine
from softbin.deep.rows import Rows, Source, source_of
from softbin.deep.scoring import scores_of
from softbin.errors import DeviceMemoryError, DivergedError

EAGER_STEPS = 3  # before a step is captured: what is allocated once has been allocated then
LONGEST_AVERAGE = 100.0  # steps
JUDGED_ROWS = 2**16  # validation rows in one go


@dataclass(frozen=True)
class TrainingOptions:
    """What decides how a training goes. ``patience`` None never stops early."""

    learning_rate: float = 2e-3
    weight_decay: float = 3e-4
    epochs: int = 30
    batch_size: int = 1024
    patience: int | None = None
    seed: int = 0
    warm_up: float = 0.05  # share of all steps
    clip: float = 1.0
    averaged: float = 0.05  # share of all steps that the average of the weights looks back
    compile: bool = False


@dataclass(frozen=True)
class Trained:
    """The best network (in eval mode, on its device), how it came about, and what ran."""

    network: nn.Module
    history: list[EpochReport]
    best_epoch: int
    batch_size: int
    ran: dict[str, str]


def train_within_memory(
    make: Callable[[], nn.Module], rows: Rows, valid: Rows | None, loss: Loss, options: TrainingOptions,
    device: torch.device, line: ProgressLine, checkpoint: Checkpoint | None = None,
) -> Trained:  # fmt: skip
    """``train``, with half the batch size again and again where the device has too little memory."""
    batch_size = options.batch_size
    if checkpoint is not None and checkpoint.found:
        batch_size = int(checkpoint.found.facts["batch_size"])
    while True:
        try:
            return train(make(), rows, valid, loss, replace(options, batch_size=batch_size), device, line, checkpoint)
        except torch.OutOfMemoryError as error:
            if batch_size == 1 or _n_ranks() > 1:
                raise DeviceMemoryError(
                    f"{device}: too little memory for batches of {batch_size} rows ({error}); "
                    "pass a smaller network, a smaller batch_size, or another device"
                ) from None
        batch_size //= 2
        if checkpoint is not None:
            checkpoint.found = None  # of another batch size
        if device.type == "cuda":
            torch.cuda.empty_cache()


def train(
    network: nn.Module, rows: Rows, valid: Rows | None, loss: Loss, options: TrainingOptions, device: torch.device,
    line: ProgressLine, checkpoint: Checkpoint | None = None,
) -> Trained:  # fmt: skip
    """Trains on ``rows`` until the epochs, or the patience with ``valid``, are used up."""
    network = network.to(device).train()
    source = source_of(rows, options.batch_size, device)
    valid = None if valid is None else valid.to(device)
    steps_per_epoch = -(-len(rows) // options.batch_size)
    n_steps = steps_per_epoch * options.epochs
    step = step_of(network, source, loss, options, device, keep_of(n_steps, options))
    averaged = copy.deepcopy(network).eval().requires_grad_(False)
    best, history = Best.none(averaged), list[EpochReport]()
    if checkpoint is not None and checkpoint.found:
        history, best = _restore(checkpoint, step, averaged)
    while len(history) < options.epochs and not best.is_old(len(history), options.patience):
        epoch, began = len(history) + 1, time.perf_counter()
        torch.manual_seed(_seed(options.seed, epoch, 1 + _rank()))
        step.loss_sum.zero_()
        for batch in source.epoch(_seed(options.seed, epoch, 0)):
            step(batch, learning_rate(step.n_done, n_steps, options))
        trained_loss = step.mean_loss(steps_per_epoch)
        speed = len(rows) / (time.perf_counter() - began)

        step.write_average(averaged)
        valid_loss, score = (None, None) if valid is None else judge(averaged, valid, loss)
        _check_finite(epoch, options, trained_loss, valid_loss, averaged)
        report = EpochReport(epoch, trained_loss, valid_loss, score, speed)
        history.append(report)
        best = best.or_better(report, averaged)
        line(report, options.epochs, loss.score_name)
        if checkpoint is not None and _rank() == 0:
            checkpoint.save(*_state(step, best, history, options))

    best.write(averaged)
    precision = "bfloat16" if step.mixed else str(next(network.parameters()).dtype).removeprefix("torch.")
    ran = {"device": str(device), "precision": precision, "rows": source.name, "step": f"{step.name}, {step.how}"}
    return Trained(averaged, history, best.epoch, options.batch_size, ran)


def step_of(
    network: Any, source: Source, loss: Loss, options: TrainingOptions, device: torch.device, keep: float
) -> "Step":
    """The step for these: on a GPU, where it can be, the one written out in kernels."""
    if device.type == "cuda":
        from softbin.deep.kernels.fused_step import FusedStep, fits  # Why here: it is a Step itself

        if fits(network, source, loss, options, device):
            return FusedStep(network, source, loss, options, device, keep)
    return Step(network, source, loss, options, device, keep)


class Step:
    """One step: a batch's loss and gradient, AdamW, the average of the weights."""

    name: ClassVar[str] = "autograd"

    def __init__(
        self, network: nn.Module, source: Source, loss: Loss, options: TrainingOptions, device: torch.device,
        keep: float,
    ) -> None:  # fmt: skip
        self.network, self.held, self.loss, self.options, self.device = network, source.held, loss, options, device
        self.keep = keep
        self.mixed = device.type == "cuda"
        self.penalised = [part for part in network.modules() if isinstance(part, BinEmbedding) and part.smoothness > 0]
        self.forward: Callable[[Tensor], Tensor] = network
        if _n_ranks() > 1:
            self.forward = nn.parallel.DistributedDataParallel(network)
        if options.compile:
            self.forward = torch.compile(self.forward)
        self.parameters = [parameter for parameter in network.parameters() if parameter.requires_grad]
        self.averages = [torch.zeros_like(parameter) for parameter in self.parameters]
        self.rate = torch.zeros((), device=device)
        self.optimizer = torch.optim.AdamW(
            decay_groups(network, options.weight_decay), lr=self.rate, fused=True, capturable=device.type == "cuda"
        )
        self.n_done = 0
        self.loss_sum = torch.zeros((), dtype=torch.float64, device=device)
        self.rows = torch.zeros(options.batch_size, dtype=torch.int64, device=device)
        self.graph: torch.cuda.CUDAGraph | None = None
        self.how = "torch.compile" if options.compile else "eager"
        self.may_capture = device.type == "cuda" and _n_ranks() == 1 and not options.compile

    def __call__(self, rows: Tensor, rate: float) -> None:
        self.rate.fill_(rate)
        self.rows.copy_(rows)
        if self.graph is not None:
            self.graph.replay()
        elif self.may_capture:
            self._on_the_way_to_a_graph()
        else:
            self._run()
        self.n_done += 1

    def _run(self) -> None:
        rows, rank, n_ranks = self.rows, _rank(), _n_ranks()
        # Why the least: weights so far below the mean that float32 has none for them.
        total = self.held.weight[rows].sum().clamp_min(torch.finfo(self.held.weight.dtype).tiny)
        own = self.held.take(rows[rank::n_ranks] if n_ranks > 1 else rows)
        self.optimizer.zero_grad(set_to_none=True)
        with torch.autocast(self.device.type, torch.bfloat16, enabled=self.mixed, cache_enabled=False):
            scores = self.forward(own.values)
        losses = self.loss.losses(whole_precision(scores), own.target)
        # Why the weight: filler rows have none, whatever comes out for them.
        loss = (own.weight * losses).sum() * n_ranks / total
        penalty = sum((part.penalty() for part in self.penalised), start=torch.zeros((), device=self.device))
        (loss + penalty).backward()  # type: ignore[no-untyped-call]
        torch.nn.utils.clip_grad_norm_(self.parameters, self.options.clip)
        self.optimizer.step()
        with torch.no_grad():
            torch._foreach_lerp_(self.averages, list[Tensor](self.parameters), 1 - self.keep)
            self.loss_sum += loss.detach() / n_ranks

    def _on_the_way_to_a_graph(self) -> None:
        """The first steps run eagerly, beside the main stream as capturing asks for; the next one is captured."""
        if self.n_done < EAGER_STEPS:
            stream = torch.cuda.Stream(self.device)  # type: ignore[no-untyped-call]
            stream.wait_stream(torch.cuda.current_stream(self.device))
            with torch.cuda.stream(stream):
                self._run()
            torch.cuda.current_stream(self.device).wait_stream(stream)
            return
        graph = torch.cuda.CUDAGraph()
        try:
            with torch.cuda.graph(graph):
                self._run()
        except torch.OutOfMemoryError:
            raise
        except RuntimeError as error:
            self.may_capture = False
            self.how = f"eager (not captured: {str(error).splitlines()[0]})"
            torch.cuda.synchronize(self.device)
            self._run()
            return
        self.graph, self.how = graph, "CUDA graph"
        graph.replay()

    def mean_loss(self, n_steps: int) -> float:
        """Of this epoch's steps; the one moment an epoch waits for the device."""
        if _n_ranks() > 1:
            torch.distributed.all_reduce(self.loss_sum)
        return float(self.loss_sum) / n_steps

    @torch.no_grad()
    def write_average(self, averaged: nn.Module) -> None:
        """The average of the weights so far into another network of the same kind."""
        share = 1 - self.keep**self.n_done
        into = list(averaged.parameters())
        for parameter, average in zip(_of(into, self.network), self.averages, strict=True):
            parameter.copy_(average / share)


@dataclass(frozen=True)
class Best:
    """The best epoch so far and its weights."""

    epoch: int
    key: tuple[float, float]
    weights: dict[str, Tensor]

    @classmethod
    def none(cls, network: nn.Module) -> "Best":
        return cls(0, (-math.inf, -math.inf), {})

    def is_old(self, epoch: int, patience: int | None) -> bool:
        """Whether nothing got better for ``patience`` epochs."""
        return patience is not None and epoch - self.epoch >= patience and math.isfinite(self.key[1])

    def or_better(self, report: EpochReport, network: nn.Module) -> "Best":
        """This or the new one: the higher score wins, then the lower loss; without validation rows, the last."""
        if report.validation_loss is None:
            key = (0.0, -math.inf)
        else:
            key = (-math.inf if report.score is None else report.score, -report.validation_loss)
        if self.epoch > 0 and report.validation_loss is not None and key <= self.key:
            return self
        weights = {name: parameter.detach().clone() for name, parameter in network.named_parameters()}
        return Best(report.epoch, key, weights)

    @torch.no_grad()
    def write(self, network: nn.Module) -> None:
        for name, parameter in network.named_parameters():
            parameter.copy_(self.weights[name])


@torch.no_grad()
def judge(network: nn.Module, valid: Rows, loss: Loss) -> tuple[float, float | None]:
    """Mean loss and score on validation rows."""
    with fixed_tables(network):
        scores = torch.cat([whole_precision(part) for part in scores_of(network, valid.values, JUDGED_ROWS)])
    losses = loss.losses(scores, valid.target).double()
    mean = float((valid.weight.double() * losses).sum() / valid.weight.double().sum())
    return mean, loss.score(loss.predict(scores), valid.target, valid.weight) if math.isfinite(mean) else None


def whole_precision(scores: Tensor) -> Tensor:
    """Scores as losses need them: not in half precision."""
    return scores if scores.dtype == torch.float64 else scores.float()


def learning_rate(step: int, n_steps: int, options: TrainingOptions) -> float:
    """A straight line up, then half a cosine down to zero."""
    warm_up = max(1, round(options.warm_up * n_steps))
    if step < warm_up:
        return options.learning_rate * (step + 1) / warm_up
    done = (step - warm_up) / max(1, n_steps - warm_up)
    return options.learning_rate * 0.5 * (1 + math.cos(math.pi * done))


def keep_of(n_steps: int, options: TrainingOptions) -> float:
    """How much of the average of the weights stays at every step."""
    return 1 - 1 / min(LONGEST_AVERAGE, max(1.0, options.averaged * n_steps))


def decay_groups(network: nn.Module, weight_decay: float) -> list[dict[str, Any]]:
    """Matrices of the network decay; biases, rank-one members and everything in the embedding do not."""
    matrices, others = list[nn.Parameter](), list[nn.Parameter]()
    for name, parameter in network.named_parameters():
        decays = name.endswith("weight") and not name.startswith("embedding.")
        (matrices if decays else others).append(parameter)
    groups = [{"params": matrices, "weight_decay": weight_decay}, {"params": others, "weight_decay": 0.0}]
    return [group for group in groups if group["params"]]


def _state(
    step: Step, best: Best, history: list[EpochReport], options: TrainingOptions
) -> tuple[dict[str, Tensor], dict[str, Any]]:
    """Everything the rest of the training depends on."""
    tensors = {f"best.{name}": weight for name, weight in best.weights.items()}
    for i, (parameter, average) in enumerate(zip(step.parameters, step.averages, strict=True)):
        tensors |= {f"weight.{i}": parameter, f"average.{i}": average}
        tensors |= {f"{name}.{i}": value for name, value in step.optimizer.state[parameter].items()}
    facts = {
        "n_done": step.n_done,
        "batch_size": options.batch_size,
        "best_epoch": best.epoch,
        "best_key": [None if math.isinf(number) else number for number in best.key],
        "history": [asdict(report) for report in history],
    }
    return tensors, facts


@torch.no_grad()
def _restore(checkpoint: Checkpoint, step: Step, averaged: nn.Module) -> tuple[list[EpochReport], Best]:
    assert checkpoint.found is not None
    tensors, facts = checkpoint.found
    for i, (parameter, average) in enumerate(zip(step.parameters, step.averages, strict=True)):
        parameter.copy_(tensors[f"weight.{i}"])
        average.copy_(tensors[f"average.{i}"])
        names = ("step", "exp_avg", "exp_avg_sq")
        step.optimizer.state[parameter] = {name: tensors[f"{name}.{i}"].to(step.device) for name in names}
    step.n_done = facts["n_done"]
    key = [-math.inf if number is None else number for number in facts["best_key"]]
    weights = {name: tensors[f"best.{name}"].to(step.device) for name, _ in averaged.named_parameters()}
    return [EpochReport(**report) for report in facts["history"]], Best(facts["best_epoch"], (key[0], key[1]), weights)


def _check_finite(
    epoch: int, options: TrainingOptions, loss: float, valid_loss: float | None, network: nn.Module
) -> None:
    whole = all(bool(torch.isfinite(parameter).all()) for parameter in network.parameters())
    if math.isfinite(loss) and (valid_loss is None or math.isfinite(valid_loss)) and whole:
        return
    raise DivergedError(
        f"epoch {epoch}: the loss is {loss:g} on training rows, {valid_loss} on validation rows: the training diverged "
        f"with learning_rate={options.learning_rate:g}, weight_decay={options.weight_decay:g}; pass a smaller "
        "learning_rate, or a smaller weight_decay or smoothness where these are large"
    )


def _of(parameters: list[nn.Parameter], network: nn.Module) -> list[nn.Parameter]:
    """Those that are trained in ``network``, which has the same ones."""
    trained = [parameter.requires_grad for parameter in network.parameters()]
    return [parameter for parameter, asked in zip(parameters, trained, strict=True) if asked]


def _seed(*parts: int) -> int:
    return int(np.random.SeedSequence(parts).generate_state(1)[0])


def _distributed() -> bool:
    return torch.distributed.is_available() and torch.distributed.is_initialized()


def _rank() -> int:
    return torch.distributed.get_rank() if _distributed() else 0


def _n_ranks() -> int:
    return torch.distributed.get_world_size() if _distributed() else 1
