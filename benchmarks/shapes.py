"""What shapes cost: fits with ``monotonic=`` beside the same fits without. ``python -m benchmarks.shapes``.

First the answers: every curve has its shape, the search ended at the optimum, and where the curves of a fit without
shapes have them already, both fits are the same. Then times, the two fits in turn; a ratio is the median over turns.
"""

import argparse
import json
import statistics
import sys
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

from benchmarks import report
from benchmarks.agreement import Disagreement
from benchmarks.linear import Labels, make_data, timed
from benchmarks.measure import busy_cores, say
from benchmarks.tables import N_COLUMNS, Matrix
from softbin import HardBins, LinearClassifier, SoftBins

RESULTS = Path("docs/results")
TARGET = 2.0
ROWS, LARGE_ROWS, CHECKED_ROWS = 100_000, 1_000_000, 100_000
ENCODERS = {"soft": SoftBins, "hard": HardBins}
MIXED = ("increasing", "decreasing", "convex", "concave")
Row = dict[str, Any]

SHAPES: dict[str, dict[int, str]] = {
    "all increasing": dict.fromkeys(range(N_COLUMNS), "increasing"),
    "all convex": dict.fromkeys(range(N_COLUMNS), "convex"),
    "all, four shapes in turn": {column: MIXED[column % 4] for column in range(N_COLUMNS)},
    "two increasing": dict.fromkeys(range(2), "increasing"),
}


@dataclass(frozen=True)
class Case:
    """A fit with shapes."""

    rows: int
    kind: str
    n_bins: int
    shapes: str
    rising: bool = False  # labels that rise with every column
    smoothness: str | None = None

    @property
    def labels(self) -> str:
        return "rise" if self.rising else "rise, fall and bend"


CASES = (
    *(Case(ROWS, kind, 100, shapes) for kind in ENCODERS for shapes in SHAPES),
    *(Case(ROWS, kind, 100, "all increasing", rising=True) for kind in ENCODERS),
    Case(ROWS, "soft", 100, "all increasing", smoothness="auto"),
    Case(ROWS, "soft", 10, "all increasing"),
    *(Case(LARGE_ROWS, kind, 100, "all increasing") for kind in ENCODERS),
    Case(LARGE_ROWS, "soft", 100, "two increasing"),
    *(Case(LARGE_ROWS, "soft", n, "all increasing", rising=True) for n in (10, 100)),
)


def rising_labels(table: Matrix) -> Labels:
    """Labels whose log-odds rise with every column."""
    score = sum(np.tanh(table[:, j] - np.median(table[:, j])) for j in range(N_COLUMNS))
    drawn = np.random.default_rng(5).random(len(table), dtype=np.float32)
    return np.asarray(drawn < 1 / (1 + np.exp(-0.8 * score)))


def check(table: Matrix, y: Labels, rising: Labels) -> None:
    """Curves of the right shape at the optimum, and no other fit where they have it anyway."""
    for kind, encoder in ENCODERS.items():
        for name, shapes in SHAPES.items():
            say(f"checking the answers: {kind}, {name}")
            model = LinearClassifier(encoder(20), monotonic=shapes).fit(table, y)
            if not model.converged_:
                raise Disagreement(f"{kind}, {name}: the search did not end at the optimum")
            for column, shape in shapes.items():
                if not _has_shape(model.curve(column), shape, kind == "soft"):
                    raise Disagreement(f"{kind}, {name}: the curve of column {column} is not {shape}")
    plain, shaped = (
        LinearClassifier(HardBins(5), tol=1e-8, monotonic=shapes).fit(table, rising)
        for shapes in (None, SHAPES["all increasing"])
    )
    if not all(_has_shape(plain.curve(column), "increasing", soft=False) for column in range(N_COLUMNS)):
        raise Disagreement("labels that rise with every column gave curves that do not: they check nothing")
    if np.abs(plain.coef_ - shaped.coef_).max() > 1e-5:
        raise Disagreement("curves that rise anyway differ from those that have to")


def _has_shape(curve: Any, shape: str, soft: bool) -> bool:
    sign = 1 if shape in ("increasing", "convex") else -1
    if shape in ("increasing", "decreasing"):
        return bool(np.all(sign * np.diff(curve.values) >= 0))
    at = curve.knots if soft else (curve.knots[1:] + curve.knots[:-1]) / 2
    bends = np.diff(np.diff(curve.values) / np.diff(at)) * np.ptp(at)
    return bool(np.all(sign * bends >= -1e-7))


