"""A simulated data set: events in chunks of a fixed size, each from a stream of its own.

A chunk draws its labels, then lets each class produce events in batches until there is one for every label. Fewer rows
are always a prefix of more rows, and threads only share out whole chunks, so the bits depend on the seed alone.
"""

import operator
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from softbin.datasets.draws import Draws, Floats
from softbin.engines.threads import count_threads, map_items
from softbin.errors import OptionError
from softbin.optional import need

CHUNK = 16_384
BATCH = 8_192
# Events that passed the selection, one row per column; how many of the tried ones is up to the physics.
Produce = Callable[[Draws, int], Floats]


@dataclass(frozen=True)
class Dataset:
    """A table with a target. ``X`` is float32 with a row per event; ``y`` is 1 for signal, 0 for background."""

    X: NDArray[np.float32]
    y: NDArray[np.int8]
    columns: tuple[str, ...]

    def to_frame(self) -> Any:
        """A pandas frame: ``label``, then the columns."""
        frame = need("pandas").DataFrame(self.X, columns=list(self.columns), copy=False)
        frame.insert(0, "label", self.y)
        return frame


@dataclass(frozen=True)
class Process:
    """What there is to know about one problem: its columns, its two classes and the share of the signal."""

    columns: tuple[str, ...]
    background: Produce
    signal: Produce
    signal_share: float


def simulate(process: Process, rows: int, seed: int, n_jobs: int | None) -> Dataset:
    """``rows`` events of ``process``."""
    rows, seed = _whole("rows", rows), _whole("seed", seed)
    X = np.empty((rows, len(process.columns)), np.float32)
    y = np.empty(rows, np.int8)

    def fill(chunk: int) -> None:
        start = chunk * CHUNK
        table, labels = make_chunk(process, seed, chunk)
        X[start : start + CHUNK], y[start : start + CHUNK] = table[: rows - start], labels[: rows - start]

    map_items(fill, range(-(-rows // CHUNK)), count_threads(n_jobs))
    return Dataset(X, y, process.columns)


def make_chunk(process: Process, seed: int, chunk: int) -> tuple[NDArray[np.float32], NDArray[np.int8]]:
    """The CHUNK events of one chunk, and their labels."""
    draws = Draws(seed, chunk)
    labels = (draws.uniform(CHUNK) <= process.signal_share).astype(np.int8)
    table = np.empty((CHUNK, len(process.columns)), np.float32)
    for label, produce in enumerate((process.background, process.signal)):
        rows = np.flatnonzero(labels == label)
        filled = 0
        while filled < len(rows):
            events = produce(draws, BATCH).T[: len(rows) - filled]
            table[rows[filled : filled + len(events)]] = events
            filled += len(events)
    return table, labels


def _whole(name: str, value: Any) -> int:
    """``value`` as a whole number from 0 on."""
    try:
        number = -1 if isinstance(value, bool) else operator.index(value)
    except TypeError:
        number = -1
    if number < 0:
        raise OptionError(f"{name}: {value!r} is not a whole number from 0 on; pass one, for example {name}=1000")
    return number
