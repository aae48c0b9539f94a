"""The rows of the tables as data: seven of the paper's, and ours. A new row is a new line in METHODS.

Paper: the split, the network and the penalties are not stated there; what we chose is in SETTINGS and NETWORKS. One
ridge for all rows would decide the comparison, so each cell of LR finds its own on its training rows: see ridge.py.
"""

import importlib.util
from dataclasses import dataclass
from typing import Any

Options = tuple[tuple[str, Any], ...]

MODELS = ("LR", "DNN")
PER_COLUMN = "multi:per-column"  # half of each column's granularities, where MGD keeps half of all pairs
HELD_OUT = "held out"  # in place of a ridge: the best on rows held out of the training rows


@dataclass(frozen=True)
class Method:
    """A row. ``bins`` is a short name, PER_COLUMN, "raw" or "lightgbm"; ``options`` go to the estimator of a model.

    A row that needs a package which is not installed is left out, and the tables say so.
    """

    label: str
    bins: str
    models: tuple[str, ...] = MODELS
    options: Options = ()
    needs: str | None = None
    in_paper: bool = False


METHODS = (
    Method("CD (5)", "hard:5", in_paper=True),
    Method("CD (10)", "hard:10", in_paper=True),
    Method("CD (100)", "hard:100", in_paper=True),
    Method("MGD", "multi", in_paper=True),
    Method("LLE (5)", "soft:5", in_paper=True),
    Method("LLE (10)", "soft:10", in_paper=True),
    Method("LLE (100)", "soft:100", in_paper=True),
    Method("MGD, per column", PER_COLUMN, models=("LR",)),
    Method("LLE (100), smoothed", "soft:100", models=("LR",), options=(("ridge", 1.0), ("smoothness", "auto"))),
    Method("LLE (10), smooth start", "soft:10", models=("DNN",)),
    Method("LLE (40), smooth start", "soft:40", models=("DNN",)),
    Method("LLE (auto)", "soft:auto"),
    Method("CD (auto)", "hard:auto"),
    Method("raw columns", "raw"),
    Method("LightGBM", "lightgbm", models=("trees",), needs="lightgbm"),
)

IN_PAPER = frozenset(method.label for method in METHODS if method.in_paper)
HARD = tuple(method.label for method in METHODS if method.bins.startswith("hard") and method.in_paper)
SOFT = tuple(method.label for method in METHODS if method.bins.startswith("soft") and method.in_paper)

SETTINGS: dict[str, Options] = {
    # Why not the default: with MGD it saves a third of the passes, and the AUC is the same to 1e-5.
    "LR": (("ridge", HELD_OUT), ("tol", 1e-5)),
    "trees": (("learning_rate", 0.05), ("n_estimators", 500), ("num_leaves", 31)),
}
# Why two: the full network is for a GPU; on two cores it would take hours.
NETWORKS: dict[str, Options] = {
    "full": (),
    "small": (("depth", 2), ("embedding_dim", 8), ("epochs", 10), ("width", 128)),
}
# What a look-up table is in the paper: rows that start at random. Our own rows start smooth and train steps.
PAPER_TABLES: Options = (("basis", "rows"), ("init", "random"))


def installed(method: Method) -> bool:
    """Whether what a row needs is there."""
    return method.needs is None or importlib.util.find_spec(method.needs) is not None


def settings(method: Method, model: str, network: str) -> Options:
    """All options of one estimator, in order of their names."""
    base = SETTINGS[model] if model != "DNN" else NETWORKS[network] + (PAPER_TABLES if method.in_paper else ())
    return tuple(sorted({**dict(base), **dict(method.options)}.items()))