def measured(case: Case, table: Matrix, y: Labels, repeats: int) -> Row:
    """Both fits in turn; the first of each is warm-up."""
    say(f"{case.kind}:{case.n_bins}, {case.rows:,} rows, {case.shapes}, {case.smoothness}")
    bins = ENCODERS[case.kind](case.n_bins)
    models = [
        LinearClassifier(bins, smoothness=case.smoothness, monotonic=shapes) for shapes in (None, SHAPES[case.shapes])
    ]
    turns = [[timed(lambda model=model: model.fit(table, y))[0] for model in models] for _ in range(repeats + 1)][1:]
    return {
        "rows": case.rows,
        "bins": f"{case.kind}:{case.n_bins}",
        "shapes": case.shapes,
        "labels": case.labels,
        "smoothness": case.smoothness,
        "without": [without for without, _ in turns],
        "with": [with_ for _, with_ in turns],
        "passes": [len(model.history_) for model in models],
        "ratio": statistics.median(with_ / without for without, with_ in turns),
    }


def run(cases: tuple[Case, ...], repeats: int) -> Iterator[Row]:
    table, y = make_data(max(case.rows for case in cases))
    rising = rising_labels(table)
    check(table[:CHECKED_ROWS], y[:CHECKED_ROWS], rising[:CHECKED_ROWS])
    for case in cases:
        yield measured(case, table[: case.rows], (rising if case.rising else y)[: case.rows], repeats)


def markdown(outcome: report.Outcome) -> str:
    about = outcome["circumstances"]
    rows = [
        [
            f"{row['rows']:,}", row["bins"] + (", smoothness" if row["smoothness"] else ""), row["shapes"],
            row["labels"], *(f"{statistics.median(row[which]):.2f}" for which in ("without", "with")),
            " and ".join(map(str, row["passes"])), f"**{row['ratio']:.2f}**", report.met(row["ratio"] <= TARGET),
        ]
        for row in outcome["rows"]
    ]  # fmt: skip
    head = ["rows", "bins", "shapes", "labels", "s without", "s with", "passes", "ratio", f"at most {TARGET:g}"]
    parts = [
        "# What shapes cost",
        f"Written by `{about['command']}` on {about['date']}, commit {about['commit']}, {about['machine']['cores']} "
        f"cores ({about['machine']['cpu']}), cores that others kept busy before: {outcome['busy_cores']:.1f}. "
        f"`LinearClassifier` on {N_COLUMNS} float32 columns, with `monotonic=` and without, in turn, boundaries "
        "included; the ratio is the median over turns. Before anything was timed, curves were checked to have their "
        "shapes, and fits to be the same where curves have them anyway. *Passes*: over all rows, without and with.",
        report.markdown_table(head, rows),
    ]
    return "\n\n".join(parts) + "\n"


def main() -> int:
    options = argparse.ArgumentParser(prog="python -m benchmarks.shapes", description=__doc__)
    options.add_argument("--repeats", type=int, default=5)
    options.add_argument("--rows", type=int, default=LARGE_ROWS, help="leave out cases with more")
    options.add_argument("--out", type=Path, default=RESULTS, help="folder for shapes.json and shapes.md")
    asked = options.parse_args()
    outcome: report.Outcome = {
        "circumstances": report.circumstances("python -m benchmarks.shapes"),
        "busy_cores": busy_cores(),
        "rows": [],
    }
    asked.out.mkdir(parents=True, exist_ok=True)
    try:
        for row in run(tuple(case for case in CASES if case.rows <= asked.rows), asked.repeats):
            outcome["rows"].append(row)
            (asked.out / "shapes.json").write_text(json.dumps(outcome, indent=1) + "\n", encoding="utf-8")
            (asked.out / "shapes.md").write_text(markdown(outcome), encoding="utf-8")
    except Disagreement as difference:
        print(f"Not timed: {difference}", file=sys.stderr)
        return 1
    print(markdown(outcome))
    return 0


if __name__ == "__main__":
    sys.exit(main())
