"""One line that says how a training is doing, rewritten in place; in a file or a pipe, a line per epoch."""

import sys
import time
from dataclasses import dataclass


@dataclass(frozen=True)
class EpochReport:
    """One pass over the rows. ``score`` is what early stopping looked at (None without validation rows)."""

    epoch: int
    loss: float
    validation_loss: float | None
    score: float | None
    rows_per_second: float


class ProgressLine:
    """Call it after every epoch; ``close`` ends the line. Silent unless ``shown``."""

    def __init__(self, who: str, shown: bool) -> None:
        self.who, self.shown = who, shown
        self.began = time.perf_counter()
        self.epochs = 0

    def __call__(self, done: EpochReport, n_epochs: int, score_name: str) -> None:
        self.epochs += 1
        if not self.shown:
            return
        text = f"{self.who}: epoch {done.epoch}/{n_epochs}, loss {done.loss:.5f}"
        if done.validation_loss is not None:
            text += f", validation {done.validation_loss:.5f}"
        if done.score is not None:
            text += f", {score_name} {done.score:.5f}"
        text += f", {_short(done.rows_per_second)} rows/s, {time.perf_counter() - self.began:.1f} s"
        if sys.stderr.isatty():
            print(f"\r{text}\033[K", end="", file=sys.stderr, flush=True)
        else:
            print(text, file=sys.stderr, flush=True)

    def close(self) -> None:
        if self.shown and self.epochs and sys.stderr.isatty():
            print(file=sys.stderr)


def _short(number: float) -> str:
    for size, letter in ((1e6, "M"), (1e3, "k")):
        if number >= size:
            return f"{number / size:.1f}{letter}"
    return f"{number:.0f}"
