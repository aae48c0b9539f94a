"""Networks on bins on a GPU: the training step, the embedding alone, and what they are compared with.

``python -m benchmarks.deep_gpu``. First every way to the same answer is checked; then all are timed, taking turns
in one run. Beside each figure stands a floor: the operations it cannot do without at the measured rate of a large
product of matrices, or the bytes it cannot do without at the measured speed of a copy, whichever takes longer.
"""

import argparse
import datetime
import importlib.metadata
import json
import os
import statistics
import subprocess
import sys
import time
from collections.abc import Callable
from functools import cache
from pathlib import Path
from typing import Any

import numpy as np
import torch
from torch import Tensor, nn

from benchmarks.agreement import Disagreement
from softbin.boundaries import Boundaries, Grid
from softbin.deep import PiecewiseLinearEmbedding, SoftBinEmbedding
from softbin.deep.kernels.fused_step import FusedStep
from softbin.deep.lookup import by_definition, implementation
from softbin.deep.losses import LOSSES
from softbin.deep.network import Network, Perceptron
from softbin.deep.rows import Resident, Rows
from softbin.deep.training import Step, TrainingOptions

N_COLUMNS, N_BINS, DIM, WIDTH, DEPTH, BATCH = 28, 10, 16, 512, 3, 16_384
ROWS = 10_500_000
MANY_BINS = 10_000
LARGE_BATCH = 262_144
RESULTS = Path("docs/results")
Outcome = dict[str, Any]


def main(arguments: list[str] | None = None) -> int:
    options = argparse.ArgumentParser(prog="python -m benchmarks.deep_gpu", description=__doc__)
    options.add_argument("--rows", type=int, default=ROWS, help=f"rows of the table (default {ROWS:,})")
    options.add_argument("--rounds", type=int, default=5, help="turns that everybody takes (default 5)")
    options.add_argument("--steps", type=int, default=100, help="training steps in a turn (default 100)")
    options.add_argument("--out", type=Path, default=RESULTS, help=f"folder of the results (default {RESULTS})")
    asked = options.parse_args(arguments)
    if not torch.cuda.is_available():
        print("Not timed: torch sees no GPU here.", file=sys.stderr)
        return 1
    try:
        outcome = run(asked.rows, asked.rounds, asked.steps)
    except Disagreement as difference:
        print(f"Not timed: {difference}", file=sys.stderr)
        return 1
    asked.out.mkdir(parents=True, exist_ok=True)
    (asked.out / "deep_gpu.json").write_text(json.dumps(outcome, indent=1) + "\n", encoding="utf-8")
    (asked.out / "deep_gpu.md").write_text(markdown(outcome), encoding="utf-8")
    print(markdown(outcome))
    return 0


def run(n_rows: int, rounds: int, steps: int) -> Outcome:
    device = torch.device("cuda")
    checked = check(device)
    ceilings = measure_ceilings(device)
    torch.manual_seed(0)
    values = torch.randn(n_rows, N_COLUMNS, device=device)
    rows = Rows(values, (values[:, 0] > values[:, 1]).float(), torch.ones(n_rows, device=device))
    found = {
        "about": circumstances(n_rows, rounds, steps),
        "checked": checked,
        "ceilings": ceilings,
        "steps": time_steps(rows, rounds, steps, device),
        "epoch_seconds": time_epoch(rows, device),
        "embedding": [
            time_embedding(batch, n_bins, ceilings, device)
            for batch in (BATCH, LARGE_BATCH)
            for n_bins in (N_BINS, 100, MANY_BINS)
        ],
    }
    return {**found, "targets": targets(found)}


# What is compared


class EagerLookup(nn.Module):
    """The usual few lines: bucketize every column, gather two rows, mix them."""

    def __init__(self, source: SoftBinEmbedding) -> None:
        super().__init__()
        self.weight = nn.Parameter(source.weight.detach().clone())
        edges = np.array([b.edges for b in source.plan.grid], dtype=np.float32)
        self.register_buffer("edges", torch.as_tensor(edges))
        self.register_buffer("start", torch.as_tensor(source.plan.level_start[:-1]))

    def forward(self, x: Tensor) -> Tensor:
        inner = self.edges[:, 1:-1].contiguous()
        k = torch.stack([torch.bucketize(x[:, j].contiguous(), inner[j], right=True) for j in range(x.shape[1])], 1)
        left, right = self.edges.gather(1, k.T).T, self.edges.gather(1, k.T + 1).T
        fraction = ((x - left) / (right - left)).clamp(0, 1)[..., None]
        rows = k + self.start
        # Why embedding() and not weight[rows]: the gradient of that takes 20 ms here.
        below, above = nn.functional.embedding(rows, self.weight), nn.functional.embedding(rows + 1, self.weight)
        return (1 - fraction) * below + fraction * above


