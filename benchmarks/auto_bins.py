"""Automatic numbers of bins against fixed ones, 5-fold. ``python -m benchmarks.auto_bins NAME=TABLE.parquet ...``

The column ``label`` is the target, all others are columns. LinearClassifier learns from a share of each fold's training
rows and is tested on the whole fold, so that few training rows do not mean few test rows. Differences are taken fold by
fold, on the same rows, so their standard error is much smaller than that of either AUC.
"""

import argparse
import json
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np
from sklearn.metrics import roc_auc_score
from sklearn.model_selection import StratifiedKFold

from benchmarks import report
from benchmarks.measure import say
from benchmarks.real_rules import ENCODERS, FOLDS, RESULTS, paired, rows_of
from softbin import LinearClassifier

SHARES = (0.01, 0.1, 1.0)
FIXED = (5, 10, 20, 50, 100)
RISK = (5, 10, 20)  # numbers that knots by risk are compared at
ALLOWED = -0.10  # AUC x 100 that the automatic number may lose to the best fixed one
Row = dict[str, Any]


def fold_scores(X: Any, y: Any, share: float, make: Any) -> tuple[list[float], float]:
    """Test AUC of each fold, and the mean number of levels."""
    scores, levels = [], []
    folds = StratifiedKFold(FOLDS, shuffle=True, random_state=0).split(X, y)
    for fold, (train, test) in enumerate(folds):
        some = np.sort(np.random.default_rng(fold).permutation(train)[: round(share * len(train))])
        model = LinearClassifier(make()).fit(X[some], y[some])
        scores.append(float(roc_auc_score(y[test], model.decision_function(X[test]))))
        levels.append(model.n_parameters_)
    return scores, float(np.mean(levels))


def study(name: str, X: Any, y: Any, share: float, kind: str) -> Row:
    """One encoder on one share of a table: all fixed numbers, the automatic one, and knots by risk."""

    def of(n_bins: Any, strategy: str) -> dict[str, Any]:
        say(f"{name}, {share:.0%} of the rows: {kind}:{n_bins} {strategy}")
        scores, levels = fold_scores(X, y, share, lambda: ENCODERS[kind](n_bins, strategy))
        return {"scores": scores, "auc": 100 * float(np.mean(scores)), "levels": levels}

    found = {f"{rule}:{n}": of(n, rule) for rule, ns in (("quantile", FIXED), ("risk", RISK)) for n in (*ns, "auto")}
    best = max(FIXED, key=lambda n: found[f"quantile:{n}"]["auc"])
    return {
        "data": name, "rows": round(share * len(y) * (FOLDS - 1) / FOLDS), "share": share, "encoder": kind,
        "best": best, "scores": found,
        "auto": _against(found, "quantile:auto", f"quantile:{best}"),
        "risk": {str(n): _against(found, f"risk:{n}", f"quantile:{n}") for n in (*RISK, "auto")},
    }  # fmt: skip


def _against(found: dict[str, Any], ours: str, other: str) -> tuple[float, float]:
    return paired(found[ours]["scores"], found[other]["scores"])


def markdown(outcome: report.Outcome) -> str:
    about = outcome["circumstances"]
    parts = [
        "# Automatic numbers of bins, and knots by risk",
        f"Written by `{about['command']}` on {about['date']}, commit {about['commit']}. LinearClassifier (ridge 1), "
        f"{FOLDS} folds, trained on a share of each fold's training rows and tested on the whole fold; AUC x 100 and "
        "the standard error of paired differences. The best fixed number is chosen with hindsight, by its test score.",
        '## `n_bins="auto"`',
        "Quantile edges. *Against the best*: AUC over that of the best fixed number; levels: automatic, best fixed.",
    ]
    head = ["data", "rows", "bins", *map(str, FIXED), "auto", "against the best", "levels", "within 0.10"]
    rows = [
        [
            row["data"], f"{row['rows']:,}", row["encoder"],
            *(f"{row['scores'][f'quantile:{n}']['auc']:.2f}" for n in (*FIXED, "auto")),
            _signed(row["auto"]),
            " and ".join(f"{row['scores'][f'quantile:{n}']['levels']:.0f}" for n in ("auto", row["best"])),
            report.met(row["auto"][0] >= ALLOWED),
        ]
        for row in outcome["rows"]
    ]  # fmt: skip
    parts.append(report.markdown_table(head, rows))
    parts.append('## `strategy="risk"`\n\nGain over quantile edges of the same number of bins.')
    head = ["data", "rows", "bins", *map(str, RISK), "auto"]
    rows = [
        [row["data"], f"{row['rows']:,}", row["encoder"], *(_signed(row["risk"][str(n)]) for n in (*RISK, "auto"))]
        for row in outcome["rows"]
    ]
    parts.append(report.markdown_table(head, rows))
    return "\n\n".join(parts) + "\n"


def _signed(pair: Sequence[float]) -> str:
    return f"{pair[0]:+.2f} ± {pair[1]:.2f}"


def main() -> int:
    options = argparse.ArgumentParser(prog="python -m benchmarks.auto_bins", description=__doc__)
    options.add_argument("tables", nargs="+", help="NAME=TABLE.parquet")
    options.add_argument("--out", type=Path, default=RESULTS, help="folder for auto_bins.json and auto_bins.md")
    asked = options.parse_args()
    named = {name: Path(path) for name, _, path in (table.partition("=") for table in asked.tables)}
    command = "python -m benchmarks.auto_bins " + " ".join(f"{name}=..." for name in named)
    outcome: report.Outcome = {"circumstances": report.circumstances(command), "rows": []}
    asked.out.mkdir(parents=True, exist_ok=True)
    for share in SHARES:
        for name, path in named.items():
            X, y = rows_of(path)
            for kind in ENCODERS:
                outcome["rows"].append(study(name, X, y, share, kind))
                # Why after each row: what has been measured is not lost when the next one is stopped.
                (asked.out / "auto_bins.json").write_text(json.dumps(outcome, indent=1) + "\n", encoding="utf-8")
                (asked.out / "auto_bins.md").write_text(markdown(outcome), encoding="utf-8")
    return 0


if __name__ == "__main__":
    raise SystemExit(main())
