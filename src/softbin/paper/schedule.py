"""Cells over processes: each is computed and written where it ran, so that whoever is killed loses only what ran.

With one job everything runs in this process. Workers end when this process does, whatever ends it.
"""

import multiprocessing
import os
import threading
import time
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import FIRST_COMPLETED, Future, ProcessPoolExecutor, wait
from concurrent.futures.process import BrokenProcessPool
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path

from softbin.engines.threads import count_threads
from softbin.errors import RunError
from softbin.paper.cells import Cell
from softbin.paper.run_cell import run_cell
from softbin.paper.samples import Sample
from softbin.paper.store import Store


@dataclass
class Progress:
    """How far a run is: what a display shows. ``failed`` maps labels of cells to errors."""

    total: int
    done: int = 0
    running: list[str] = field(default_factory=list)
    seconds_left: float | None = None
    failed: dict[str, str] = field(default_factory=dict)


Watch = Callable[[Progress], None]


@dataclass(frozen=True)
class Work:
    """What a worker needs to know to compute cells."""

    samples: dict[str, Sample]
    root: Path
    device: str
    n_jobs: int | None


def compute(cell: Cell, work: Work) -> float:
    """Computes and stores a cell; returns seconds."""
    began = time.perf_counter()
    report, scores = run_cell(cell, work.samples[cell.data], work.device, work.n_jobs)
    Store(work.root).write(cell, report, scores)
    return time.perf_counter() - began


def run_cells(cells: Sequence[Cell], work: Work, jobs: int, watch: Watch) -> Progress:
    """Computes the cells that are not done. A cell that fails is named at the end; the others go on."""
    store = Store(work.root)
    work.root.mkdir(parents=True, exist_ok=True)
    store.sweep()
    todo = [cell for cell in cells if not store.is_done(cell)]
    progress = Progress(len(cells), len(cells) - len(todo))
    watch(progress)
    if todo:
        clock = Clock(todo, min(jobs, len(todo)))
        (_run_here if jobs == 1 else _run_apart)(todo, work, jobs, progress, clock, watch)
    return progress


class Clock:
    """Guesses what is left from what cells of the same model and share took, or of the same model, or any."""

    def __init__(self, todo: Sequence[Cell], jobs: int) -> None:
        self.left, self.jobs = list(todo), jobs
        self.seen: list[tuple[Cell, float]] = []

    def finished(self, cell: Cell, seconds: float | None) -> float | None:
        """Seconds that are left; None while nobody can know."""
        self.left.remove(cell)
        if seconds is not None:
            self.seen.append((cell, seconds))
        if not self.seen:
            return None
        return sum(self._guess(other) for other in self.left) / self.jobs

    def _guess(self, cell: Cell) -> float:
        alike = [s for c, s in self.seen if (c.model, c.share) == (cell.model, cell.share)]
        # Why the root: part of a cell's time grows with its rows, part of it does not.
        alike = alike or [s * (cell.share / c.share) ** 0.5 for c, s in self.seen if c.model == cell.model]
        alike = alike or [s for _, s in self.seen]
        return sum(alike) / len(alike)


def _run_here(todo: Sequence[Cell], work: Work, jobs: int, progress: Progress, clock: Clock, watch: Watch) -> None:
    for cell in todo:
        progress.running = [cell.label]
        watch(progress)
        seconds = None
        try:
            seconds = compute(cell, work)
            progress.done += 1
        except Exception as error:  # Why all: one cell's failure is no reason to lose the others.
            progress.failed[cell.label] = f"{type(error).__name__}: {error}"
        progress.seconds_left = clock.finished(cell, seconds)
    progress.running = []
    watch(progress)


def _run_apart(todo: Sequence[Cell], work: Work, jobs: int, progress: Progress, clock: Clock, watch: Watch) -> None:
    waiting = iter(todo)
    running: dict[Future[float], Cell] = {}
    spawn = multiprocessing.get_context("spawn")
    with _threads_each(max(1, count_threads(None) // jobs)), ProcessPoolExecutor(jobs, spawn, _follow_parent) as pool:
        try:
            while True:
                for cell in waiting:
                    running[pool.submit(compute, cell, work)] = cell
                    if len(running) == jobs:
                        break
                if not running:
                    break
                progress.running = [cell.label for cell in running.values()]
                watch(progress)
                finished, _ = wait(running, return_when=FIRST_COMPLETED)
                for future in finished:
                    cell, error = running.pop(future), future.exception()
                    if isinstance(error, BrokenProcessPool):
                        raise error
                    if error is None:
                        progress.done += 1
                    else:
                        progress.failed[cell.label] = f"{type(error).__name__}: {error}"
                    progress.seconds_left = clock.finished(cell, None if error else future.result())
        except BrokenProcessPool:
            raise RunError(
                f"a process that computed {' or '.join(progress.running)} was killed, perhaps for memory; what is done "
                "is kept: run again, with fewer jobs or fewer rows"
            ) from None
        except BaseException:
            _end(pool)
            raise
    progress.running = []
    watch(progress)


def _end(pool: ProcessPoolExecutor) -> None:
    """Ends workers at once: what they compute is not needed, and a cell may take minutes."""
    for process in list((pool._processes or {}).values()):
        process.terminate()
    pool.shutdown(cancel_futures=True)


def _follow_parent() -> None:
    """In a worker: ends it when the process that started it is gone."""
    parent = multiprocessing.parent_process()
    assert parent is not None

    def watch() -> None:
        parent.join()
        os._exit(1)

    threading.Thread(target=watch, daemon=True).start()


@contextmanager
def _threads_each(count: int) -> Iterator[None]:
    """Workers started in this block use so many threads each: joblib's, ours, torch's and BLAS's."""
    names = ("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS")
    before = {name: os.environ.get(name) for name in names}
    os.environ.update(dict.fromkeys(names, str(count)))
    try:
        yield
    finally:
        for name, value in before.items():
            if value is None:
                os.environ.pop(name)
            else:
                os.environ[name] = value