@cache
def grid_of(n_bins: int) -> Grid:
    values = np.random.default_rng(0).normal(size=(N_COLUMNS, 200_000))
    cuts = np.quantile(values, np.linspace(0, 1, n_bins + 1), axis=1).T
    return Grid(tuple(Boundaries(tuple(np.unique(of))) for of in cuts))


def peer_of(grid: Grid) -> tuple[str, nn.Module]:
    """rtdl_num_embeddings where it is installed, else our own PLE from its formula."""
    try:
        import rtdl_num_embeddings as rtdl
    except ImportError:
        return "softbin's own PLE (rtdl_num_embeddings is not installed)", PiecewiseLinearEmbedding(grid, DIM)
    bins = [torch.tensor(b.edges, dtype=torch.float32) for b in grid]
    return "rtdl_num_embeddings", rtdl.PiecewiseLinearEmbeddings(bins, DIM, activation=False, version="B")


def network(embedding: nn.Module, device: torch.device, dropout: float = 0.1) -> Network:
    torch.manual_seed(0)
    shape = {"width": WIDTH, "depth": DEPTH, "dropout": dropout, "residual": True, "ensemble": 1}
    return Network(embedding, Perceptron(N_COLUMNS, DIM, 1, **shape)).to(device).train()


# Answers


def check(device: torch.device) -> Outcome:
    """Raises Disagreement where two ways to the same answer differ by more than rounding."""
    found = {}
    for n_bins in (N_BINS, MANY_BINS):
        embedding = SoftBinEmbedding(grid_of(n_bins), DIM, init="random", basis="rows", random_state=0).to(device)
        values = torch.randn(BATCH, N_COLUMNS, device=device)
        if implementation(embedding.locate, values, embedding.weight) != "triton":
            raise Disagreement("the Triton kernels do not run here")
        exact = embedding.weight.detach().double().requires_grad_()
        wanted = by_definition(embedding.locate, values, exact, None)
        grad = torch.randn_like(wanted)
        (wanted_grad,) = torch.autograd.grad(wanted, exact, grad)
        outs = [embedding(values) for _ in range(3)]
        grads = [torch.autograd.grad(out, embedding.weight, grad.float())[0] for out in outs]
        if not all(torch.equal(grads[0], other) for other in grads):
            raise Disagreement(f"gradients of {n_bins} bins differ from run to run")
        found[f"embedding, {n_bins} bins"] = _agree(outs[0], wanted, 1e-6)
        found[f"gradient of the table, {n_bins} bins"] = _agree(grads[0], wanted_grad, 1e-5)
    embedding = SoftBinEmbedding(grid_of(N_BINS), DIM, init="random", basis="rows", random_state=0).to(device)
    inside = torch.rand(1000, N_COLUMNS, device=device) * 4 - 2
    eager = EagerLookup(embedding).to(device)
    found["eager bucketize + gather"] = _agree(eager(inside), embedding(inside), 1e-5)
    name, peer = peer_of(embedding.plan.grid)
    if name == "rtdl_num_embeddings":
        table = embedding.weight.detach().view(N_COLUMNS, N_BINS + 1, DIM)
        with torch.no_grad():
            peer.to(device).linear0.weight.zero_()
            peer.linear0.bias.copy_(table[:, 0])
            peer.linear.weight.copy_(table.diff(dim=1))
        found["rtdl_num_embeddings given the same function"] = _agree(peer(inside), embedding(inside), 1e-5)
    found["one training step, gradients (bfloat16)"] = _check_step(device)
    return found


