"""Inputs of one network on real rows. ``python -m benchmarks.deep_study NAME=TABLE.parquet ... --device cuda``

The target is the column ``label`` (classes) or ``target`` (numbers), all others are columns. Every input feeds the same
network, trained in the same way, on 5 folds with several seeds; boosted trees stand beside it where they are installed.
Differences to the plain network are taken on the same rows: the seeds of a fold are averaged, and the standard error is
that of the mean over folds.

Each run is written to deep_study.jsonl as soon as it is done and is not done again, so a study can be stopped at any
moment and continued with the same command. ``--only`` picks models by a part of their name, ``--rows`` takes fewer
rows.
"""

import argparse
import json
import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
from numpy.typing import NDArray
from scipy.stats import loguniform
from sklearn.metrics import accuracy_score, r2_score, roc_auc_score
from sklearn.model_selection import (
    KFold,
    RandomizedSearchCV,
    ShuffleSplit,
    StratifiedKFold,
    StratifiedShuffleSplit,
)

from benchmarks import report
from benchmarks.measure import say
from softbin import DeepClassifier, DeepRegressor, MultiBins

RESULTS = Path("docs/results")
FOLDS = 5
BASE = "plain"
Row = dict[str, Any]


@dataclass(frozen=True)
class Model:
    """What feeds the network (or which trees), and the options that differ from those of the study."""

    bins: Any
    options: dict[str, Any]


def network(bins: Any, **options: Any) -> Model:
    return Model(bins, options)


def models() -> dict[str, Model]:
    """All of them by name. "random" tables start with unrelated rows and train them, as the paper's do; others start
    smooth and train steps, but for those named "rows"."""
    found = {BASE: network("plain"), "plain, 32 members": network("plain", ensemble=32)}
    for kind in ("hard", "soft"):
        for n_bins in (5, 10, 100):
            found[f"random {kind}:{n_bins}"] = network(f"{kind}:{n_bins}", init="random", basis="rows")
    found["random multi"] = network(MultiBins((10, 100, 1000, 10000)), init="random", basis="rows")
    for n_bins in (10, 100):
        found[f"hard:{n_bins}"] = network(f"hard:{n_bins}")
        found[f"hard:{n_bins}, rows"] = network(f"hard:{n_bins}", basis="rows")
    for n_bins in (5, 10, 20, 40, 100):
        found[f"soft:{n_bins}"] = network(f"soft:{n_bins}")
        found[f"soft:{n_bins}, rows"] = network(f"soft:{n_bins}", basis="rows")
    for n_bins in (10, 40):
        found[f"soft:{n_bins}, dim 4"] = network(f"soft:{n_bins}", embedding_dim=4)
        found[f"soft:{n_bins}, dim 4, 32 members"] = network(f"soft:{n_bins}", embedding_dim=4, ensemble=32)
    found["soft:100, smoothness 1e-4"] = network("soft:100", smoothness=1e-4)
    for peer in ("ple:48", "periodic", "pbld", "autodis"):
        found[peer] = network(peer)
    return found | {name: Model(name, {}) for name in TREES if _installed(name)}


def _lightgbm(classes: bool, seed: int, **options: Any) -> Any:
    import lightgbm

    kind = lightgbm.LGBMClassifier if classes else lightgbm.LGBMRegressor
    return kind(
        **{"n_estimators": 500, "learning_rate": 0.05, "num_leaves": 31, **options}, random_state=seed, verbose=-1
    )


def _catboost(classes: bool, seed: int) -> Any:
    import catboost

    kind = catboost.CatBoostClassifier if classes else catboost.CatBoostRegressor
    return kind(iterations=1000, random_seed=seed, verbose=False, allow_writing_files=False)


def _tuned(make: Callable[[bool, int], Any], n_tries: int, **choices: Any) -> Callable[[bool, int], Any]:
    """The best of random settings on a fifth of the training rows, then fitted to all of them."""

    def search(classes: bool, seed: int) -> Any:
        split = (StratifiedShuffleSplit if classes else ShuffleSplit)(1, test_size=0.2, random_state=seed)
        metric = "roc_auc_ovr" if classes else "r2"
        return RandomizedSearchCV(
            make(classes, seed), choices, n_iter=n_tries, cv=split, scoring=metric, random_state=seed
        )

    return search


TREES: dict[str, Callable[[bool, int], Any]] = {
    "lightgbm": _lightgbm,
    "lightgbm, tuned": _tuned(
        partial(_lightgbm, subsample_freq=1), 20, n_estimators=[250, 500, 1000, 2000],
        learning_rate=loguniform(0.01, 0.1), num_leaves=[15, 31, 63, 127], min_child_samples=[10, 30, 100, 300],
        colsample_bytree=[0.3, 0.5, 0.7, 1.0], subsample=[0.5, 0.7, 1.0], reg_lambda=[0.0, 1.0, 10.0, 100.0],
    ),
    "catboost": _catboost,
    "catboost, tuned": _tuned(
        _catboost, 8, depth=[4, 6, 8], learning_rate=loguniform(0.02, 0.15), iterations=[500, 1000, 2000],
        l2_leaf_reg=[1, 3, 10, 30],
    ),
}  # fmt: skip


