"""Many bins with smoothness against the best number of bins: ``python -m benchmarks.smoothness NAME=TABLE simulated``.

Of a TABLE.parquet the column ``label`` is the target, all others are columns; "simulated" are simulated events, 2,000
to a million. ``SoftBins(100)`` with ``smoothness="auto"`` beside plain ``SoftBins`` of several sizes, and on real rows
pyGAM and EBM where they are installed. What has been measured stands in the JSON and is not measured again: delete it
there to do so. ``--cost 11000000`` times a fit with ``smoothness="auto"`` beside one without, on so many made-up rows.
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

from benchmarks import report
from benchmarks.agreement import Disagreement
from benchmarks.draws import SIMULATED, Draws, asked_draws, command, paired, signed
from benchmarks.linear import TEST_ROWS, make_data
from benchmarks.measure import say
from benchmarks.peers import interpret, pygam
from softbin import LinearClassifier, SoftBins

RESULTS = Path("docs/results")
MANY = 100
FIXED = (5, 10, 20, 50)
AUTO = f'SoftBins({MANY}), smoothness="auto"'
PEERS = {"pygam": pygam, "interpret": interpret}
MOST_WORSE = 0.10  # AUC points
MOST_COST = 2.0  # times the fit without
REPEATS = 3
LEAST_AGREEMENT = 0.95
Row = dict[str, Any]


def models(peers: bool) -> dict[str, tuple[Callable[[], Any], Callable[[Any, Any], Any]]]:
    """By name: how a model is made, and how a fitted one scores a table."""
    ours = {AUTO: (MANY, "auto")} | {f"SoftBins({n})": (n, None) for n in (*FIXED, MANY)}
    made: dict[str, Any] = {
        name: (lambda n=n, s=s: LinearClassifier(SoftBins(n), smoothness=s), lambda m, X: m.decision_function(X))
        for name, (n, s) in ours.items()
    }
    installed = [peer for package, peer in PEERS.items() if peers and importlib.util.find_spec(package)]
    return made | {peer.NAME: (peer.classifier, peer.scores) for peer in installed}


def measured(draws: Draws, make: Callable[[], Any], score: Callable[[Any, Any], Any]) -> Row:
    """Test AUC and seconds of every draw, and our mean number of parameters (degrees of freedom)."""
    aucs, seconds, parameters = [], [], []
    for X, y, test_X, test_y in draws.draw():
        began = time.perf_counter()
        model = make().fit(X, y)
        seconds.append(time.perf_counter() - began)
        aucs.append(float(roc_auc_score(test_y, score(model, test_X))))
        if isinstance(model, LinearClassifier):
            parameters.append(model.n_parameters_ if model.edf_ is None else float(model.edf_.sum()))
    return {"auc": aucs, "seconds": seconds, "edf": float(np.mean(parameters)) if parameters else None}


def cost(n_rows: int) -> Row:
    """Seconds of SoftBins(100) without smoothness and with "auto", in turn; the curves have to be about the same."""
    X, y = make_data(n_rows)
    seconds: dict[str, list[float]] = {"without": [], "auto": []}
    for _ in range(REPEATS):
        fitted = {}
        for name, smoothness in (("without", None), ("auto", "auto")):
            say(f"{n_rows:,} rows, {name}")
            began = time.perf_counter()
            fitted[name] = LinearClassifier(SoftBins(MANY), smoothness=smoothness).fit(X, y)
            seconds[name].append(time.perf_counter() - began)
    scores = [model.decision_function(X[:TEST_ROWS]) for model in fitted.values()]
    agreement = float(np.corrcoef(scores)[0, 1])
    if agreement < LEAST_AGREEMENT:
        raise Disagreement(f"scores with and without smoothness correlate by {agreement:.3f} only")
    return {"rows": n_rows, "seconds": seconds, "agreement": agreement}


def cost_in_words(row: Row) -> str:
    without, auto = (float(np.median(row["seconds"][name])) for name in ("without", "auto"))
    met = "met" if auto <= MOST_COST * without else "NOT met"
    times = f'{without:.1f} s without smoothness, {auto:.1f} s with "auto", {auto / without:.2f} times as long'
    return (
        f"## What it costs\n\n{row['rows']:,} made-up rows (`--cost {row['rows']}`), 28 columns, SoftBins({MANY}), "
        f"medians of {REPEATS} fits in turn: {times} (target: at most {MOST_COST:g}; {met}). "
        f"Measured {report.origins([row])}."
    )


def markdown(outcome: report.Outcome) -> str:
    about = outcome["circumstances"]
    parts = [
        "# Many bins and smoothness, or the right number of bins?",
        f"Written by `{about['command']}`; dates and commits stand with the tables. LinearClassifier (ridge 1), AUC x "
        "100. *Behind auto* is how much less than the first row, with the standard error of the paired difference. "
        "*Parameters*: levels, or effective degrees of freedom. Seconds: median fit, two cores that other work shared. "
        "Simulated events are not the UCI data: [simulated.md](simulated.md).",
    ]
    for name, rows in outcome["tables"].items():
        if AUTO not in rows["models"]:
            continue
        auto = rows["models"][AUTO]["auc"]
        table = []
        for model, row in {AUTO: rows["models"][AUTO], **rows["models"]}.items():
            behind = "" if model == AUTO else signed(paired(auto, row["auc"]))
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
        about_rows = f"{rows['about']}. {verdict(rows['models'])} Measured {report.origins(rows['models'].values())}."
        parts.append(f"## {name}\n\n{about_rows}\n\n{report.markdown_table(head, table)}")
    if "cost" in outcome:
        parts.insert(2, cost_in_words(outcome["cost"]))
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
    options.add_argument("tables", nargs="*", help="NAME=TABLE.parquet, or simulated")
    options.add_argument("--cost", type=int, help="rows of a table to time fits on")
    options.add_argument("--out", type=Path, default=RESULTS, help="folder for smoothness.json and smoothness.md")
    asked = options.parse_args()
    file = asked.out / "smoothness.json"
    found = json.loads(file.read_text(encoding="utf-8")) if file.exists() else {}
    tables = found.get("tables", {})
    here = report.circumstances(command("smoothness", asked.tables))
    outcome: report.Outcome = {**found, "circumstances": here, "tables": tables}
    asked.out.mkdir(parents=True, exist_ok=True)

    def write() -> None:
        file.write_text(json.dumps(outcome, indent=1) + "\n", encoding="utf-8")
        (asked.out / "smoothness.md").write_text(markdown(outcome), encoding="utf-8")

    if asked.cost:
        outcome["cost"] = cost(asked.cost) | report.origin(here)
        write()
    for draws in asked_draws(asked.tables):
        real = not draws.table.startswith(SIMULATED)
        name = draws.table if real else f"{draws.table}, {draws.rows:,} events"
        rows = tables.setdefault(name, {"about": draws.about, "models": {}})
        for model, how in models(peers=real).items():
            if model in rows["models"]:
                continue
            say(f"{name}: {model}")
            rows["models"][model] = measured(draws, *how) | report.origin(here)
            write()
    return 0


if __name__ == "__main__":
    raise SystemExit(main())
