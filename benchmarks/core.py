"""softbin beside scikit-learn: speed, memory, growth, import. ``make bench``, or ``python -m benchmarks.core``.

First it checks that both give the same answers, and stops if not; then it measures, all ratios in one run.
"""

import argparse
import sys
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from benchmarks import compact, growth, hat, imports, memory, one_hot, quantile, report
from benchmarks.agreement import Disagreement
from benchmarks.measure import Work, busy_cores, copy_speed, say, times, times_faster
from benchmarks.tables import N_BINS, N_COLUMNS, Matrix, make_table

WORKS = (quantile.WORK, hat.WORK, compact.WORK, one_hot.WORK)
ROWS = 2_000_000
JUDGED_ROWS = 1_000_000  # on fewer rows, what is done once per call is not small beside the work
RESULTS = Path("docs/results")
README = Path("README.md")


def main(arguments: Sequence[str] | None = None) -> int:
    options = argparse.ArgumentParser(prog="python -m benchmarks.core", description=__doc__)
    options.add_argument("--rows", type=int, default=ROWS, help=f"rows of the table (default {ROWS:,})")
    options.add_argument("--repeats", type=int, default=7, help="runs of ours; the peer gets three at most (default 7)")
    options.add_argument("--out", type=Path, help=f"folder for core.json and core.md (default {RESULTS} and {README})")
    asked = options.parse_args(arguments)
    if asked.rows < 1_000 or asked.repeats < 1:
        options.error("--rows must be 1000 at least, --repeats 1")
    try:
        outcome = run(asked.rows, asked.repeats)
    except Disagreement as difference:
        say("")
        print(f"Not timed: softbin and its peer disagree. {difference}", file=sys.stderr)
        return 1
    report.write(outcome, asked.out or RESULTS)
    if asked.out is None:
        report.write_between_markers(README, report.readme_table(outcome))
    say("")
    print(report.summary(outcome))
    print(f"Written: {asked.out or RESULTS}/core.json and core.md" + ("" if asked.out else f", and {README}"))
    return 0


def run(rows: int, repeats: int) -> report.Outcome:
    """Everything, in order."""
    short = max(1_000, rows // 2)
    long = growth.long_rows(short)
    say(f"making {max(rows, long):,} rows x {N_COLUMNS} columns")
    table = make_table(max(rows, long))
    for work in WORKS:
        say(f"checking the answers: {work.name}")
        work.check(table[: min(rows, work.checked_rows)])
    say("measuring the memory's speed")
    bandwidth = copy_speed()
    judged = rows >= JUDGED_ROWS
    busy_before = busy_cores()
    outcome = {
        "circumstances": report.circumstances(f"python -m benchmarks.core --rows {rows} --repeats {repeats}"),
        "columns": N_COLUMNS,
        "bins": N_BINS,
        "copy_gb_per_s": bandwidth / 1e9,
        "speed": [_speed(work, table[:rows], repeats, bandwidth, judged) for work in WORKS],
        "memory": [_memory(name, rows, judged) for name in memory.ENCODERS],
        "growth": _growth(table[:long], short, repeats, judged),
        "imports": _imports(repeats),
    }
    return {**outcome, "busy_cores": [busy_before, busy_cores()]}


def _speed(work: Work, table: Matrix, repeats: int, bandwidth: float, judged: bool) -> dict[str, Any]:
    say(f"timing: {work.name}")
    peer_rows = max(min(len(table), 1_000), int(len(table) * work.peer_share))
    taken = times(
        {
            "ours": (work.ours(table, None), len(table), repeats),
            "one_thread": (work.ours(table, 1), len(table), min(repeats, 5)),
            "peer": (work.peer(table[:peer_rows]), peer_rows, min(repeats, 3)),
        },
        work.n_bytes(table),
    )
    faster = times_faster(taken["ours"], taken["peer"])
    return {
        "work": work.name,
        "peer_name": work.peer_name,
        **{name: t.to_dict() for name, t in taken.items()},
        "floor_per_million_rows": work.n_bytes(table) / bandwidth / len(table) * 1e6,
        "faster": faster,
        "faster_one_thread": times_faster(taken["one_thread"], taken["peer"]),
        "target": work.target,
        "met": faster >= work.target if judged else None,
    }


def _memory(name: str, rows: int, judged: bool) -> dict[str, Any]:
    say(f"memory: {name}")
    ours = name.endswith("Bins")
    found = memory.measure(name, rows if ours else max(1_000, rows // 8))
    met = found["ratio"] <= memory.TARGET if ours and judged else None
    return {**found, "target": memory.TARGET if ours else None, "met": met}


def _growth(table: Matrix, short: int, repeats: int, judged: bool) -> list[dict[str, Any]]:
    say(f"growth: {short:,} and {len(table):,} rows")
    found = growth.measure(table, short, min(repeats, 5))
    return [{**row, "target": growth.TARGET, "met": row["ratio"] <= growth.TARGET if judged else None} for row in found]


def _imports(repeats: int) -> list[dict[str, Any]]:
    say("import")
    first, *others = imports.measure(repeats)
    met = first["median"] < imports.TARGET and not first["forbidden"]
    return [{**first, "target": imports.TARGET, "met": met}, *({**row, "target": None} for row in others)]


if __name__ == "__main__":
    sys.exit(main())
