"""Does time grow with the rows and no faster? Seconds per row of a long table over those of a short one."""

from typing import Any

import psutil

from benchmarks import hat, one_hot, quantile
from benchmarks.measure import times
from benchmarks.tables import Matrix

WORKS = (quantile.WORK, hat.WORK, one_hot.WORK)
TARGET = 1.15
TIMES_LONGER = 8
BYTES_PER_ROW = 28 * 4 + 28 * 2 * 8  # the table, and its largest output


def long_rows(short_rows: int) -> int:
    """Eight times as many rows, or as many as fit half of the free memory."""
    fits = psutil.virtual_memory().available // 2 // BYTES_PER_ROW
    return max(short_rows, min(TIMES_LONGER * short_rows, fits))


def measure(table: Matrix, short_rows: int, repeats: int) -> list[dict[str, Any]]:
    """One entry per operation; the best run of each length, since only noise makes a run slower."""
    found = []
    for work in WORKS:
        taken = times(
            {
                "short": (work.ours(table[:short_rows], None), short_rows, repeats),
                "long": (work.ours(table, None), len(table), repeats),
            },
            work.n_bytes(table),
        )
        per_row = {name: t.per_million(t.best) for name, t in taken.items()}
        found.append(
            {
                "work": work.name,
                "short": taken["short"].to_dict(),
                "long": taken["long"].to_dict(),
                "ratio": per_row["long"] / per_row["short"],
            }
        )
    return found