def _check_step(device: torch.device) -> float:
    """FusedStep beside Step, one step without dropout: the relative error of the first moments."""
    values = torch.randn(BATCH, N_COLUMNS, device=device)
    rows = Rows(values, (values[:, 0] > 0).float(), torch.rand(BATCH, device=device) + 0.5)
    moments = []
    for kind in (Step, FusedStep):
        net = network(SoftBinEmbedding(grid_of(N_BINS), DIM, random_state=0), device, dropout=0.0)
        step = _step(kind, net, rows)
        step(torch.arange(BATCH, device=device), 1e-3)
        found = [step.optimizer.state[parameter]["exp_avg"].flatten() for parameter in net.parameters()]
        moments.append(torch.cat(found))
    return _agree(moments[1], moments[0], 0.02)


def _agree(got: Tensor, wanted: Tensor, tolerance: float) -> float:
    error = float((got.detach().double() - wanted.detach().double()).norm() / wanted.detach().double().norm())
    if not error <= tolerance:
        raise Disagreement(f"relative error {error:.2g}, more than {tolerance:g}")
    return error


# Times


def measure_ceilings(device: torch.device) -> Outcome:
    source = torch.randn(2**28, device=device)
    target = torch.empty_like(source)
    copied = 2 * source.numel() * 4 / _graph_seconds(lambda: target.copy_(source), 4)
    a, b = (torch.randn(8192, 8192, device=device, dtype=torch.bfloat16) for _ in range(2))
    return {"copy_bytes_per_s": copied, "bf16_flops_per_s": 2 * 8192**3 / _graph_seconds(lambda: a @ b, 4)}


