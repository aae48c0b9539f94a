"""One line that says how a fit is doing, rewritten in place."""

import sys
import time

from softbin.linear.solver import Pass


class ProgressLine:
    """Call it after every pass; ``close`` ends the line. Silent unless ``verbose``."""

    def __init__(self, who: str, verbose: int) -> None:
        self.who, self.verbose = who, verbose
        self.began = time.perf_counter()
        self.passes = 0

    def __call__(self, done: Pass) -> None:
        self.passes += 1
        if self.verbose:
            seconds = time.perf_counter() - self.began
            text = f"{self.who}: pass {self.passes}, objective {done.objective:.8g}, gradient {done.gradient:.1e}"
            print(f"\r{text}, {seconds:.1f} s\033[K", end="", file=sys.stderr, flush=True)

    def close(self) -> None:
        if self.verbose and self.passes:
            print(file=sys.stderr)
