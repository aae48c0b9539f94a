"""softbin: hard and soft bins for numeric columns, exact, fast, at home in scikit-learn.

Names load what they need when they are first used; importing softbin alone is nearly free.
"""

import importlib
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from softbin.boundaries import Boundaries as Boundaries
    from softbin.boundaries import Grid as Grid
    from softbin.datasets import load_higgs as load_higgs
    from softbin.datasets import load_susy as load_susy
    from softbin.datasets import simulate_higgs as simulate_higgs
    from softbin.datasets import simulate_susy as simulate_susy
    from softbin.deep import DeepClassifier as DeepClassifier
    from softbin.deep import DeepRegressor as DeepRegressor
    from softbin.encodings import HardBins as HardBins
    from softbin.encodings import MultiBins as MultiBins
    from softbin.encodings import SoftBins as SoftBins
    from softbin.linear import LinearClassifier as LinearClassifier
    from softbin.linear import LinearRegressor as LinearRegressor

_HOMES = {
    "Boundaries": "softbin.boundaries",
    "DeepClassifier": "softbin.deep",
    "DeepRegressor": "softbin.deep",
    "Grid": "softbin.boundaries",
    "HardBins": "softbin.encodings",
    "LinearClassifier": "softbin.linear",
    "LinearRegressor": "softbin.linear",
    "MultiBins": "softbin.encodings",
    "SoftBins": "softbin.encodings",
    "load_higgs": "softbin.datasets",
    "load_susy": "softbin.datasets",
    "simulate_higgs": "softbin.datasets",
    "simulate_susy": "softbin.datasets",
}

__all__ = [
    "Boundaries",
    "DeepClassifier",
    "DeepRegressor",
    "Grid",
    "HardBins",
    "LinearClassifier",
    "LinearRegressor",
    "MultiBins",
    "SoftBins",
    "load_higgs",
    "load_susy",
    "simulate_higgs",
    "simulate_susy",
]
__version__ = "0.1.0"


def __getattr__(name: str) -> Any:
    if name not in _HOMES:
        raise AttributeError(f"module 'softbin' has no attribute {name!r}")
    return getattr(importlib.import_module(_HOMES[name]), name)


def __dir__() -> list[str]:
    return sorted([*globals(), *_HOMES])
