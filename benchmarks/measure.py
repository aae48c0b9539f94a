"""Time, memory and memory speed, measured the same way for everybody."""

import gc
import os
import resource
import statistics
import sys
import time
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

from benchmarks.tables import Matrix

Timed = Callable[[], object]


@dataclass(frozen=True)
class Work:
    """One operation, ours and a peer's. ``ours`` and ``peer`` prepare what is not timed and return what is."""

    name: str
    peer_name: str
    target: float  # at least this many times faster per row
    check: Callable[[Matrix], None]  # raises Disagreement
    checked_rows: int  # as many of the rows are checked
    ours: Callable[[Matrix, int | None], Timed]  # with n_jobs
    peer: Callable[[Matrix], Timed]
    peer_share: float  # of the rows: a slow peer gets fewer
    n_bytes: Callable[[Matrix], int]  # read once and written once


@dataclass(frozen=True)
class Times:
    """Seconds of several runs over ``rows`` rows; ``system``, what the operating system took of them (all cores)."""

    rows: int
    seconds: tuple[float, ...]
    system: tuple[float, ...]

    @property
    def median(self) -> float:
        return statistics.median(self.seconds)

    @property
    def best(self) -> float:
        return min(self.seconds)

    def per_million(self, seconds: float) -> float:
        """Seconds as seconds per a million rows."""
        return seconds / self.rows * 1e6

    def to_dict(self) -> dict[str, Any]:
        return {
            "rows": self.rows,
            "seconds": self.seconds,
            "system_seconds": self.system,
            "median_per_million_rows": self.per_million(self.median),
            "best_per_million_rows": self.per_million(self.best),
        }


def times(timed: dict[str, tuple[Timed, int, int]], n_bytes: int) -> dict[str, Times]:
    """Seconds for each ``name: (what, rows, repeats)``. One run each is warm-up; then they take turns.

    Before every run, whoever's, ``n_bytes`` of memory are written to and freed again. Why: a virtual machine gets pages
    from its host when they are first written to, at many times the cost of writing itself, and at random moments.
    """
    runs: dict[str, list[tuple[float, float]]] = {name: [] for name in timed}
    for what, _, _ in timed.values():
        what()
    for turn in range(max(repeats for _, _, repeats in timed.values())):
        for name, (what, _, repeats) in timed.items():
            if turn < repeats:
                np.ones(n_bytes, np.uint8)
                runs[name].append(_seconds(what))
    return {name: Times(timed[name][1], *zip(*taken, strict=True)) for name, taken in runs.items()}


def times_faster(ours: Times, peer: Times) -> float:
    """Rows per second of ours over the peer's: by the medians or by the best runs, whichever is less."""
    return min(
        peer.per_million(peer.median) / ours.per_million(ours.median),
        peer.per_million(peer.best) / ours.per_million(ours.best),
    )


def _seconds(what: Timed) -> tuple[float, float]:
    """Seconds that ``what`` takes, and the operating system's share (page faults, mostly)."""
    gc.collect()
    system = resource.getrusage(resource.RUSAGE_SELF).ru_stime
    start = time.perf_counter()
    result = what()
    taken = time.perf_counter() - start
    system = resource.getrusage(resource.RUSAGE_SELF).ru_stime - system
    del result
    return taken, system


def copy_speed(n_bytes: int = 2**29, repeats: int = 7) -> float:
    """Bytes read plus bytes written, per second, of the best of several copies by all cores."""
    source, target = np.ones(n_bytes, np.uint8), np.ones(n_bytes, np.uint8)
    cores = n_cores()
    cuts = np.linspace(0, n_bytes, cores + 1).astype(int)

    def copy(part: int) -> None:
        rows = slice(cuts[part], cuts[part + 1])
        np.copyto(target[rows], source[rows])

    with ThreadPoolExecutor(cores) as pool:
        best = min(_seconds(lambda: list(pool.map(copy, range(cores))))[0] for _ in range(repeats))
    return 2 * n_bytes / best


def n_cores() -> int:
    """Cores this process may use."""
    return len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1


def busy_cores(seconds: float = 2) -> float:
    """Cores that others keep busy while this process sleeps: what they take, the timed work does not get."""
    import psutil

    return float(psutil.cpu_percent(interval=seconds)) / 100 * (psutil.cpu_count() or 1)


def memory_now() -> int:
    """Resident bytes of this process."""
    import psutil

    return int(psutil.Process().memory_info().rss)


def memory_peak() -> int:
    """The most resident bytes this process has had."""
    # Why not ru_maxrss on Linux: a new program inherits the peak of the process that started it.
    status = Path("/proc/self/status")
    if status.exists():
        for line in status.read_text().splitlines():
            if line.startswith("VmHWM:"):
                return int(line.split()[1]) * 1024
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * (1 if sys.platform == "darwin" else 1024)


def say(text: str) -> None:
    """What is going on now, on stderr: one line that replaces itself, or one line each where nobody watches."""
    if sys.stderr.isatty():
        print(f"\r\033[K{text}", end="", file=sys.stderr, flush=True)
    elif text:
        print(text, file=sys.stderr, flush=True)
