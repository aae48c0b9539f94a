"""Runs that are cut off: what is done is kept, what is half done is not counted, the rest is computed afterwards."""

import json
import os
import signal
import subprocess
import sys
import time

import numpy as np
import pytest
from tests.paper.small import CELLS, cell, run, small

from softbin.paper import schedule
from softbin.paper.schedule import Clock, Progress, Work, run_cells
from softbin.paper.store import Store

RUN = """
import sys
from pathlib import Path
from tests.paper.small import run, small
if __name__ == "__main__":
    run(small(Path(sys.argv[1]), jobs=int(sys.argv[2]), only="soft:5 | soft:10 | hard:5 | hard:10"))
"""


def done(out):
    return sorted(path.parent.name for path in (out / "cells").glob("*/DONE"))


def test_running_again_computes_nothing(outcome, monkeypatch):
    monkeypatch.setattr(schedule, "compute", None)
    again = run(small(outcome.results.store.root.parent))
    assert again.progress.done == again.progress.total == CELLS
    assert again.results.entries == outcome.results.entries


@pytest.mark.parametrize("jobs", [1, 2])
def test_a_run_that_is_killed_goes_on_where_it_was(tmp_path, outcome, jobs):
    script = tmp_path / "run.py"
    script.write_text(RUN)
    out = tmp_path / "results"
    environment = {**os.environ, "PYTHONPATH": os.pathsep.join(sys.path)}
    process = subprocess.Popen([sys.executable, script, str(out), str(jobs)], env=environment, start_new_session=True)
    try:
        deadline = time.monotonic() + 60
        while len(done(out)) < 3:
            assert process.poll() is None
            assert time.monotonic() < deadline
            time.sleep(0.01)
    finally:
        process.kill()
        process.wait()
    before = done(out)
    assert 3 <= len(before) < 12
    _wait_for_workers(process.pid)
    before = done(out)
    times = {name: (out / "cells" / name / "report.json").stat().st_mtime_ns for name in before}
    resumed = run(small(out, only="soft:5 | soft:10 | hard:5 | hard:10"))
    assert len(done(out)) == resumed.progress.done == 12
    assert {name: (out / "cells" / name / "report.json").stat().st_mtime_ns for name in before} == times
    assert not list((out / "cells").glob(".*"))
    assert {key: entry.auc for key, entry in resumed.results.entries.items()} == pytest.approx(
        {key: outcome.results.entries[key].auc for key in resumed.results.entries}, abs=1e-9
    )


def _wait_for_workers(session):
    """Until no process of a session is left: workers end by themselves when their parent is killed."""
    deadline = time.monotonic() + 20
    while time.monotonic() < deadline:
        try:
            os.killpg(session, 0)
        except ProcessLookupError:
            return
        time.sleep(0.05)
    os.killpg(session, signal.SIGKILL)
    raise AssertionError("workers outlived the run that started them")


def test_a_folder_without_done_does_not_count(tmp_path):
    store = Store(tmp_path)
    (tmp_path / cell().folder).mkdir()
    (tmp_path / cell().folder / "report.json").write_text("{}")
    assert not store.is_done(cell())


def test_done_is_there_only_in_a_complete_folder(tmp_path, monkeypatch):
    store = Store(tmp_path)

    def fail(*_):
        raise OSError("the disk is full")

    monkeypatch.setattr(np, "save", fail)
    with pytest.raises(OSError, match="disk is full"):
        store.write(cell(), {"auc": 0.5}, np.zeros(3))
    assert not list(tmp_path.iterdir())


def test_of_two_that_computed_the_same_cell_the_first_counts(tmp_path):
    store = Store(tmp_path)
    store.write(cell(), {"auc": 0.5}, np.zeros(3))
    store.write(cell(), {"auc": 0.6}, np.ones(3))
    assert store.report(cell()) == {"auc": 0.5}
    assert len(list(tmp_path.iterdir())) == 1


def test_what_dead_processes_left_is_swept_and_what_living_ones_write_is_not(tmp_path):
    process = subprocess.Popen([sys.executable, "-c", ""])
    process.wait()
    for pid in (process.pid, os.getpid()):
        (tmp_path / f".some-cell.{pid}.123.tmp").mkdir()
    Store(tmp_path).sweep()
    assert [path.name for path in tmp_path.iterdir()] == [f".some-cell.{os.getpid()}.123.tmp"]


@pytest.mark.parametrize("jobs", [1, 2])
def test_a_cell_that_fails_is_named_and_the_others_go_on(tmp_path, outcome, jobs):
    samples = outcome.results.samples
    good = cell(data_hash=samples["SUSY"].hash, data="SUSY")
    bad = cell(data_hash=samples["SUSY"].hash, data="SUSY", bins="soft:none", method="broken")
    seen = []
    progress = run_cells([bad, good], Work(samples, tmp_path, "cpu", None), jobs, lambda state: seen.append(state.done))
    assert progress.done == 1
    assert "OptionError" in progress.failed[bad.label]
    assert Store(tmp_path).is_done(good)
    assert seen[0] == 0
    assert seen[-1] == 1


def test_the_clock_learns_from_cells_alike():
    cells = [cell(seed=seed) for seed in range(3)] + [cell(share=1.0)]
    clock = Clock(cells, jobs=1)
    assert clock.finished(cells[0], 2.0) == pytest.approx(2 + 2 + 2 * 10**0.5)
    assert clock.finished(cells[3], 8.0) == pytest.approx(2 + 2)
    assert clock.finished(cells[1], None) == pytest.approx(2)
    assert Progress(4).seconds_left is None


def test_reports_are_json_that_others_can_read(outcome):
    for path in outcome.results.store.root.glob("*/report.json"):
        report = json.loads(path.read_text())
        assert {"auc", "log_loss", "parameters", "seconds", "versions", "data", "cell"} <= set(report)
