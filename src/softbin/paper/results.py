"""What was measured, averaged over seeds: the one thing that tables, figures and claims read."""

from collections.abc import Sequence
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any

import numpy as np

from softbin.paper.cells import Cell
from softbin.paper.contrast import NO_NOISE, Contrast, Placements, SeedNoise, contrast, placements, seed_noise
from softbin.paper.run_cell import rows_to_test
from softbin.paper.samples import Sample
from softbin.paper.store import Store

Key = tuple[str, str, str, float]  # model, row, data set, share


@dataclass(frozen=True)
class Entry:
    """One place of Table 1. AUC and its standard error are x 100; the rest are means over seeds."""

    auc: float
    error: float
    log_loss: float
    nominal: float
    actual: float
    seconds: float
    peak_memory: float
    n_seeds: int
    n_train: int
    ridge: str  # that was used, of every seed where they differ; empty where there is none


@dataclass
class Results:
    """The cells of a plan that are done. ``beside`` is the share of the paper's figures; None: that of the cells."""

    store: Store
    samples: dict[str, Sample]
    cells: Sequence[Cell]
    beside: float | None = None
    _placed: dict[Key, list[Placements]] = field(default_factory=dict)
    _noises: dict[tuple[str, str, float], SeedNoise] = field(default_factory=dict)

    @cached_property
    def by_key(self) -> dict[Key, list[Cell]]:
        """Cells of every place, in order of their seeds. A place counts once all its seeds are done.

        One cell beside several of other rows: no seed changes anything there.
        """
        places: dict[Key, list[Cell]] = {}
        for cell in self.cells:
            places.setdefault((cell.model, cell.method, cell.data, cell.share), []).append(cell)
        return {key: cells for key, cells in places.items() if all(map(self.store.is_done, cells))}

    @cached_property
    def entries(self) -> dict[Key, Entry]:
        return {key: self._entry(key) for key in self.by_key}

    def reports(self, key: Key) -> list[dict[str, Any]]:
        return [self.store.report(cell) for cell in self.by_key[key]]

    def compare(self, coefficients: Sequence[float], keys: Sequence[Key]) -> Contrast:
        """A contrast of AUCs x 100 on one data set."""
        same_rows = self.by_key[keys[0]][0].folds == 0
        varied = [(c, key) for c, key in zip(coefficients, keys, strict=True) if len(self.by_key[key]) > 1]
        noise = [self._noise(key) for key in keys] if same_rows and _cancels(varied) else None
        found = contrast(coefficients, [self._placements(key) for key in keys], same_rows, noise)
        return Contrast(100 * found.estimate, 100 * found.error, found.freedom, found.between_seeds)

    def paper_share(self, share: float) -> float:
        """The share of the paper's column that stands beside the one of this share."""
        return share if self.beside is None else self.beside

    def present(self, values: str) -> list[Any]:
        """The models, methods, data sets or shares that there are, in the order of the plan."""
        return list(dict.fromkeys(getattr(cell, values) for cell in self.cells))

    def _noise(self, key: Key) -> SeedNoise:
        """Of all rows in the place of a key that seeds change; none of the others."""
        if len(self.by_key[key]) == 1:
            return NO_NOISE
        model, _, data, share = key
        place = model, data, share
        if place not in self._noises:
            rows = [
                other
                for other, cells in self.by_key.items()
                if (other[0], other[2], other[3]) == place and len(cells) > 1
            ]
            self._noises[place] = seed_noise(np.array([[one.auc for one in self._placements(row)] for row in rows]))
        return self._noises[place]

    def _placements(self, key: Key) -> list[Placements]:
        if key not in self._placed:
            self._placed[key] = [self._place(cell) for cell in self.by_key[key]]
        return self._placed[key]

    def _place(self, cell: Cell) -> Placements:
        sample = self.samples[cell.data]
        return placements(sample.y[rows_to_test(cell, sample)], self.store.scores(cell))

    def _entry(self, key: Key) -> Entry:
        reports = self.reports(key)

        def mean(read: Any) -> float:
            return float(np.mean([read(report) for report in reports]))

        found = self.compare([1.0], [key])
        return Entry(
            found.estimate, found.error, mean(lambda r: r["log_loss"]), mean(lambda r: r["parameters"]["nominal"]),
            mean(lambda r: r["parameters"]["actual"]), mean(lambda r: sum(r["seconds"].values())),
            mean(lambda r: r["peak_memory_bytes"]), len(reports), reports[0]["rows"]["train"], _ridges(reports),
        )  # fmt: skip


def _ridges(reports: Sequence[dict[str, Any]]) -> str:
    used = [{**dict(report["cell"]["options"]), **report["chosen"]}.get("ridge") for report in reports]
    return " ".join(f"{ridge:g}" for ridge in dict.fromkeys(used) if ridge is not None)


def _cancels(terms: Sequence[tuple[float, Key]]) -> bool:
    """Whether what a seed does to all rows of a place drops out of a contrast."""
    sums: dict[tuple[str, str, float], float] = {}
    for c, (model, _, data, share) in terms:
        sums[model, data, share] = sums.get((model, data, share), 0.0) + c
    return not any(sums.values())