def _installed(name: str) -> bool:
    try:
        __import__(name.partition(",")[0])
    except ImportError:
        return False
    return True


@dataclass(frozen=True)
class Settings:
    """What all networks of a study share."""

    device: str
    width: int
    depth: int
    epochs: int
    rows: int | None

    def make(self, model: Model, classes: bool, seed: int) -> Any:
        if model.bins in TREES and isinstance(model.bins, str):
            return TREES[model.bins](classes, seed)
        options = {"width": self.width, "depth": self.depth, "epochs": self.epochs, "device": self.device}
        kind = DeepClassifier if classes else DeepRegressor
        return kind(model.bins, **options, **model.options, random_state=seed)


def read(path: Path, rows: int | None) -> tuple[NDArray[np.float32], NDArray[Any], bool]:
    """Table, target, and whether it is classes."""
    frame = pd.read_parquet(path)
    classes = "label" in frame
    y = frame.pop("label" if classes else "target").to_numpy()
    X = frame.to_numpy(np.float32)
    if rows is not None and rows < len(X):
        chosen = np.random.default_rng(0).permutation(len(X))[:rows]
        X, y = X[chosen], y[chosen]
    return X, y, classes


def score(model: Any, X: Any, y: Any, classes: bool) -> float:
    """AUC of two classes, accuracy of more, R^2 of numbers; x 100."""
    if not classes:
        return 100 * float(r2_score(y, model.predict(X)))
    share = model.predict_proba(X)
    if share.shape[1] == 2:
        return 100 * float(roc_auc_score(y, share[:, 1]))
    return 100 * float(accuracy_score(y, model.classes_[share.argmax(1)]))


def folds(X: Any, y: Any, classes: bool) -> Iterator[tuple[int, Any, Any]]:
    split = (StratifiedKFold if classes else KFold)(FOLDS, shuffle=True, random_state=0)
    for fold, (train, test) in enumerate(split.split(X, y)):
        yield fold, train, test


def run(settings: Settings, model: Model, seed: int, data: Any, fold: tuple[int, Any, Any]) -> Row:
    """One fit and its score."""
    X, y, classes = data
    number, train, test = fold
    made = settings.make(model, classes, seed)
    began = time.perf_counter()
    made.fit(X[train], y[train])
    seconds = time.perf_counter() - began
    found: Row = {"fold": number, "seed": seed, "score": score(made, X[test], y[test], classes), "seconds": seconds}
    if hasattr(made, "history_"):
        found["rows_per_second"] = float(np.median([epoch.rows_per_second for epoch in made.history_]))
        found["best_epoch"], found["batch_size"] = made.best_epoch_, made.batch_size_
        found["parameters"], found["ran"] = list(made.n_parameters_), made.implementation_
    return found


def study(
    named: dict[str, Path], settings: Settings, chosen: dict[str, Model], n_seeds: int, out: Path
) -> report.Outcome:
    """All runs that are not in the log yet, then the report over all of it."""
    log = out / "deep_study.jsonl"
    out.mkdir(parents=True, exist_ok=True)
    shared = {"width": settings.width, "depth": settings.depth, "epochs": settings.epochs, "rows": settings.rows}
    outcome: report.Outcome = {
        "circumstances": report.circumstances("python -m benchmarks.deep_study " + " ".join(f"{n}=..." for n in named)),
        "settings": {**shared, "device": device_name(settings.device)},
        "tables": {},
    }
    for name, path in named.items():
        data = read(path, settings.rows)
        outcome["tables"][name] = {"rows": len(data[0]), "columns": data[0].shape[1], "metric": metric(data)}
        for seed in range(n_seeds):
            for fold in folds(*data):
                done = {(row["data"], row["model"], row["seed"], row["fold"]) for row in logged(log, shared)}
                for label, model in chosen.items():
                    if (name, label, seed, fold[0]) in done:
                        continue
                    say(f"{name}: {label}, seed {seed}, fold {fold[0]}")
                    row = {"data": name, "model": label, **shared, **run(settings, model, seed, data, fold)}
                    with log.open("a", encoding="utf-8") as file:
                        file.write(json.dumps(row) + "\n")
                write(outcome, logged(log, shared), out)
    return outcome


def logged(log: Path, shared: Row) -> list[Row]:
    """The runs with these settings; a line that was cut off when the study was killed counts as not done."""
    rows = []
    for line in log.read_text(encoding="utf-8").splitlines() if log.exists() else []:
        try:
            row = json.loads(line)
        except json.JSONDecodeError:
            continue
        if all(row.get(name) == value for name, value in shared.items()):
            rows.append(row)
    return rows


def metric(data: Any) -> str:
    _, y, classes = data
    return "R2" if not classes else "AUC" if len(np.unique(y)) == 2 else "accuracy"


