"""Results on disk, a folder per cell: report.json, scores.npy, and DONE, which is written last.

The folder gets its name when it is complete, so a process that is killed leaves a hidden temporary folder and nothing
that could be taken for a result. Of two processes that computed the same cell the first one counts.
"""

import json
import os
import shutil
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from softbin.engines.threads import count_threads
from softbin.paper.cells import Cell
from softbin.whole_files import temporary_name


@dataclass(frozen=True)
class Store:
    """The cells of one results folder."""

    root: Path

    def is_done(self, cell: Cell) -> bool:
        return (self.root / cell.folder / "DONE").exists()

    def write(self, cell: Cell, report: dict[str, Any], scores: NDArray[np.float64]) -> None:
        """Adds a result."""
        own = self.root / cell.folder
        temporary = temporary_name(own)
        temporary.mkdir(parents=True)
        try:
            (temporary / "report.json").write_text(json.dumps(report, indent=1), encoding="utf-8")
            np.save(temporary / "scores.npy", scores)
            (temporary / "DONE").write_text("")
            try:
                os.replace(temporary, own)
            except OSError:
                if not self.is_done(cell):
                    raise
        finally:
            shutil.rmtree(temporary, ignore_errors=True)

    def report(self, cell: Cell) -> dict[str, Any]:
        return json.loads((self.root / cell.folder / "report.json").read_text(encoding="utf-8"))

    def scores(self, cell: Cell) -> NDArray[np.float64]:
        return np.load(self.root / cell.folder / "scores.npy")

    def add_run(self, cells: int, seconds: float, jobs: int) -> None:
        """Notes how many cells a run computed, and how long that took."""
        if cells:
            line = json.dumps({"cells": cells, "seconds": seconds, "jobs": jobs, "cores": count_threads(None)})
            with (self.root / "runs.jsonl").open("a", encoding="utf-8") as file:
                file.write(line + "\n")

    def runs(self) -> list[dict[str, Any]]:
        """What runs noted that came to their end."""
        path = self.root / "runs.jsonl"
        return [json.loads(line) for line in path.read_text().splitlines()] if path.exists() else []

    def sweep(self) -> None:
        """Removes what processes left behind that are gone."""
        for left in self.root.glob(".*.tmp"):
            pid = left.name.split(".")[-3]
            if pid.isdigit() and not _runs(int(pid)):
                shutil.rmtree(left, ignore_errors=True)


def _runs(pid: int) -> bool:
    try:
        os.kill(pid, 0)
    except ProcessLookupError:
        return False
    except PermissionError:
        pass
    return True
