"""Blocks over a pool of threads; kernels release the GIL, so the threads really run side by side.

``map_items`` keeps the order of its items, for results whose sum depends on it (floats).
``reduce_items`` lets every thread add into a partial of its own, for sums that do not (integers).
Ctrl-C reaches the caller at once: what has not started is dropped, what runs is one block long.
"""

import os
import threading
from collections.abc import Callable, Iterable
from concurrent.futures import FIRST_EXCEPTION, Future, ThreadPoolExecutor, wait
from functools import lru_cache
from typing import Any, TypeVar

import joblib
from threadpoolctl import ThreadpoolController

from softbin.errors import OptionError

Item = TypeVar("Item")
Result = TypeVar("Result")


@lru_cache(maxsize=1)
def _cores() -> int:
    return int(joblib.cpu_count())


def count_threads(n_jobs: int | None) -> int:
    """Threads for ``n_jobs``: None is every core (or OMP_NUM_THREADS, which joblib sets in its workers)."""
    if n_jobs is None:
        limit = os.environ.get("OMP_NUM_THREADS", "")
        return min(_cores(), int(limit)) if limit.isdigit() and int(limit) > 0 else _cores()
    if isinstance(n_jobs, bool) or not hasattr(n_jobs, "__index__") or n_jobs == 0:
        raise OptionError(f"n_jobs: {n_jobs!r} is not a number of threads; pass None, 1, 2, ... or -1 for all")
    count = int(n_jobs)
    return count if count > 0 else max(1, _cores() + 1 + count)


def map_items(function: Callable[[Item], Result], items: Iterable[Item], n_threads: int) -> list[Result]:
    """``function`` of every item, in the order of the items."""
    items = list(items)
    n_threads = min(n_threads, len(items))
    if n_threads <= 1:
        return [function(item) for item in items]
    results: dict[int, Result] = {}

    def run(work: "_Shared[tuple[int, Item]]") -> None:
        for position, item in work:
            results[position] = function(item)

    _run_threads(run, enumerate(items), n_threads)
    return [results[position] for position in range(len(items))]


def reduce_items(
    empty: Callable[[], Result],
    add: Callable[[Result, Item], None],
    merge: Callable[[Result, Result], Result],
    items: Iterable[Item],
    n_threads: int,
) -> Result:
    """All items added up; ``add`` changes the partial it is given, ``merge`` returns the sum of two."""
    partials: list[Result] = []

    def run(work: Iterable[Item]) -> None:
        partial = empty()
        for item in work:
            add(partial, item)
        partials.append(partial)

    if n_threads <= 1:
        run(items)
    else:
        _run_threads(run, items, n_threads)
    total = partials[0]
    for partial in partials[1:]:
        total = merge(total, partial)
    return total


def one_blas_thread() -> Any:
    """A context in which linear algebra runs on one thread: the same bits on any number of cores.

    Why also: beside our own threads, those of a BLAS wait for each other 0.2 s over a matrix that takes a millisecond.
    """
    return _blas().limit(limits=1, user_api="blas")


@lru_cache(maxsize=1)
def _blas() -> ThreadpoolController:
    return ThreadpoolController()


class _Shared(Iterable[Item]):
    """One iterator that several threads take items from, until it ends or is stopped."""

    def __init__(self, items: Iterable[Item]) -> None:
        self._items = iter(items)
        self._lock = threading.Lock()
        self.stopped = False

    def __iter__(self) -> "_Shared[Item]":
        return self

    def __next__(self) -> Item:
        with self._lock:
            if self.stopped:
                raise StopIteration
            return next(self._items)


def _run_threads(run: Callable[[_Shared[Item]], None], items: Iterable[Item], n_threads: int) -> None:
    work = _Shared(items)
    with ThreadPoolExecutor(n_threads, thread_name_prefix="softbin") as pool:
        futures: list[Future[None]] = []
        try:
            futures += [pool.submit(run, work) for _ in range(n_threads)]
            wait(futures, return_when=FIRST_EXCEPTION)
        finally:
            work.stopped = True
    for future in futures:
        future.result()
