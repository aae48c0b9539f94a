"""Soft-bin embeddings on the CPU beside their plain torch definition. ``python -m benchmarks.deep_cpu``.

First the answers: forward the same bits, gradients up to the order of their sums. Then times, ours and plain in turns,
all in one run. The lookup alone has a table of rows; the module as it comes (``basis="steps"``) sums its table first.
"""

import argparse
import json
import statistics
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
import torch
from torch import Tensor

from benchmarks.agreement import Disagreement
from benchmarks.measure import busy_cores, copy_speed, n_cores, say
from benchmarks.report import circumstances, markdown_table, met
from softbin import Boundaries, Grid
from softbin.deep import SoftBinEmbedding
from softbin.deep.lookup import IMPLEMENTATIONS

RESULTS = Path("docs/results")
BATCHES = (1, 32, 256, 1024, 16_384)
BINS = (10, 100, 10_000)
N_COLUMNS, DIM = 28, 16
FASTER_FROM = 1024  # rows; below, ours may not be slower
NOISE = 0.05  # ratios so close to one count as one
LEAST_SECONDS = 0.004  # of a single measurement: short work is repeated
Row = dict[str, Any]


class Way(NamedTuple):
    """One way to an embedding: how a table comes from what is trained, and how values are looked up in it."""

    table: Callable[[Tensor], Tensor]
    lookup: Callable[..., Tensor]


class Work(NamedTuple):
    """Something to be timed, ours and plain."""

    name: str
    ours: Way
    plain: Way


def make_embedding(n_bins: int) -> SoftBinEmbedding:
    """Knots at the quantiles of a normal sample, a missing level in every column."""
    random = np.random.default_rng(n_bins)
    columns = [np.unique(random.normal(size=n_bins + 1)) for _ in range(N_COLUMNS)]
    return SoftBinEmbedding(Grid(tuple(Boundaries(tuple(of), missing="level") for of in columns)), DIM, random_state=0)


def make_values(batch: int) -> Tensor:
    values = np.random.default_rng(batch).normal(size=(batch, N_COLUMNS)).astype(np.float32)
    values[np.random.default_rng(1).random(values.shape) < 0.02] = np.nan
    return torch.from_numpy(values)


def works(embedding: SoftBinEmbedding) -> list[Work]:
    assert embedding.steps is not None
    ours, plain = IMPLEMENTATIONS["compiled"], IMPLEMENTATIONS["definition"]
    lookup = Work("lookup", Way(lambda rows: rows, ours), Way(lambda rows: rows, plain))
    return [lookup, Work("module", Way(embedding.steps, ours), Way(embedding.steps.by_definition, plain))]


def forward(way: Way, embedding: SoftBinEmbedding, values: Tensor) -> Tensor:
    return way.lookup(embedding.locate, values, way.table(embedding.weight), None)


def gradient(way: Way, embedding: SoftBinEmbedding, values: Tensor, of_out: Tensor) -> Tensor:
    return torch.autograd.grad(forward(way, embedding, values), embedding.weight, of_out)[0]


def check(work: Work, embedding: SoftBinEmbedding, values: Tensor, of_out: Tensor) -> None:
    """The lookup gives the same bits; sums may run in another order, in a table of steps and in gradients."""
    ours, plain = (forward(way, embedding, values) for way in (work.ours, work.plain))
    tolerance = 0.0 if work.name == "lookup" else 1e-5
    if not torch.allclose(ours, plain, rtol=tolerance, atol=tolerance):
        raise Disagreement(f"{work.name}: embeddings differ by {float((ours - plain).abs().max()):g}")
    ours, plain = (gradient(way, embedding, values, of_out) for way in (work.ours, work.plain))
    if not torch.allclose(ours, plain, rtol=1e-3, atol=1e-4 * float(plain.abs().max())):
        raise Disagreement(f"{work.name}: gradients differ by {float((ours - plain).abs().max()):g}")


def in_turns(ours: Callable[[], Any], plain: Callable[[], Any], seconds: float) -> tuple[list[float], list[float]]:
    """Seconds per call of both, measured in turns for about so many seconds, seven times at least."""
    calls = max(1, round(LEAST_SECONDS / max(_seconds(plain, 3), 1e-7)))
    _seconds(ours, 3)
    taken: tuple[list[float], list[float]] = ([], [])
    end = time.perf_counter() + seconds
    while len(taken[0]) < 7 or time.perf_counter() < end:
        for what, into in zip((ours, plain), taken, strict=True):
            into.append(_seconds(what, calls))
    return taken


def measure(batches: tuple[int, ...], bins: tuple[int, ...], seconds: float, copying: float) -> Iterator[Row]:
    for n_bins in bins:
        embedding = make_embedding(n_bins)
        for batch in batches:
            values, of_out = make_values(batch), torch.randn(batch, N_COLUMNS, DIM)
            for work in works(embedding):
                say(f"{work.name}, {n_bins:,} bins, {batch:,} rows")
                check(work, embedding, values, of_out)
                yield _row(work, "forward", embedding, values, None, seconds, copying)
                yield _row(work, "forward and backward", embedding, values, of_out, seconds, copying)


