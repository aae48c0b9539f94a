"""From a cell to an unfitted estimator, from a fitted one to its scores and its parameters.

Nominal parameters are counted as in the paper's Table 2: bins, knots or kept granularities as asked, whatever ties made
of them; automatic ones as they were chosen. Actual ones are the numbers that were fitted, the network included.
"""

from typing import Any

import numpy as np
from numpy.typing import NDArray
from sklearn.frozen import FrozenEstimator
from sklearn.linear_model import LogisticRegression
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

from softbin.boundaries.auto import AUTO
from softbin.deep import DeepClassifier
from softbin.encodings.multi_bins import MultiBins
from softbin.encodings.short_names import encoder_of
from softbin.engines.threads import count_threads
from softbin.linear import LinearClassifier
from softbin.optional import need
from softbin.paper.cells import Cell
from softbin.paper.methods import HELD_OUT, PER_COLUMN
from softbin.paper.ridge import choose_ridge

ROUGH = 1e-4  # tolerance of fits that are only compared: their log-losses are right to 1e-4


def make_estimator(cell: Cell, device: str, n_jobs: int | None) -> Any:
    """An unfitted classifier; its ridge is still to be set where the cell is to find it."""
    options = {name: value for name, value in cell.options if value != HELD_OUT}
    if cell.model == "trees":
        return need("lightgbm").LGBMClassifier(
            **options, n_jobs=count_threads(n_jobs), random_state=cell.seed, verbose=-1
        )
    if cell.bins == "raw" and cell.model == "LR":
        return set_ridge(make_pipeline(StandardScaler(), LogisticRegression(max_iter=1000)), options.get("ridge", 1.0))
    if cell.model == "DNN":
        bins: Any = "plain" if cell.bins == "raw" else _encoder(cell)
        return DeepClassifier(bins, **options, device=device, random_state=cell.seed)
    return LinearClassifier(_encoder(cell), **options, n_jobs=n_jobs, random_state=cell.seed)


def set_ridge(model: Any, ridge: float) -> Any:
    """The estimator of a linear cell with another ridge."""
    if isinstance(model, LinearClassifier):
        return model.set_params(ridge=ridge)
    return model.set_params(logisticregression__C=1 / ridge)


def fit_estimator(cell: Cell, model: Any, X: NDArray[np.float32], y: NDArray[np.int8]) -> dict[str, Any]:
    """Fits, and returns what was chosen on the way."""
    if dict(cell.options).get("ridge") != HELD_OUT:
        model.fit(X, y)
        return {}
    if not isinstance(model, LinearClassifier):
        ridge = choose_ridge(lambda ridge: set_ridge(model, ridge), X, y, X.shape[1], cell.seed)
        set_ridge(model, ridge).fit(X, y)
        return {"ridge": ridge}
    # Why: bins do not depend on the ridge, and every fit may start where the last one ended.
    encoder = model.bins.set_params(n_jobs=model.n_jobs).fit(X, y)
    tol = model.tol
    model.set_params(bins=FrozenEstimator(encoder), warm_start=True, tol=ROUGH)
    ridge = choose_ridge(lambda ridge: set_ridge(model, ridge), X, y, encoder.n_parameters_, cell.seed)
    set_ridge(model, ridge).set_params(tol=tol).fit(X, y)
    return {"ridge": ridge}


def scores_of(model: Any, X: NDArray[np.float32]) -> NDArray[np.float64]:
    """The probability of the second class."""
    return np.asarray(model.predict_proba(X)[:, 1], np.float64)


def count_parameters(cell: Cell, model: Any, n_columns: int) -> tuple[int, int]:
    """Nominal and actual."""
    if cell.model == "trees":
        leaves = sum(tree["num_leaves"] for tree in model.booster_.dump_model()["tree_info"])
        return leaves, leaves
    if cell.bins == "raw":
        actual = sum(model.n_parameters_) - model.n_parameters_[0] if cell.model == "DNN" else n_columns + 1
        return n_columns, int(actual)
    encoder = model.encoder_
    if isinstance(encoder, MultiBins):
        nominal = encoder.n_nominal_parameters_
    else:
        asked = cell.bins.partition(":")[2]
        bins = int(encoder.n_bins_.sum()) if asked == AUTO else n_columns * int(asked)
        nominal = bins + n_columns * cell.bins.startswith("soft")
    if cell.model == "DNN":
        return nominal, int(model.n_parameters_.embedding + model.n_parameters_.network)
    return nominal, int(model.n_parameters_) + 1


def _encoder(cell: Cell) -> Any:
    encoder = MultiBins(scope="column") if cell.bins == PER_COLUMN else encoder_of(cell.bins)
    return encoder.set_params(random_state=cell.seed) if isinstance(encoder, MultiBins) else encoder
