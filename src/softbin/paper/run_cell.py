"""One cell, computed: rows in, a report and test scores out. No files, and no state but the rows that came last."""

import importlib.metadata
import platform
import time
import warnings
from dataclasses import asdict, replace
from functools import lru_cache
from typing import Any

import numpy as np
from numpy.typing import NDArray
from sklearn.metrics import log_loss, roc_auc_score

import softbin
from softbin.paper.cells import Cell
from softbin.paper.estimators import count_parameters, fit_estimator, make_estimator, scores_of
from softbin.paper.peak_memory import peak_bytes, restart_peak
from softbin.paper.samples import Sample

PACKAGES = ("numpy", "scipy", "scikit-learn", "torch", "lightgbm")


def run_cell(cell: Cell, sample: Sample, device: str, n_jobs: int | None) -> tuple[dict[str, Any], NDArray[np.float64]]:
    """The report of a cell, and its score of every test row."""
    if sample.hash != cell.data_hash:
        raise AssertionError(f"{cell.label}: these are rows {sample.hash[:10]}, not {cell.data_hash[:10]}")
    own_peak = restart_peak()
    X_train, y_train = _training_rows(_any_method(cell), sample)
    model = make_estimator(cell, device, n_jobs)
    test = rows_to_test(cell, sample)
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        began = time.perf_counter()
        chosen = fit_estimator(cell, model, X_train, y_train)
        fitted = time.perf_counter()
        scores = scores_of(model, np.asarray(sample.X[test]))
        predicted = time.perf_counter()
    y_test = sample.y[test]
    nominal, actual = count_parameters(cell, model, X_train.shape[1])
    report = {
        "cell": asdict(cell),
        "auc": float(roc_auc_score(y_test, scores)),
        "log_loss": float(log_loss(y_test, scores, labels=[0, 1])),
        "parameters": {"nominal": nominal, "actual": actual},
        "chosen": chosen,
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


def rows_to_test(cell: Cell, sample: Sample) -> Any:
    """Those set apart, or those of the cell's fold; in their order."""
    if cell.folds == 0:
        return slice(sample.n_train, sample.n_train + sample.n_test)
    return np.arange(cell.seed, sample.n_train + sample.n_test, cell.folds)


def rows_to_train(cell: Cell, sample: Sample) -> Any:
    """A share of the others, drawn by the seed; in their order."""
    if cell.folds == 0:
        others, count = None, sample.n_train
    else:
        n = sample.n_train + sample.n_test
        others = np.flatnonzero(np.arange(n) % cell.folds != cell.seed)
        count = len(others)
    if cell.share == 1:
        return slice(0, count) if others is None else others
    size = max(1, round(cell.share * count))
    drawn = np.sort(np.random.default_rng([cell.seed, 2]).choice(count, size, replace=False, shuffle=False))
    return drawn if others is None else others[drawn]


def _any_method(cell: Cell) -> Cell:
    """The cell without what its training rows do not depend on."""
    return replace(cell, model="", method="", bins="", options=())


@lru_cache(maxsize=1)
def _training_rows(cell: Cell, sample: Sample) -> tuple[NDArray[np.float32], NDArray[np.int8]]:
    """Why the last ones are kept: cells on the same rows follow each other, and to gather a tenth of 1.2 GB is slow."""
    rows = rows_to_train(cell, sample)
    return np.asarray(sample.X[rows]), sample.y[rows]


def versions() -> dict[str, str]:
    """Of everything that a number may depend on."""
    found = {"softbin": softbin.__version__, "python": platform.python_version()}
    for name in PACKAGES:
        try:
            found[name] = importlib.metadata.version(name)
        except importlib.metadata.PackageNotFoundError:
            continue
    return found
