"""From a cell to an unfitted estimator, from a fitted one to its scores and its parameters.

Nominal parameters are counted as in the paper's Table 2: bins, knots or kept granularities as asked, whatever ties made
of them. Actual ones are the numbers that were fitted, the network included.
"""

from typing import Any

import numpy as np
from numpy.typing import NDArray
from sklearn.linear_model import LogisticRegression
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

from softbin.deep import DeepClassifier
from softbin.encodings.multi_bins import MultiBins
from softbin.encodings.short_names import encoder_of
from softbin.engines.threads import count_threads
from softbin.linear import LinearClassifier
from softbin.optional import need
from softbin.paper.cells import Cell


def make_estimator(cell: Cell, device: str, n_jobs: int | None) -> Any:
    """An unfitted classifier."""
    options = dict(cell.options)
    if cell.model == "trees":
        return need("lightgbm").LGBMClassifier(
            **options, n_jobs=count_threads(n_jobs), random_state=cell.seed, verbose=-1
        )
    if cell.bins == "raw" and cell.model == "LR":
        return make_pipeline(StandardScaler(), LogisticRegression(C=1 / options["ridge"], max_iter=1000))
    if cell.model == "DNN":
        bins: Any = "plain" if cell.bins == "raw" else _encoder(cell)
        return DeepClassifier(bins, **options, device=device, random_state=cell.seed)
    return LinearClassifier(_encoder(cell), **options, n_jobs=n_jobs, random_state=cell.seed)


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
        nominal = n_columns * (int(cell.bins.partition(":")[2]) + cell.bins.startswith("soft"))
    if cell.model == "DNN":
        return nominal, int(model.n_parameters_.embedding + model.n_parameters_.network)
    return nominal, int(model.n_parameters_) + 1


def _encoder(cell: Cell) -> Any:
    encoder = encoder_of(cell.bins)
    return encoder.set_params(random_state=cell.seed) if isinstance(encoder, MultiBins) else encoder
