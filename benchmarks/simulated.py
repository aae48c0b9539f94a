"""Simulated events beside a real sample: ``python -m benchmarks.simulated higgs SAMPLE``, or ``susy``.

SAMPLE is a Parquet file with the columns of UCI HIGGS or SUSY and a ``label``. Written are the distance of every column
(Kolmogorov and Smirnov), how correlations differ, what models reach on either, what a model trained on simulated rows
reaches on real ones, the speed, and a figure with the histograms on top of each other. Needs pandas, pyarrow and
matplotlib; LightGBM is compared where it is installed.
"""

import argparse
import importlib.util
import json
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy.stats import ks_2samp
from sklearn.linear_model import LogisticRegression
from sklearn.metrics import roc_auc_score
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

from benchmarks import report
from benchmarks.draws import SIMULATIONS
from benchmarks.measure import busy_cores, say
from softbin import LinearClassifier

RESULTS, IMAGES = Path("docs/results"), Path("docs/images")
ROWS, SPEED_ROWS, SEED = 60_000, 1_000_000, 1
DISTANCE, MEDIAN_DISTANCE, CORRELATION = 0.15, 0.07, 0.15
SPEED, CORES = 300_000, 2  # rows a second, on so many cores
RAW = {"higgs": (0.62, 0.74), "susy": (0.82, 0.88)}
SOFT = {"higgs": (0.74, 0.81), "susy": (0.84, 0.90)}
CARRIED = {"higgs": 0.72, "susy": 0.83}
PLAINLY = (
    "Simulated events are not the UCI data: they come from a small Monte Carlo of the same physics, and numbers "
    "measured on them are not UCI numbers. This page says how near they come."
)
Matrix = NDArray[np.float32]
Labels = NDArray[np.integer[Any]]
Outcome = dict[str, Any]


def read_sample(path: Path, columns: tuple[str, ...]) -> tuple[Matrix, Labels]:
    import pandas as pd

    frame = pd.read_parquet(path)
    missing = [name for name in ("label", *columns) if name not in frame]
    if missing:
        raise SystemExit(f"{path}: no column {missing[0]!r}; pass a sample with the UCI columns and a label")
    return frame[list(columns)].to_numpy(np.float32), frame["label"].to_numpy(int)


def distances(simulated: Matrix, real: Matrix, columns: tuple[str, ...]) -> dict[str, float]:
    """Largest difference of the distribution functions. Tags are rounded: some real samples were saved so."""
    return {
        name: float(ks_2samp(*(np.round(x[:, at], 2) if "b_tag" in name else x[:, at] for x in (simulated, real)))[0])
        for at, name in enumerate(columns)
    }


def correlations(simulated: Matrix, real: Matrix, columns: tuple[str, ...]) -> list[dict[str, Any]]:
    """The pairs of columns whose correlation differs most."""
    ours, theirs = np.corrcoef(simulated.T), np.corrcoef(real.T)
    off = np.triu(np.abs(ours - theirs), 1)
    pairs = [np.unravel_index(at, off.shape) for at in np.argsort(-off, axis=None)[:5]]
    return [
        {"columns": [columns[a], columns[b]], "simulated": float(ours[a, b]), "real": float(theirs[a, b])}
        for a, b in pairs
    ]


def models() -> dict[str, Callable[[], Any]]:
    found: dict[str, Callable[[], Any]] = {
        "logistic regression, raw columns": lambda: make_pipeline(StandardScaler(), LogisticRegression(max_iter=500)),
        "LLE(10) logistic regression": lambda: LinearClassifier("soft:10"),
    }
    if importlib.util.find_spec("lightgbm"):
        from lightgbm import LGBMClassifier

        found["LightGBM, 300 trees"] = lambda: LGBMClassifier(n_estimators=300, learning_rate=0.06, verbose=-1)
    return found


def areas(simulated: tuple[Matrix, Labels], real: tuple[Matrix, Labels]) -> list[dict[str, Any]]:
    """AUC on held-out quarters of either, and from the simulated rows to all real ones."""
    rows = []
    for name, make in models().items():
        say(name)
        row: dict[str, Any] = {"model": name}
        for where, (X, y) in (("simulated", simulated), ("real", real)):
            cut = 3 * len(X) // 4
            model = make().fit(X[:cut], y[:cut])
            row[where] = float(roc_auc_score(y[cut:], model.predict_proba(X[cut:])[:, 1]))
            if where == "simulated":
                row["carried"] = float(roc_auc_score(real[1], model.predict_proba(real[0])[:, 1]))
        rows.append(row)
    return rows