def time_steps(rows: Rows, rounds: int, steps: int, device: torch.device) -> list[Outcome]:
    """Rows per second of every kind of step; all take turns."""
    soft = lambda n_bins=N_BINS: network(SoftBinEmbedding(grid_of(n_bins), DIM, random_state=0), device)  # noqa: E731
    name, _ = peer_of(grid_of(N_BINS))
    peer = lambda: network(peer_of(grid_of(N_BINS))[1], device)  # noqa: E731
    eager = lambda: network(EagerLookup(SoftBinEmbedding(grid_of(N_BINS), DIM, random_state=0)), device)  # noqa: E731
    made: dict[str, Callable[[], Step]] = {
        "FusedStep": lambda: _step(FusedStep, soft(), rows),
        f"FusedStep, {MANY_BINS:,} bins": lambda: _step(FusedStep, soft(MANY_BINS), rows),
        "Step, Triton lookup, CUDA graph": lambda: _step(Step, soft(), rows),
        "Step, Triton lookup, torch.compile + CUDA graph": lambda: _step(Step, soft(), rows, compiled=True),
        f"{name}, CUDA graph": lambda: _step(Step, peer(), rows),
        f"{name}, torch.compile + CUDA graph": lambda: _step(Step, peer(), rows, compiled=True),
        "eager bucketize + gather": lambda: _step(Step, eager(), rows, graph=False),
        "bucketize + gather, CUDA graph": lambda: _step(Step, eager(), rows),
    }
    order = torch.randperm(len(rows), device=device)[: BATCH * steps].split(BATCH)
    ready: dict[str, Step] = {}
    for label, make in made.items():
        print(f"warming up: {label}", file=sys.stderr, flush=True)
        ready[label] = make()
        for batch in order[:8]:
            ready[label](batch, 1e-3)
    taken: dict[str, list[float]] = {label: [] for label in made}
    for _ in range(rounds):
        for label, step in ready.items():
            n = max(10, steps // 5) if step.graph is None else steps
            taken[label].append(_seconds(lambda step=step, n=n: [step(batch, 1e-3) for batch in order[:n]]) / n)
    return [
        {
            "name": label,
            "how": ready[label].how,
            "seconds": taken[label],
            "median_us": statistics.median(taken[label]) * 1e6,
            "rows_per_s": BATCH / statistics.median(taken[label]),
        }
        for label in made
    ]


def time_epoch(rows: Rows, device: torch.device) -> list[float]:
    """Seconds of whole epochs, shuffling included."""
    source = Resident(rows, BATCH, device)
    net = network(SoftBinEmbedding(grid_of(N_BINS), DIM, random_state=0), device)
    step = _step(FusedStep, net, rows)

    def epoch(seed: int) -> None:
        for batch in source.epoch(seed):
            step(batch, 1e-3)

    epoch(0)
    return [_seconds(lambda seed=seed: epoch(seed)) for seed in (1, 2, 3)]


def time_embedding(batch: int, n_bins: int, ceilings: Outcome, device: torch.device) -> Outcome:
    """Forward and backward of the embedding alone, under autocast."""
    embedding = SoftBinEmbedding(grid_of(n_bins), DIM, init="random", basis="rows").to(device)
    values = torch.randn(batch, N_COLUMNS, device=device)
    grad = torch.randn(batch, N_COLUMNS, DIM, device=device, dtype=torch.bfloat16)

    def forward() -> Tensor:
        with torch.autocast("cuda", torch.bfloat16):
            return embedding(values)

    def both() -> object:
        return torch.autograd.grad(forward(), embedding.weight, grad)

    with torch.no_grad():
        forward_s = _graph_seconds(forward, 20)
    both_s = _graph_seconds(both, 20)
    # Values and the table are read each way, the embedding is written, its gradient read, the table's written.
    n_bytes = 2 * 4 * values.numel() + 2 * 2 * grad.numel() + 2 * 4 * embedding.weight.numel()
    floor = n_bytes / ceilings["copy_bytes_per_s"]
    return {
        "batch": batch, "bins": n_bins, "forward_us": forward_s * 1e6, "both_us": both_s * 1e6, "bytes": n_bytes,
        "floor_us": floor * 1e6, "ratio": both_s / floor,
    }  # fmt: skip


def _step(kind: type[Step], net: Network, rows: Rows, compiled: bool = False, graph: bool = True) -> Step:
    options = TrainingOptions(batch_size=BATCH, compile=compiled)
    device = rows.weight.device
    step = kind(net, _Held(rows), LOSSES["binary"], options, device, 0.99)
    step.may_capture = graph
    return step


class _Held:
    """Rows that stay on the device, as a step wants them."""

    name = "resident"

    def __init__(self, rows: Rows) -> None:
        self.held = rows


def _seconds(what: Callable[[], object]) -> float:
    torch.cuda.synchronize()
    start = time.perf_counter()
    what()
    torch.cuda.synchronize()
    return time.perf_counter() - start


def _graph_seconds(what: Callable[[], object], times: int, repeats: int = 15) -> float:
    """Seconds of one call, without the cost of launching it: the median of replays of a graph of several."""
    stream = torch.cuda.Stream()
    stream.wait_stream(torch.cuda.current_stream())
    with torch.cuda.stream(stream):
        for _ in range(3):
            what()
    torch.cuda.current_stream().wait_stream(stream)
    graph = torch.cuda.CUDAGraph()
    with torch.cuda.graph(graph):
        for _ in range(times):
            what()
    taken = []
    for _ in range(repeats):
        begin, end = (torch.cuda.Event(enable_timing=True) for _ in range(2))
        begin.record()
        graph.replay()
        end.record()
        torch.cuda.synchronize()
        taken.append(begin.elapsed_time(end) / 1e3 / times)
    return statistics.median(taken)


# What it comes to


def step_flops() -> int:
    """Operations per row that a step cannot do without: three products per matrix, two operations each."""
    return 3 * 2 * (N_COLUMNS * DIM * WIDTH + (DEPTH - 1) * WIDTH * WIDTH + WIDTH)


def targets(found: Outcome) -> list[Outcome]:
    speed = {row["name"]: row["rows_per_s"] for row in found["steps"]}
    ours = speed["FusedStep"]
    peer = max(rate for name, rate in speed.items() if name.startswith(("rtdl", "softbin's own")))
    alone = {(row["batch"], row["bins"]): row for row in found["embedding"]}

    def at_least(what: str, measured: float, target: float) -> Outcome:
        return {"what": what, "measured": measured, "target": f"at least {target:g}", "met": measured >= target}

    def at_most(what: str, measured: float, target: float) -> Outcome:
        return {"what": what, "measured": measured, "target": f"at most {target:g}", "met": measured <= target}

    return [
        at_least("training step, million rows per second", ours / 1e6, 40),
        at_most(f"one epoch of {found['about']['rows']:,} rows, seconds, shuffling included",
                statistics.median(found["epoch_seconds"]), 0.26),
        at_least("times faster than the peer at its best", ours / peer, 3),
        at_least("times faster than eager bucketize + gather", ours / speed["eager bucketize + gather"], 5),
        at_most(f"embedding alone / its floor, batch {BATCH:,}", alone[BATCH, N_BINS]["ratio"], 2),
        at_most(f"embedding alone / its floor, batch {LARGE_BATCH:,}", alone[LARGE_BATCH, N_BINS]["ratio"], 2),
        at_most(f"training step, time of {MANY_BINS:,} bins / {N_BINS} bins",
                ours / speed[f"FusedStep, {MANY_BINS:,} bins"], 1.5),
    ]  # fmt: skip


def circumstances(rows: int, rounds: int, steps: int) -> Outcome:
    return {
        "date": datetime.datetime.now(datetime.UTC).date().isoformat(),
        "command": f"python -m benchmarks.deep_gpu --rows {rows} --rounds {rounds} --steps {steps}",
        "commit": os.environ.get("SOFTBIN_COMMIT") or _commit(),
        "gpu": torch.cuda.get_device_name(),
        "rows": rows,
        "packages": {name: importlib.metadata.version(name) for name in ("torch", "triton", "numpy")},
    }


def _commit() -> str:
    try:
        asked = ["git", "rev-parse", "--short", "HEAD"]
        return subprocess.run(asked, check=True, capture_output=True, text=True).stdout.strip()
    except (OSError, subprocess.CalledProcessError):
        return "unknown"


def markdown(outcome: Outcome) -> str:
    about, ceilings = outcome["about"], outcome["ceilings"]
    copied, product = ceilings["copy_bytes_per_s"], ceilings["bf16_flops_per_s"]
    floor = step_flops() * BATCH / product * 1e6
    steps = [
        [row["name"], row["how"], f"{row['median_us']:,.0f}", f"{min(row['seconds']) * 1e6:,.0f}", f"{floor:.0f}",
         f"{row['rows_per_s'] / 1e6:.1f}"]
        for row in outcome["steps"]
    ]  # fmt: skip
    alone = [
        [f"{row['batch']:,}", f"{row['bins']:,}", f"{row['forward_us']:.1f}", f"{row['both_us']:.1f}",
         f"{row['bytes'] / 1e6:,.1f} MB", f"{row['floor_us']:.1f}", f"{row['ratio']:.2f}"]
        for row in outcome["embedding"]
    ]  # fmt: skip
    reached = [
        [row["what"], f"{row['measured']:.3g}", row["target"], "yes" if row["met"] else "NO"]
        for row in outcome["targets"]
    ]
    epochs = ", ".join(f"{seconds:.3f}" for seconds in outcome["epoch_seconds"])
    errors = [[name, f"{error:.1e}"] for name, error in outcome["checked"].items()]
    packages = ", ".join(f"{name} {version}" for name, version in about["packages"].items())
    parts = [
        "# Networks on bins on a GPU",
        f"Written by `{about['command']}` on {about['date']}, commit {about['commit']}: {about['gpu']}, {packages}. "
        f"{N_COLUMNS} columns, {N_BINS} bins, {DIM} coordinates, {DEPTH} x {WIDTH} with residuals and dropout, "
        f"bfloat16, batches of {BATCH:,} rows drawn from {about['rows']:,} on the device. A step is everything "
        "training does: gather, forward, backward, clipping, AdamW, the average of the weights.",
        f"Ceilings measured in this run: copy {copied / 1e12:.2f} TB/s (read plus written), product of 8,192 x 8,192 "
        f"matrices {product / 1e12:.0f} TFLOP/s. A step cannot do without {step_flops() / 1e6:.2f} million operations "
        "per row; the bytes of rows and parameters take less time than these.",
        "## Targets",
        _table(["what", "measured", "target", "met"], reached),
        "## Training steps",
        _table(["step", "how", "us (median)", "best", "floor", "million rows/s"], steps),
        f"All took turns. Whole epochs with `FusedStep`, shuffling on the device included: {epochs} s.",
        "## The embedding alone, forward and backward",
        _table(["batch", "bins", "forward us", "both us", "bytes", "floor us", "both / floor"], alone),
        "Replays of a CUDA graph. Bytes: values and table read each way, embeddings written, their gradient read, the "
        "table's gradient written.",
        "## Checked before anything was timed",
        _table(["answer", "relative error"], errors),
    ]
    return "\n\n".join(parts) + "\n"


def _table(head: list[str], rows: list[list[str]]) -> str:
    return "\n".join("| " + " | ".join(cells) + " |" for cells in [head, ["---"] * len(head), *rows])


if __name__ == "__main__":
    sys.exit(main())
