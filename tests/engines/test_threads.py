"""Items over threads: order kept, sums complete, errors and interrupts passed on, threads counted."""

import threading
import time

import numpy as np
import pytest

from softbin.engines import threads
from softbin.engines.threads import count_threads, map_items, reduce_items
from softbin.errors import OptionError

each_count = pytest.mark.parametrize("n_threads", [1, 2, 3, 16])


@each_count
def test_results_come_in_the_order_of_the_items(n_threads):
    def slow_first(item):
        time.sleep(0.01 if item == 0 else 0)
        return item * item

    assert map_items(slow_first, iter(range(50)), n_threads) == [item * item for item in range(50)]
    assert map_items(slow_first, [], n_threads) == []


@each_count
def test_sums_hold_every_item_once(n_threads):
    def add(partial, item):
        partial += item

    total = reduce_items(
        lambda: np.zeros(3, int), add, lambda a, b: a + b, (np.full(3, i) for i in range(100)), n_threads
    )
    assert total.tolist() == [4950] * 3
    nothing = reduce_items(lambda: np.zeros(3, int), add, lambda a, b: a + b, [], n_threads)
    assert nothing.tolist() == [0, 0, 0]


@each_count
def test_an_error_reaches_the_caller_and_stops_the_rest(n_threads):
    done = []

    def fail(item):
        if item == 3:
            raise KeyError("third")
        time.sleep(0.001)
        done.append(item)

    with pytest.raises(KeyError, match="third"):
        map_items(fail, range(10_000), n_threads)
    assert len(done) < 9_000


def test_threads_run_side_by_side():
    barrier = threading.Barrier(2, timeout=10)
    assert map_items(lambda item: barrier.wait() >= 0, range(2), 2) == [True, True]


def test_an_interrupt_drops_what_has_not_started(monkeypatch):
    started = []

    def interrupt(futures, return_when):
        raise KeyboardInterrupt

    monkeypatch.setattr(threads, "wait", interrupt)

    def work(item):
        started.append(item)
        time.sleep(0.01)

    with pytest.raises(KeyboardInterrupt):
        map_items(work, range(1000), 2)
    assert len(started) < 100
    assert threading.active_count() < 20


def test_counts_of_threads(monkeypatch):
    monkeypatch.setattr(threads, "_cores", lambda: 8)
    monkeypatch.delenv("OMP_NUM_THREADS", raising=False)
    assert [count_threads(n) for n in (None, 1, 3, -1, -2, -100)] == [8, 1, 3, 8, 7, 1]
    monkeypatch.setenv("OMP_NUM_THREADS", "2")
    assert count_threads(None) == 2
    assert count_threads(5) == 5
    monkeypatch.setenv("OMP_NUM_THREADS", "junk")
    assert count_threads(None) == 8


@pytest.mark.parametrize("n_jobs", [0, True, 1.5, "2"])
def test_what_is_no_number_of_threads_is_refused(n_jobs):
    with pytest.raises(OptionError, match="n_jobs"):
        count_threads(n_jobs)
