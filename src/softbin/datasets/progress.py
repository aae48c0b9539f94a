"""One line that says how far through a file we are: rewritten in place on a terminal, else printed now and then."""

import sys
import time

TERMINAL_SECONDS, LOG_SECONDS = 0.2, 10.0


class ProgressLine:
    """Call it with the bytes done so far; ``say`` prints a remark, ``close`` ends it. Silent unless ``verbose``."""

    def __init__(self, what: str, total: int | None, verbose: bool, begin: int = 0) -> None:
        self.what, self.total, self.verbose, self.begin = what, total, verbose, begin
        self.live = verbose and sys.stderr.isatty()
        self.began = self.shown = time.perf_counter()
        self.done = begin
        self.open = False

    def __call__(self, done: int) -> None:
        self.done = done
        if self.verbose and time.perf_counter() - self.shown >= (TERMINAL_SECONDS if self.live else LOG_SECONDS):
            self._show()

    def say(self, text: str) -> None:
        """A remark on a line of its own."""
        if self.verbose:
            self._end()
            print(f"{self.what}: {text}", file=sys.stderr, flush=True)

    def close(self) -> None:
        if self.verbose and self.done > self.begin:
            self._show()
            self._end()

    def _show(self) -> None:
        self.shown = time.perf_counter()
        text = f"{self.what}: {self._state(self.shown - self.began)}"
        print(f"\r{text}\033[K" if self.live else text, end="" if self.live else "\n", file=sys.stderr, flush=True)
        self.open = self.live

    def _end(self) -> None:
        if self.open:
            print(file=sys.stderr)
        self.open = False

    def _state(self, seconds: float) -> str:
        speed = (self.done - self.begin) / max(seconds, 1e-9)
        if self.total is None:
            return f"{size_text(self.done)}, {size_text(speed)}/s"
        if self.done >= self.total:
            return f"{size_text(self.done)} in {seconds:.0f} s"
        left = (self.total - self.done) / max(speed, 1e-9)
        return f"{size_text(self.done)} of {size_text(self.total)}, {size_text(speed)}/s, {left:.0f} s left"


def size_text(size: float) -> str:
    """A number of bytes for people, in powers of 1000 as disks are sold."""
    for unit in ("bytes", "kB", "MB"):
        if size < 1000:
            return f"{size:.0f} {unit}" if unit == "bytes" else f"{size:.1f} {unit}"
        size /= 1000
    return f"{size:.1f} GB"
