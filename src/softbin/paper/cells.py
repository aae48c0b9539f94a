"""A cell of Table 1: one estimator, one data set, one share of the rows, one seed.

A frozen Cell is all that its result depends on, up to rounding that differs between machines. Its folder is named after
it, so a cell that was computed is found again, and one whose settings or data changed is another cell.
"""

import hashlib
import json
import re
from collections.abc import Sequence
from dataclasses import asdict, dataclass
from fnmatch import fnmatchcase

from softbin.errors import OptionError
from softbin.paper.methods import IN_PAPER, Method, Options, settings

REVISION = 2  # raise it when the same configuration comes to mean something else


@dataclass(frozen=True)
class Cell:
    """``data_hash`` names the rows. ``folds`` 0: the last rows are the test; else fold ``seed`` of ``folds`` is."""

    model: str
    method: str
    bins: str
    data: str
    data_hash: str
    share: float
    seed: int
    folds: int = 0
    options: Options = ()
    revision: int = REVISION

    @property
    def label(self) -> str:
        return f"{self.model} {self.method} {self.data} {percent(self.share)} seed {self.seed}"

    @property
    def folder(self) -> str:
        """A name that people can read, and a hash that tells configurations apart."""
        words = f"{self.model}-{self.method}-{self.data}-{percent(self.share)}-{self.seed}".lower()
        return f"{re.sub(r'[^a-z0-9.]+', '-', words)}-{self.identity[:10]}"

    @property
    def identity(self) -> str:
        """The SHA-256 of the configuration."""
        return hashlib.sha256(json.dumps(asdict(self), sort_keys=True).encode()).hexdigest()

    @property
    def words(self) -> tuple[str, ...]:
        """What ``--only`` is matched against."""
        model = {"LR": "linear", "DNN": "deep"}.get(self.model, "trees")
        method = self.method.replace(" ", "")
        whose = "paper" if self.method in IN_PAPER else "own"
        of_cell = (self.model, model, method, self.bins, self.data, percent(self.share), f"seed={self.seed}", whose)
        return tuple(word.lower() for word in of_cell)


def plan_cells(
    methods: Sequence[Method], models: Sequence[str], shares: Sequence[float], n_seeds: int, folds: int, network: str,
    data: dict[str, str],
) -> list[Cell]:  # fmt: skip
    """Every cell there is, cheap ones first. ``data`` maps names of data sets to hashes of their rows.

    Cells on the same rows stand together. Where no seed changes anything there is only that of seed 0.
    """
    return [
        Cell(model, method.label, method.bins, name, data[name], share, seed, folds, settings(method, model, network))
        for model in (*models, "trees")
        for share in sorted(shares)
        for name in data
        for seed in range(folds or n_seeds)
        for method in methods
        if model in method.models and (seed == 0 or folds or share < 1 or draws(method, model))
    ]


def draws(method: Method, model: str) -> bool:
    """Whether a fit to the same rows depends on its seed: networks start anywhere, MGD holds rows out."""
    return model == "DNN" or method.bins.startswith("multi")


def select_cells(cells: Sequence[Cell], only: str | None) -> list[Cell]:
    """The cells that every word of ``only`` matches: "lr * higgs 1%", "dnn lle* susy"; "|" separates alternatives."""
    if only is None:
        return list(cells)
    chosen = [cell for cell in cells if any(_matches(cell, part.split()) for part in only.split("|"))]
    if not chosen:
        words = sorted({word for cell in cells for word in cell.words})
        raise OptionError(f"only: {only!r} matches no cell; there are the words {', '.join(words)}")
    return chosen


def percent(share: float) -> str:
    """1.0 as 100%."""
    return f"{100 * share:g}%"


def _matches(cell: Cell, patterns: Sequence[str]) -> bool:
    # Why the brackets: "lle(10)" and "LLE (10)" are plain text, not sets of characters; fnmatch has none in them.
    return bool(patterns) and all(
        any(fnmatchcase(word, pattern.lower()) for word in cell.words) for pattern in patterns
    )
