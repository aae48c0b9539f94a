"""Many bins with smoothness against the best number of bins, 5-fold. ``python -m benchmarks.smoothness NAME=TABLE ...``

The column ``label`` is the target, all others are columns. ``SoftBins(100)`` with ``smoothness="auto"`` beside plain
``SoftBins`` of several sizes, and pyGAM and EBM where they are installed; differences are taken fold by fold, on the
same rows. What has been measured stands in the JSON and is not measured again: delete it there to do so.
"""

import argparse
import importlib.util
import json
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
from sklearn.metrics import roc_auc_score
from sklearn.model_selection import StratifiedKFold

from benchmarks import report
from benchmarks.measure import say
from benchmarks.peers import interpret, pygam
from benchmarks.real_rules import FOLDS, paired, rows_of
from softbin import LinearClassifier, SoftBins

RESULTS = Path("docs/results")
MANY = 100
FIXED = (5, 10, 20, 50)
AUTO = f'SoftBins({MANY}), smoothness="auto"'
PEERS = {"pygam": pygam, "interpret": interpret}
MOST_WORSE = 0.10  # AUC points
Row = dict[str, Any]


def models() -> dict[str, tuple[Callable[[], Any], Callable[[Any, Any], Any]]]:
    """By name: how a model is made, and how a fitted one scores a table."""
    ours = {AUTO: (MANY, "auto")} | {f"SoftBins({n})": (n, None) for n in (*FIXED, MANY)}
    made: dict[str, Any] = {
        name: (lambda n=n, s=s: LinearClassifier(SoftBins(n), smoothness=s), lambda m, X: m.decision_function(X))
        for name, (n, s) in ours.items()
    }
    installed = [peer for package, peer in PEERS.items() if importlib.util.find_spec(package)]
    return made | {peer.NAME: (peer.classifier, peer.scores) for peer in installed}


def measured(X: Any, y: Any, make: Callable[[], Any], score: Callable[[Any, Any], Any]) -> Row:
    """Test AUC and seconds of every fold, and our mean number of parameters (degrees of freedom)."""
    aucs, seconds, parameters = [], [], []
    for train, test in StratifiedKFold(FOLDS, shuffle=True, random_state=0).split(X, y):
        began = time.perf_counter()
        model = make().fit(X[train], y[train])
        seconds.append(time.perf_counter() - began)
        aucs.append(float(roc_auc_score(y[test], score(model, X[test]))))
        if isinstance(model, LinearClassifier):
            parameters.append(model.n_parameters_ if model.edf_ is None else float(model.edf_.sum()))
    return {"auc": aucs, "seconds": seconds, "edf": float(np.mean(parameters)) if parameters else None}


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
            table.append(
                [
                    f"`{model}`",
                    f"{auc:.2f}",
                    behind,
                    "" if row["edf"] is None else f"{row['edf']:.0f}",
                    f"{seconds:.1f}",
                ]
            )
        head = ["model", "AUC", "behind auto", "parameters", "s"]
        about_rows = f"{rows['rows']:,} rows, {rows['columns']} columns. {verdict(rows['models'])}"
        parts.append(f"## {name}\n\n{about_rows}\n\n{report.markdown_table(head, table)}")
    return "\n\n".join(parts) + "\n"


def verdict(found: dict[str, Row]) -> str:
    """Whether the targets are met, in words."""
    mean = {model: 100 * float(np.mean(row["auc"])) for model, row in found.items()}
    fixed = [mean[f"SoftBins({n})"] for n in FIXED if f"SoftBins({n})" in mean]
    if not fixed:
        return ""
    gain = mean[AUTO] - max(fixed)
    met = "met" if gain >= -MOST_WORSE else "NOT met"
    text = f"Auto is {gain:+.2f} points from the best fixed number (target: at least -{MOST_WORSE:.2f}; {met})."
    for peer in PEERS.values():
        if peer.NAME in mean:
            text += f" From {peer.NAME} it is {mean[AUTO] - mean[peer.NAME]:+.2f}."
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
        for model, how in models().items():
            if model in rows["models"]:
                continue
            say(f"{name}: {model}")
            rows["models"][model] = measured(X, y, *how)
            file.write_text(json.dumps(outcome, indent=1) + "\n", encoding="utf-8")
        (asked.out / "smoothness.md").write_text(markdown(outcome), encoding="utf-8")
    return 0


if __name__ == "__main__":
    raise SystemExit(main())