def device_name(device: str) -> str:
    import torch

    from softbin.deep.fitting import device_of

    found = device_of(device)
    return torch.cuda.get_device_name(found) if found.type == "cuda" else "CPU"


def paired(scores: NDArray[np.float64], base: NDArray[np.float64]) -> tuple[float, float]:
    """Mean difference and its standard error; both are seeds x folds, NaN where a run is missing."""
    differences = np.nanmean(scores - base, axis=0)
    differences = differences[~np.isnan(differences)]
    error = differences.std(ddof=1) / np.sqrt(len(differences)) if len(differences) > 1 else np.nan
    return float(differences.mean()), float(error)


def summarised(rows: list[Row]) -> list[Row]:
    """One row per table and model."""
    found = []
    for data in dict.fromkeys(row["data"] for row in rows):
        runs = [row for row in rows if row["data"] == data]
        seeds = 1 + max(row["seed"] for row in runs)
        grids: dict[str, NDArray[np.float64]] = {}
        for row in runs:
            grid = grids.setdefault(row["model"], np.full((seeds, FOLDS), np.nan))
            grid[row["seed"], row["fold"]] = row["score"]
        for model, grid in grids.items():
            own = [row for row in runs if row["model"] == model]
            known = BASE in grids and bool(np.any(~np.isnan(grid - grids[BASE])))
            gain, error = paired(grid, grids[BASE]) if known else (np.nan, np.nan)
            found.append(
                {
                    "data": data, "model": model, "runs": len(own), "score": float(np.nanmean(grid)), "gain": gain,
                    "error": error, "seconds": float(np.median([row["seconds"] for row in own])),
                    "parameters": own[-1].get("parameters"),
                    "rows_per_second": float(np.median([row.get("rows_per_second", np.nan) for row in own])),
                }
            )  # fmt: skip
    return found


def write(outcome: report.Outcome, rows: list[Row], out: Path) -> None:
    outcome["models"] = summarised(rows)
    text = json.dumps(outcome, indent=1)
    (out / "deep_study.json").write_text(text.replace("NaN", "null") + "\n", encoding="utf-8")
    (out / "deep_study.md").write_text(markdown(outcome), encoding="utf-8")


def markdown(outcome: report.Outcome) -> str:
    about, settings = outcome["circumstances"], outcome["settings"]
    parts = [
        "# What feeds the network? Inputs on real rows",
        f"Written by `{about['command']}` on {about['date']}, commit {about['commit']}, {settings['device']}. The same "
        f"network ({settings['depth']} x {settings['width']}, {settings['epochs']} epochs at most, early stopping) on "
        f"every input, {FOLDS} folds; scores x 100. *Gain* is over the plain network (normal scores of the columns) on "
        "the same rows, with the standard error of the mean over folds. Tables start smooth unless *random*.",
    ]
    for name, table in outcome["tables"].items():
        rows = [row for row in outcome["models"] if row["data"] == name]
        cells = [
            [
                f"`{row['model']}`", f"{row['score']:.2f}", f"{row['gain']:+.2f} ± {row['error']:.2f}",
                "" if row["parameters"] is None else " / ".join(f"{count:,}" for count in row["parameters"]),
                f"{row['seconds']:.1f}", str(row["runs"]),
            ]
            for row in sorted(rows, key=lambda row: -row["score"])
        ]  # fmt: skip
        head = ["input", table["metric"], "gain", "table rows / embedding / network", "seconds per fit", "runs"]
        parts += [f"## {name}\n\n{table['rows']:,} rows, {table['columns']} columns."]
        parts.append(report.markdown_table(head, cells))
    return "\n\n".join(parts) + "\n"


def main() -> int:
    options = argparse.ArgumentParser(prog="python -m benchmarks.deep_study", description=__doc__)
    options.add_argument("tables", nargs="+", help="NAME=TABLE.parquet")
    options.add_argument("--device", default="auto")
    options.add_argument("--seeds", type=int, default=3)
    options.add_argument("--only", nargs="*", default=[], help="models whose name has one of these in it, and plain")
    options.add_argument("--rows", type=int, help="as many rows of each table, chosen at random")
    options.add_argument("--width", type=int, default=512)
    options.add_argument("--depth", type=int, default=3)
    options.add_argument("--epochs", type=int, default=30)
    options.add_argument("--out", type=Path, default=RESULTS, help="folder for deep_study.jsonl, .json and .md")
    asked = options.parse_args()
    named = {name: Path(path) for name, _, path in (table.partition("=") for table in asked.tables)}
    everything = models()
    chosen = {
        name: model
        for name, model in everything.items()
        if not asked.only or name == BASE or any(part in name for part in asked.only)
    }
    settings = Settings(asked.device, asked.width, asked.depth, asked.epochs, asked.rows)
    study(named, settings, chosen, asked.seeds, asked.out)
    return 0


if __name__ == "__main__":
    raise SystemExit(main())