def speed(simulate: Callable[..., Any], rows: int) -> Outcome:
    busy = busy_cores()
    start, used = time.perf_counter(), time.process_time()
    simulate(rows, seed=SEED)
    seconds, used = time.perf_counter() - start, time.process_time() - used
    return {
        "rows": rows,
        "rows_per_second": rows / seconds,
        "processor_microseconds_per_row": 1e6 * used / rows,
        "busy_cores": busy,
    }


def compare(name: str, path: Path, rows: int, speed_rows: int) -> Outcome:
    simulate = SIMULATIONS[name]
    data = simulate(rows, seed=SEED)
    X, y = read_sample(path, data.columns)
    classes = {"both": None, "background": 0, "signal": 1}
    parts = {
        part: (data.X, X) if label is None else (data.X[data.y == label], X[y == label])
        for part, label in classes.items()
    }
    return {
        "circumstances": report.circumstances(f"python -m benchmarks.simulated {name} SAMPLE"),
        "rows": {"simulated": len(data.X), "real": len(X)},
        "distances": {part: distances(*tables, data.columns) for part, tables in parts.items()},
        "correlations": correlations(*parts["both"], data.columns),
        "areas": areas((data.X, data.y), (X, y)),
        "speed": speed(simulate, speed_rows),
    }


def targets(name: str, outcome: Outcome) -> list[list[str]]:
    """Each target beside what was found."""
    both = list(outcome["distances"]["both"].values())
    correlation = max(abs(pair["simulated"] - pair["real"]) for pair in outcome["correlations"])
    raw, soft, *trees = outcome["areas"]
    rows = [
        ("largest distance of a column", max(both), f"at most {DISTANCE}", max(both) <= DISTANCE),
        ("median distance", float(np.median(both)), f"at most {MEDIAN_DISTANCE}", np.median(both) <= MEDIAN_DISTANCE),
        ("largest difference of a correlation", correlation, f"at most {CORRELATION}", correlation <= CORRELATION),
        ("AUC, raw columns", raw["simulated"], "{} to {}".format(*RAW[name]), _within(raw["simulated"], RAW[name])),
        ("AUC, LLE(10)", soft["simulated"], "{} to {}".format(*SOFT[name]), _within(soft["simulated"], SOFT[name])),
        ("AUC, LLE(10) on real rows", soft["carried"], f"at least {CARRIED[name]}", soft["carried"] >= CARRIED[name]),
    ]
    if trees and name == "higgs":
        ahead = trees[0]["simulated"] - soft["simulated"]
        rows.append(("AUC, LightGBM above LLE(10)", ahead, "at least 0.02", ahead >= 0.02))
    used = outcome["speed"]["processor_microseconds_per_row"]
    allowed = 1e6 * CORES / SPEED
    rows.append(("processor microseconds a row", used, f"at most {allowed:.2f}", used <= allowed))
    table = [[what, f"{value:.3f}", target, report.met(bool(good))] for what, value, target, good in rows]
    per_second, busy = outcome["speed"]["rows_per_second"], outcome["speed"]["busy_cores"] > 0.2
    met = report.met(None if busy and per_second < SPEED else per_second >= SPEED)
    return [*table, ["rows a second", f"{per_second:,.0f}", f"at least {SPEED:,}", met]]


def _within(value: float, limits: tuple[float, float]) -> bool:
    return limits[0] <= value <= limits[1]


def markdown(outcomes: dict[str, Outcome]) -> str:
    """The whole page, one section per problem."""
    parts = ["# Simulated events beside real samples", PLAINLY, "Written by a command, not by hand."]
    for name, outcome in outcomes.items():
        about, machine = outcome["circumstances"], outcome["circumstances"]["machine"]
        rows, speed = outcome["rows"], outcome["speed"]
        parts += [
            f"## {name.upper()}",
            f"`{about['command']}`, {about['date']}, commit {about['commit']}; {rows['simulated']:,} simulated and "
            f"{rows['real']:,} real rows; {machine['cores']} cores ({machine['cpu']}), of which other processes kept "
            f"{speed['busy_cores']:.1f} busy. Speed is measured with {speed['rows']:,} rows; where others keep cores "
            f"busy, what is judged is the processor time of a row, for {SPEED:,} rows a second on {CORES} cores.",
            report.markdown_table(["what", "found", "target", "met"], targets(name, outcome)),
            f"![Histograms of every column](../images/simulated_{name}.png)",
            "AUC x 100 on a held-out quarter of the same kind, and of the model trained on simulated rows on all real "
            "ones:",
            _areas_table(outcome),
            "Kolmogorov-Smirnov distance of every column, both classes together and each alone:",
            _distances_table(outcome),
            "Correlations that differ most:",
            report.markdown_table(
                ["columns", "simulated", "real"],
                [
                    [" and ".join(pair["columns"]), f"{pair['simulated']:.2f}", f"{pair['real']:.2f}"]
                    for pair in outcome["correlations"]
                ],
            ),
        ]
    return "\n\n".join(parts) + "\n"


