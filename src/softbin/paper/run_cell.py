"""One cell, computed: rows in, a report and test scores out. No state, no files."""

import importlib.metadata
import platform
import time
import warnings
from dataclasses import asdict, dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray
from sklearn.metrics import log_loss, roc_auc_score

import softbin
from softbin.paper.cells import Cell
from softbin.paper.estimators import count_parameters, make_estimator, scores_of
from softbin.paper.peak_memory import peak_bytes, restart_peak
from softbin.paper.samples import Sample

PACKAGES = ("numpy", "scipy", "scikit-learn", "torch", "lightgbm")


@dataclass(frozen=True)
class Rows:
    """Which rows of a sample a cell is trained on, and which it is tested on."""

    train: Any
    test: Any


def run_cell(cell: Cell, sample: Sample, device: str, n_jobs: int | None) -> tuple[dict[str, Any], NDArray[np.float64]]:
    """The report of a cell, and its score of every test row."""
    if sample.hash != cell.data_hash:
        raise AssertionError(f"{cell.label}: these are rows {sample.hash[:10]}, not {cell.data_hash[:10]}")
    own_peak = restart_peak()
    rows, X, y = rows_of(cell, sample), sample.X, sample.y
    X_train, y_train = np.asarray(X[rows.train]), y[rows.train]
    model = make_estimator(cell, device, n_jobs)
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        began = time.perf_counter()
        model.fit(X_train, y_train)
        fitted = time.perf_counter()
        scores = scores_of(model, np.asarray(X[rows.test]))
        predicted = time.perf_counter()
    y_test = y[rows.test]
    nominal, actual = count_parameters(cell, model, X.shape[1])
    report = {
        "cell": asdict(cell),
        "auc": float(roc_auc_score(y_test, scores)),
        "log_loss": float(log_loss(y_test, scores, labels=[0, 1])),
        "parameters": {"nominal": nominal, "actual": actual},
        "seconds": {"fit": fitted - began, "predict": predicted - fitted},
        "peak_memory_bytes": peak_bytes(),
        "peak_memory_is_of": "the cell" if own_peak else "the process so far",
        "rows": {"train": len(y_train), "test": len(y_test)},
        "data": {"name": cell.data, "sha256": sample.hash, "simulated": sample.simulated},
        "ran": {"device": device, "n_jobs": n_jobs, **getattr(model, "implementation_", {})},
        "warnings": sorted({str(warning.message).splitlines()[0] for warning in caught}),
        "versions": versions(),
    }
    return report, scores


def rows_of(cell: Cell, sample: Sample) -> Rows:
    """Test rows depend on the fold alone, training rows on the share and the seed too; both keep their order."""
    n = sample.n_train + sample.n_test
    if cell.folds == 0:
        candidates: Any = np.arange(sample.n_train)
        test: Any = slice(sample.n_train, n)
    else:
        fold = np.arange(n) % cell.folds
        candidates, test = np.flatnonzero(fold != cell.seed), np.flatnonzero(fold == cell.seed)
    if cell.share == 1:
        return Rows(slice(0, sample.n_train) if cell.folds == 0 else candidates, test)
    count = max(1, round(cell.share * len(candidates)))
    drawn = np.random.default_rng([cell.seed, 2]).choice(candidates, count, replace=False, shuffle=False)
    return Rows(np.sort(drawn), test)


def versions() -> dict[str, str]:
    """Of everything that a number may depend on."""
    found = {"softbin": softbin.__version__, "python": platform.python_version()}
    for name in PACKAGES:
        try:
            found[name] = importlib.metadata.version(name)
        except importlib.metadata.PackageNotFoundError:
            continue
    return found