def _row(
    work: Work, part: str, embedding: SoftBinEmbedding, values: Tensor, of_out: Tensor | None, seconds: float,
    copying: float,
) -> Row:  # fmt: skip
    def run(way: Way) -> Callable[[], Any]:
        if of_out is None:
            return torch.no_grad()(lambda: forward(way, embedding, values))
        return lambda: gradient(way, embedding, values, of_out)

    ours, plain = in_turns(run(work.ours), run(work.plain), seconds)
    faster = min(statistics.median(plain) / statistics.median(ours), min(plain) / min(ours))
    batch = len(values)
    target = 1.0 + NOISE if batch >= FASTER_FROM else 1.0 - NOISE
    return {
        "work": work.name, "part": part, "bins": embedding.plan.grid[0].n_bins, "batch": batch,
        "ours": statistics.median(ours), "ours_best": min(ours), "plain": statistics.median(plain),
        "plain_best": min(plain), "faster": faster, "met": faster >= target,
        "floor": n_bytes(work, embedding, batch, of_out is not None) / copying,
    }  # fmt: skip


def n_bytes(work: Work, embedding: SoftBinEmbedding, batch: int, backward: bool) -> int:
    """Bytes that must be moved: values in, embeddings out, and of the table what is read, or all where it is summed.

    Backwards, the values and gradients again, and a gradient as large as the table.
    """
    summed, table = work.name == "module", 4 * embedding.weight.numel()
    fields, numbers = batch * N_COLUMNS, 4 * batch * N_COLUMNS * DIM
    there = 4 * fields + numbers + (2 * table if summed else min(table, 2 * numbers))
    return there + (4 * fields + numbers + (2 if summed else 1) * table if backward else 0)


def _seconds(what: Callable[[], Any], calls: int) -> float:
    start = time.perf_counter()
    for _ in range(calls):
        what()
    return (time.perf_counter() - start) / calls


def markdown(outcome: dict[str, Any]) -> str:
    """The report."""
    about = outcome["circumstances"]
    machine = about["machine"]
    parts = [
        "# Embeddings on the CPU",
        "Written by a command, not by hand. Before they were timed, both ways were checked to give the same answers.",
        f"- command: `{about['command']}`, {about['date']}, commit {about['commit']}\n"
        f"- machine: {machine['cpu']}, {machine['cores']} cores, {machine['memory_gib']} GiB, {machine['system']}; "
        f"torch {outcome['torch']} with {outcome['threads']} threads\n"
        "- cores that other processes kept busy before and after: "
        + " and ".join(f"{busy:.1f}" for busy in outcome["busy_cores"])
        + f"\n- {N_COLUMNS} float32 columns, 2 % missing, embeddings of {DIM} numbers",
    ]
    titles = {
        "lookup": "## Lookup\n\nFrom values and a table of rows to embeddings.",
        "module": '## Module\n\n`SoftBinEmbedding` as it comes (`basis="steps"`): its table is summed first.',
    }
    for work, title in titles.items():
        rows = [
            [
                f"{row['bins']:,}", f"{row['batch']:,}", row["part"], _micro(row["floor"]), _micro(row["ours"]),
                _micro(row["plain"]), f"**{row['faster']:.2f}x**", met(row["met"]),
            ]
            for row in outcome["rows"]
            if row["work"] == work
        ]  # fmt: skip
        head = ["bins", "rows", "work", "floor", "softbin", "plain torch", "faster", "met"]
        parts += [title, markdown_table(head, rows)]
    parts.append(
        "Microseconds, medians. *Plain torch* is the definition: `searchsorted`, two gathers and a sum (and a `cumsum` "
        f"over a table of steps). *Floor*: the bytes that must be moved, at {outcome['copy_gb_per_s']:.1f} GB/s, the "
        "copying speed of this run; small batches stay in the caches. *Faster* is by medians or by best runs, "
        f"whichever is less. *Met*: not slower below {FASTER_FROM:,} rows and faster from there on, ratios within "
        f"{NOISE:.0%} of one counting as one."
    )
    return "\n\n".join(parts) + "\n"


def _micro(seconds: float) -> str:
    return f"{seconds * 1e6:,.1f}" if seconds < 1e-4 else f"{seconds * 1e6:,.0f}"


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--batches", type=int, nargs="+", default=BATCHES)
    parser.add_argument("--bins", type=int, nargs="+", default=BINS)
    parser.add_argument("--seconds", type=float, default=1.0, help="per line of the tables, at least")
    parser.add_argument("--out", type=Path, default=RESULTS)
    asked = parser.parse_args()
    torch.manual_seed(0)
    torch.set_num_threads(n_cores())
    busy = [busy_cores()]
    copying = copy_speed()
    rows = list(measure(tuple(asked.batches), tuple(asked.bins), asked.seconds, copying))
    say("")
    outcome = {
        "circumstances": circumstances(f"python -m benchmarks.deep_cpu --seconds {asked.seconds:g}"),
        "torch": torch.__version__,
        "threads": torch.get_num_threads(),
        "busy_cores": [*busy, busy_cores()],
        "copy_gb_per_s": copying / 1e9,
        "rows": rows,
    }
    asked.out.mkdir(parents=True, exist_ok=True)
    (asked.out / "deep_cpu.json").write_text(json.dumps(outcome, indent=1) + "\n", encoding="utf-8")
    (asked.out / "deep_cpu.md").write_text(markdown(outcome), encoding="utf-8")
    for row in rows:
        print(
            f"{row['work']:<8}{row['bins']:>7,} bins{row['batch']:>8,} rows, {row['part']:<21}"
            f"{row['faster']:6.2f}x: {met(row['met'])}"
        )


if __name__ == "__main__":
    main()
