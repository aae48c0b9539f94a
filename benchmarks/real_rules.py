"""Every rule under the linear model on real rows, 5-fold. ``python -m benchmarks.real_rules NAME=TABLE.parquet ...``

The column ``label`` is the target, all others are columns. Each rule finds its boundaries inside every fold, from
training rows alone; differences to equal-frequency bins are taken fold by fold, on the same rows, so their standard
error is much smaller than that of either AUC. *Optimism* is how much a rule gains when its boundaries may also look at
the labels of the rows it is tested on: what leakage through boundaries would be worth.
"""

import argparse
import json
from pathlib import Path
from typing import Any

import numpy as np
from sklearn.metrics import roc_auc_score
from sklearn.model_selection import StratifiedKFold

from benchmarks import report
from benchmarks.draws import FOLDS, paired, rows_of, signed
from benchmarks.measure import say
from softbin import HardBins, LinearClassifier, MultiBins, SoftBins
from softbin.boundaries import STRATEGIES
from softbin.boundaries.rule import asked_target

RESULTS = Path("docs/results")
BINS = (5, 10, 20)
BASE = "quantile"
ENCODERS = {"soft": SoftBins, "hard": HardBins}
Row = dict[str, Any]


def fold_scores(X: Any, y: Any, make: Any, *, leak: bool = False) -> tuple[list[float], float]:
    """Test AUC of each fold, and the mean number of levels. ``leak``: boundaries see the test rows too."""
    scores, levels = [], []
    for train, test in StratifiedKFold(FOLDS, shuffle=True, random_state=0).split(X, y):
        bins = make().fit(X, y) if leak else make()
        model = LinearClassifier(bins).fit(X[train], y[train])
        scores.append(float(roc_auc_score(y[test], model.decision_function(X[test]))))
        levels.append(model.n_parameters_)
    return scores, float(np.mean(levels))


def study(name: str, path: Path) -> list[Row]:
    X, y = rows_of(path)
    found: list[Row] = []
    for kind, encoder in ENCODERS.items():
        for n_bins in BINS:
            base, _ = fold_scores(X, y, lambda encoder=encoder, n=n_bins: encoder(n, BASE))
            for rule, made in STRATEGIES.items():
                say(f"{name}: {kind}:{n_bins} {rule}")
                make = lambda encoder=encoder, n=n_bins, rule=rule: encoder(n, rule)  # noqa: E731
                scores, levels = fold_scores(X, y, make)
                gain, error = paired(scores, base)
                optimism = None
                if asked_target(made()) is not None and n_bins == 10:
                    leaked, _ = fold_scores(X, y, make, leak=True)
                    optimism = paired(leaked, scores)
                found.append(
                    {
                        "data": name, "encoder": kind, "n_bins": n_bins, "rule": rule, "auc": 100 * np.mean(scores),
                        "gain": gain, "error": error, "levels": levels, "optimism": optimism,
                    }
                )  # fmt: skip
    base, _ = fold_scores(X, y, lambda: HardBins(10))
    for soft in (False, True):
        say(f"{name}: multi {'soft' if soft else 'hard'}")
        scores, levels = fold_scores(X, y, lambda soft=soft: MultiBins((5, 10, 20, 100, 1000), soft=soft))
        gain, error = paired(scores, base)
        found.append(
            {
                "data": name, "encoder": "multi, soft" if soft else "multi", "n_bins": "5-1000", "rule": BASE,
                "auc": 100 * np.mean(scores), "gain": gain, "error": error, "levels": levels, "optimism": None,
            }
        )  # fmt: skip
    return found


def markdown(outcome: report.Outcome) -> str:
    about = outcome["circumstances"]
    parts = [
        "# Which boundaries? Rules under the linear model on real rows",
        f"Written by `{about['command']}` on {about['date']}, commit {about['commit']}. LinearClassifier (ridge 1) on "
        f"each encoding, {FOLDS} folds, AUC x 100. *Gain* is over equal-frequency bins of the same number and kind, "
        "with the standard error of the paired difference (MultiBins: over HardBins(10)). *Optimism* is what the same "
        "rule gains when its boundaries may look at the labels of the test rows too.",
    ]
    for name in dict.fromkeys(row["data"] for row in outcome["rows"]):
        rows = [row for row in outcome["rows"] if row["data"] == name]
        about_table = outcome["tables"][name]
        parts.append(f"## {name}\n\n{about_table['rows']:,} rows, {about_table['columns']} columns.")
        table = [
            [
                f"{row['encoder']}:{row['n_bins']}", f"`{row['rule']}`", f"{row['auc']:.2f}",
                signed((row["gain"], row["error"])), f"{row['levels']:.0f}",
                "" if row["optimism"] is None else f"{row['optimism'][0]:+.3f} ± {row['optimism'][1]:.3f}",
            ]
            for row in rows
        ]  # fmt: skip
        head = ["bins", "rule", "AUC", "gain", "levels", "optimism"]
        parts.append(report.markdown_table(head, table))
    return "\n\n".join(parts) + "\n"


def main() -> int:
    options = argparse.ArgumentParser(prog="python -m benchmarks.real_rules", description=__doc__)
    options.add_argument("tables", nargs="+", help="NAME=TABLE.parquet")
    options.add_argument("--out", type=Path, default=RESULTS, help="folder for real_rules.json and real_rules.md")
    asked = options.parse_args()
    named = {name: Path(path) for name, _, path in (table.partition("=") for table in asked.tables)}
    outcome: report.Outcome = {
        "circumstances": report.circumstances("python -m benchmarks.real_rules " + " ".join(f"{n}=..." for n in named)),
        "tables": {},
        "rows": [],
    }
    for name, path in named.items():
        X, _ = rows_of(path)
        outcome["tables"][name] = {"rows": len(X), "columns": X.shape[1]}
        outcome["rows"] += study(name, path)
        # Why after each table: what has been measured is not lost when the next one is stopped.
        asked.out.mkdir(parents=True, exist_ok=True)
        (asked.out / "real_rules.json").write_text(json.dumps(outcome, indent=1) + "\n", encoding="utf-8")
        (asked.out / "real_rules.md").write_text(markdown(outcome), encoding="utf-8")
    return 0


if __name__ == "__main__":
    raise SystemExit(main())