def _areas_table(outcome: Outcome) -> str:
    rows = [
        [row["model"], *(f"{100 * row[kind]:.1f}" for kind in ("simulated", "real", "carried"))]
        for row in outcome["areas"]
    ]
    return report.markdown_table(["model", "simulated", "real", "simulated to real"], rows)


def _distances_table(outcome: Outcome) -> str:
    parts = outcome["distances"]
    rows = [[name, *(f"{parts[part][name]:.3f}" for part in parts)] for name in parts["both"]]
    return report.markdown_table(["column", *parts], rows)


def draw(name: str, path: Path, to: Path, rows: int) -> None:
    """Histograms of every column: real filled, simulated as lines, background and signal."""
    import matplotlib

    matplotlib.use("agg")
    import matplotlib.pyplot as plt

    data = SIMULATIONS[name](rows, seed=SEED)
    X, y = read_sample(path, data.columns)
    n_rows = -(-len(data.columns) // 6)
    figure, axes = plt.subplots(n_rows, 6, figsize=(13, 1.75 * n_rows + 0.6))
    for at, axis in enumerate(axes.flat):
        axis.set_yticks([])
        if at >= len(data.columns):
            axis.axis("off")
            continue
        low, high = np.quantile(X[:, at], [0.001, 0.99])
        edges = np.linspace(low, high + 1e-6, 41)
        for label, color in ((0, "tab:blue"), (1, "tab:red")):
            axis.hist(X[y == label, at], edges, density=True, color=color, alpha=0.3)
            axis.hist(data.X[data.y == label, at], edges, density=True, color=color, histtype="step", linewidth=1.1)
        axis.set_title(data.columns[at], fontsize=8, pad=2)
        axis.tick_params(labelsize=6)
    figure.suptitle(
        f"{name.upper()}: simulated (lines) beside real (filled); blue background, red signal. "
        "Simulated numbers are not UCI numbers.",
        fontsize=10,
    )
    figure.tight_layout()
    to.parent.mkdir(parents=True, exist_ok=True)
    figure.savefig(to, dpi=75, pil_kwargs={"optimize": True})
    plt.close(figure)


def write(outcomes: dict[str, Outcome], folder: Path) -> None:
    folder.mkdir(parents=True, exist_ok=True)
    (folder / "simulated.json").write_text(json.dumps(outcomes, indent=1) + "\n", encoding="utf-8")
    (folder / "simulated.md").write_text(markdown(outcomes), encoding="utf-8")


def read_earlier(folder: Path) -> dict[str, Outcome]:
    """What was found for the other problem, so that one command keeps the other's section."""
    path = folder / "simulated.json"
    return json.loads(path.read_text(encoding="utf-8")) if path.exists() else {}


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("problem", choices=SIMULATIONS)
    parser.add_argument("sample", type=Path, help="Parquet file of real rows to compare with")
    parser.add_argument("--rows", type=int, default=ROWS)
    parser.add_argument("--speed-rows", type=int, default=SPEED_ROWS)
    parser.add_argument("--out", type=Path, default=RESULTS)
    parser.add_argument("--images", type=Path, default=IMAGES)
    options = parser.parse_args()
    outcome = compare(options.problem, options.sample, options.rows, options.speed_rows)
    outcomes = dict(sorted({**read_earlier(options.out), options.problem: outcome}.items()))
    write(outcomes, options.out)
    draw(options.problem, options.sample, options.images / f"simulated_{options.problem}.png", options.rows)
    for row in targets(options.problem, outcome):
        print("{:<38}{:>10}  {:<18}{}".format(*row))


if __name__ == "__main__":
    main()
