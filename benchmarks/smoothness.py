"""Many bins with smoothness against the best number of bins, 5-fold. ``python -m benchmarks.smoothness NAME=TABLE ...``

The column ``label`` is the target, all others are columns. ``SoftBins(100)`` with ``smoothness="auto"`` beside plain
``SoftBins`` of several sizes; differences are taken fold by fold, on the same rows. What has been measured stands in
the JSON and is not measured again by the same commit's command: delete a row to do so.
"""

import argparse
import json
import time
from pathlib import Path
from typing import Any

import numpy as np
from sklearn.metrics import roc_auc_score
from sklearn.model_selection import StratifiedKFold

from benchmarks import report
from benchmarks.measure import say
from benchmarks.real_rules import FOLDS, paired, rows_of
from softbin import LinearClassifier, SoftBins

RESULTS = Path("docs/results")
MANY = 100
FIXED = (5, 10, 20, 50)
AUTO = f'SoftBins({MANY}), smoothness="auto"'
MODELS: dict[str, tuple[int, Any]] = {AUTO: (MANY, "auto")} | {f"SoftBins({n})": (n, None) for n in (*FIXED, MANY)}
MOST_WORSE = 0.10  # AUC points
ABOVE = {"higgs": 77.4, "susy": 86.9}  # the better of pyGAM and EBM without pairs, another split of the same rows
PLAIN = {"higgs": 77.8, "susy": 86.5}  # SoftBins(10) there
Row = dict[str, Any]


def measured(X: Any, y: Any, n_bins: int, smoothness: Any) -> Row:
    """Test AUC and seconds of every fold, and the mean of all columns' degrees of freedom."""
    scores, seconds, edf = [], [], []
    for train, test in StratifiedKFold(FOLDS, shuffle=True, random_state=0).split(X, y):
        began = time.perf_counter()
        model = LinearClassifier(SoftBins(n_bins), smoothness=smoothness).fit(X[train], y[train])
        seconds.append(time.perf_counter() - began)
        scores.append(float(roc_auc_score(y[test], model.decision_function(X[test]))))
        edf.append(model.n_parameters_ if model.edf_ is None else float(model.edf_.sum()))
    return {"auc": scores, "seconds": seconds, "edf": float(np.mean(edf))}


def markdown(outcome: report.Outcome) -> str:
    about = outcome["circumstances"]
    parts = [
        "# Many bins and smoothness, or the right number of bins?",
        f"Written by `{about['command']}` on {about['date']}, commit {about['commit']}. LinearClassifier (ridge 1), "
        f"{FOLDS} folds, AUC x 100. *Behind auto* is how much less than the first row, with the standard error of the "
        "paired difference. *Parameters*: levels, or effective degrees of freedom. Seconds: median fold, two cores "
        "that other work shared.",
    ]
    for name, rows in outcome["tables"].items():
        if AUTO not in rows["models"]:
            continue
        auto = rows["models"][AUTO]["auc"]
        table = []
        for model, row in rows["models"].items():
            gap, error = paired(auto, row["auc"])
            behind = "" if model == AUTO else f"{gap:+.2f} ± {error:.2f}"
            auc, seconds = 100 * np.mean(row["auc"]), np.median(row["seconds"])
            table.append([f"`{model}`", f"{auc:.2f}", behind, f"{row['edf']:.0f}", f"{seconds:.1f}"])
        head = ["model", "AUC", "behind auto", "parameters", "s"]
        about_rows = f"{rows['rows']:,} rows, {rows['columns']} columns. {verdict(name, rows['models'])}"
        parts.append(f"## {name}\n\n{about_rows}\n\n{report.markdown_table(head, table)}")
    return "\n\n".join(parts) + "\n"


def verdict(name: str, models: dict[str, Row]) -> str:
    """Whether the targets are met, in words."""
    mean = {model: 100 * float(np.mean(row["auc"])) for model, row in models.items()}
    fixed = [mean[f"SoftBins({n})"] for n in FIXED if f"SoftBins({n})" in mean]
    if not fixed:
        return ""
    gain = mean[AUTO] - max(fixed)
    met = "met" if gain >= -MOST_WORSE else "NOT met"
    text = f"Auto is {gain:+.2f} points from the best fixed number (target: at least -{MOST_WORSE:.2f}; {met})."
    if name in ABOVE:
        met = "met" if mean[AUTO] > ABOVE[name] else "NOT met"
        text += (
            f" Above {ABOVE[name]}, the better of pyGAM and EBM without pairs on another split of such rows (more of "
            f"them for training; plain SoftBins(10) has {PLAIN[name]} there): {met} as it stands."
        )
    return text


def main() -> int:
    options = argparse.ArgumentParser(prog="python -m benchmarks.smoothness", description=__doc__)
    options.add_argument("tables", nargs="+", help="NAME=TABLE.parquet")
    options.add_argument("--out", type=Path, default=RESULTS, help="folder for smoothness.json and smoothness.md")
    asked = options.parse_args()
    named = {name: Path(path) for name, _, path in (table.partition("=") for table in asked.tables)}
    command = "python -m benchmarks.smoothness " + " ".join(f"{name}=..." for name in named)
    file = asked.out / "smoothness.json"
    tables = json.loads(file.read_text(encoding="utf-8"))["tables"] if file.exists() else {}
    outcome: report.Outcome = {"circumstances": report.circumstances(command), "tables": tables}
    asked.out.mkdir(parents=True, exist_ok=True)
    for name, path in named.items():
        X, y = rows_of(path)
        rows = tables.setdefault(name, {"rows": len(X), "columns": X.shape[1], "models": {}})
        for model, how in MODELS.items():
            if model in rows["models"]:
                continue
            say(f"{name}: {model}")
            rows["models"][model] = measured(X, y, *how)
            file.write_text(json.dumps(outcome, indent=1) + "\n", encoding="utf-8")
        (asked.out / "smoothness.md").write_text(markdown(outcome), encoding="utf-8")
    return 0


if __name__ == "__main__":
    raise SystemExit(main())
