"""Automatic numbers of bins against fixed ones: ``python -m benchmarks.auto_bins NAME=TABLE.parquet simulated``.

Of a table the column ``label`` is the target, all others are columns. LinearClassifier learns from a share of each
fold's training rows and is tested on the whole fold, so that few training rows do not mean few test rows; "simulated"
are simulated events, 2,000 to a million. What has been measured stands in the JSON and is not measured again: delete it
there to do so.
"""

import argparse
import json
from pathlib import Path
from typing import Any

import numpy as np
from sklearn.metrics import roc_auc_score

from benchmarks import report
from benchmarks.draws import FOLDS, Draws, asked_draws, command, paired, signed
from benchmarks.measure import say
from benchmarks.real_rules import ENCODERS, RESULTS
from softbin import LinearClassifier

SHARES = (0.01, 0.1, 1.0)
FIXED = (5, 10, 20, 50, 100)
RISK = (5, 10, 20)  # numbers that knots by risk are compared at
ALLOWED = -0.10  # AUC x 100 that the automatic number may lose to the best fixed one
Row = dict[str, Any]


def scores_of(draws: Draws, make: Any) -> tuple[list[float], float]:
    """Test AUC of each draw, and the mean number of levels."""
    scores, levels = [], []
    for X, y, test_X, test_y in draws.draw():
        model = LinearClassifier(make()).fit(X, y)
        scores.append(float(roc_auc_score(test_y, model.decision_function(test_X))))
        levels.append(model.n_parameters_)
    return scores, float(np.mean(levels))


def study(draws: Draws, kind: str) -> Row:
    """One encoder on some draws: all fixed numbers, the automatic one, and knots by risk."""

    def of(n_bins: Any, strategy: str) -> dict[str, Any]:
        say(f"{draws.table}, {draws.rows:,} rows: {kind}:{n_bins} {strategy}")
        scores, levels = scores_of(draws, lambda: ENCODERS[kind](n_bins, strategy))
        return {"scores": scores, "auc": 100 * float(np.mean(scores)), "levels": levels}

    found = {f"{rule}:{n}": of(n, rule) for rule, ns in (("quantile", FIXED), ("risk", RISK)) for n in (*ns, "auto")}
    best = max(FIXED, key=lambda n: found[f"quantile:{n}"]["auc"])
    return {
        "data": draws.table, "about": draws.about, "rows": draws.rows, "encoder": kind,
        "best": best, "scores": found,
        "auto": _against(found, "quantile:auto", f"quantile:{best}"),
        "risk": {str(n): _against(found, f"risk:{n}", f"quantile:{n}") for n in (*RISK, "auto")},
    }  # fmt: skip


def _against(found: dict[str, Any], ours: str, other: str) -> tuple[float, float | None]:
    return paired(found[ours]["scores"], found[other]["scores"])


def markdown(outcome: report.Outcome) -> str:
    about = outcome["circumstances"]
    parts = [
        "# Automatic numbers of bins, and knots by risk",
        f"Written by `{about['command']}`. LinearClassifier (ridge 1); AUC x 100 and the standard error of paired "
        f"differences. Real rows: {FOLDS} folds, trained on a share of each fold's training rows and tested on the "
        "whole fold. Simulated events (which are not the UCI data: [simulated.md](simulated.md)): several draws, "
        "tested on 200,000 others. The best fixed number is chosen with hindsight, by its test score.",
        "Measured:\n" + "".join(f"\n- {line}" for line in _measured(outcome["rows"])),
        '## `n_bins="auto"`',
        "Quantile edges. *Against the best*: AUC over that of the best fixed number; levels: automatic, best fixed.",
    ]
    head = ["data", "rows", "bins", *map(str, FIXED), "auto", "against the best", "levels", "within 0.10"]
    rows = [
        [
            row["data"], f"{row['rows']:,}", row["encoder"],
            *(f"{row['scores'][f'quantile:{n}']['auc']:.2f}" for n in (*FIXED, "auto")),
            signed(row["auto"]),
            " and ".join(f"{row['scores'][f'quantile:{n}']['levels']:.0f}" for n in ("auto", row["best"])),
            report.met(row["auto"][0] >= ALLOWED),
        ]
        for row in outcome["rows"]
    ]  # fmt: skip
    parts.append(report.markdown_table(head, rows))
    parts.append('## `strategy="risk"`\n\nGain over quantile edges of the same number of bins.')
    head = ["data", "rows", "bins", *map(str, RISK), "auto"]
    rows = [
        [row["data"], f"{row['rows']:,}", row["encoder"], *(signed(row["risk"][str(n)]) for n in (*RISK, "auto"))]
        for row in outcome["rows"]
    ]
    parts.append(report.markdown_table(head, rows))
    return "\n\n".join(parts) + "\n"


def _measured(rows: list[Row]) -> list[str]:
    """When, on which commit, for every table and size."""
    same: dict[str, list[Row]] = {}
    for row in rows:
        same.setdefault(f"{row['data']}, {row['about']}", []).append(row)
    return [f"{about}: {report.origins(group)}" for about, group in same.items()]


def main() -> int:
    options = argparse.ArgumentParser(prog="python -m benchmarks.auto_bins", description=__doc__)
    options.add_argument("tables", nargs="+", help="NAME=TABLE.parquet, or simulated")
    options.add_argument("--out", type=Path, default=RESULTS, help="folder for auto_bins.json and auto_bins.md")
    asked = options.parse_args()
    file = asked.out / "auto_bins.json"
    rows: list[Row] = json.loads(file.read_text(encoding="utf-8"))["rows"] if file.exists() else []
    here = report.circumstances(command("auto_bins", asked.tables))
    outcome: report.Outcome = {"circumstances": here, "rows": rows}
    asked.out.mkdir(parents=True, exist_ok=True)
    for draws in asked_draws(asked.tables, SHARES):
        for kind in ENCODERS:
            if any((row["data"], row["rows"], row["encoder"]) == (draws.table, draws.rows, kind) for row in rows):
                continue
            rows.append(study(draws, kind) | report.origin(here))
            # Why after each row: what has been measured is not lost when the next one is stopped.
            file.write_text(json.dumps(outcome, indent=1) + "\n", encoding="utf-8")
            (asked.out / "auto_bins.md").write_text(markdown(outcome), encoding="utf-8")
    return 0


if __name__ == "__main__":
    raise SystemExit(main())
