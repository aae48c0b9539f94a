"""Rows to learn from and rows to be tested on: folds of a real table, or draws of simulated events.

Differences between two models are taken draw by draw, on the same rows, so their standard error is much smaller than
that of either AUC. Simulated events have one test set that is never learned from; draws of one size share no rows.
"""

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
from numpy.typing import NDArray
from sklearn.model_selection import StratifiedKFold

from softbin.datasets import simulate_higgs, simulate_susy

FOLDS = 5
SIMULATED = "simulated"  # what is passed instead of NAME=TABLE
SIMULATIONS: dict[str, Callable[..., Any]] = {"higgs": simulate_higgs, "susy": simulate_susy}
SIZES = {2_000: 20, 20_000: 10, 200_000: 5, 1_000_000: 1}  # rows to learn from, and how often
TEST_ROWS = 200_000
Split = tuple[Any, Any, Any, Any]  # learned from: table, labels; tested on: table, labels


@dataclass(frozen=True)
class Draws:
    """Several times ``rows`` rows to learn from."""

    table: str
    about: str  # for the reader of the results
    rows: int
    columns: int
    draw: Callable[[], Iterator[Split]]


def asked_draws(asked: Sequence[str], shares: Sequence[float] = (1.0,)) -> Iterator[Draws]:
    """Of tables ``NAME=TABLE.parquet``: every share of their training rows; of "simulated": every size."""
    for share in shares:
        for name, _, path in (text.partition("=") for text in asked if text != SIMULATED):
            yield folds(name, Path(path), share)
    if SIMULATED in asked:
        for rows in SIZES:
            for name in SIMULATIONS:
                yield simulated(name, rows)


def command(module: str, asked: Sequence[str]) -> str:
    """What was typed, without where tables are on this machine."""
    return f"python -m benchmarks.{module} " + " ".join(f"{a.partition('=')[0]}=..." if "=" in a else a for a in asked)


def folds(name: str, path: Path, share: float) -> Draws:
    """Learned from: a share of each fold's training rows; tested on the whole fold, so that it has many rows."""
    X, y = rows_of(path)

    def draw() -> Iterator[Split]:
        parts = StratifiedKFold(FOLDS, shuffle=True, random_state=0).split(X, y)
        for fold, (train, test) in enumerate(parts):
            some = np.sort(np.random.default_rng(fold).permutation(train)[: round(share * len(train))])
            yield X[some], y[some], X[test], y[test]

    rows = round(share * len(y) * (FOLDS - 1) / FOLDS)
    return Draws(name, f"{len(y):,} rows, {X.shape[1]} columns, {FOLDS} folds", rows, X.shape[1], draw)


def simulated(name: str, rows: int) -> Draws:
    """Learned from: ``rows`` events, as often as ``SIZES`` says; tested on events of their own."""
    X, y = events(name)
    times = SIZES[rows]

    def draw() -> Iterator[Split]:
        for start in range(TEST_ROWS, TEST_ROWS + times * rows, rows):
            some = slice(start, start + rows)
            yield X[some], y[some], X[:TEST_ROWS], y[:TEST_ROWS]

    drawn = f"{times} draws" if times > 1 else "one draw"
    about = f"{rows:,} events, {X.shape[1]} columns, {drawn}, tested on {TEST_ROWS:,} other events"
    return Draws(f"simulated {name}", about, rows, X.shape[1], draw)


@cache
def events(name: str) -> tuple[NDArray[np.float32], NDArray[np.int8]]:
    """The test set and, behind it, all that is learned from."""
    data = SIMULATIONS[name](TEST_ROWS + max(rows * times for rows, times in SIZES.items()), seed=0)
    return data.X, data.y


def rows_of(path: Path) -> tuple[NDArray[np.float32], NDArray[np.int64]]:
    """The columns of a table, and ``label``."""
    frame = pd.read_parquet(path)
    return frame.drop(columns="label").to_numpy(np.float32), frame["label"].to_numpy().astype(np.int64)


def paired(scores: Sequence[float], base: Sequence[float]) -> tuple[float, float | None]:
    """Mean difference and its standard error over the draws, x 100; None for the error of a single draw."""
    difference = 100 * (np.array(scores) - np.array(base))
    error = float(difference.std(ddof=1) / np.sqrt(len(difference))) if len(difference) > 1 else None
    return float(difference.mean()), error


def signed(pair: Sequence[float | None]) -> str:
    """A difference and its standard error, if there is one."""
    difference, error = pair
    return f"{difference:+.2f}" + ("" if error is None else f" ± {error:.2f}")
