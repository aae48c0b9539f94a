"""Networks on bins: embeddings for anyone's network, and the estimators built on them. Needs ``softbin[deep]``.

Names load what they need when they are first used, so that the estimators can say what to install.
"""

import importlib
from typing import TYPE_CHECKING, Any

from softbin.optional import need

if TYPE_CHECKING:
    from softbin.deep.classifier import DeepClassifier as DeepClassifier
    from softbin.deep.embeddings import HardBinEmbedding as HardBinEmbedding
    from softbin.deep.embeddings import MultiBinEmbedding as MultiBinEmbedding
    from softbin.deep.embeddings import SoftBinEmbedding as SoftBinEmbedding
    from softbin.deep.peers import AutoDisEmbedding as AutoDisEmbedding
    from softbin.deep.peers import PBLDEmbedding as PBLDEmbedding
    from softbin.deep.peers import PeriodicEmbedding as PeriodicEmbedding
    from softbin.deep.peers import PiecewiseLinearEmbedding as PiecewiseLinearEmbedding
    from softbin.deep.regressor import DeepRegressor as DeepRegressor

_HOMES = {
    "AutoDisEmbedding": "peers",
    "DeepClassifier": "classifier",
    "DeepRegressor": "regressor",
    "HardBinEmbedding": "embeddings",
    "MultiBinEmbedding": "embeddings",
    "PBLDEmbedding": "peers",
    "PeriodicEmbedding": "peers",
    "PiecewiseLinearEmbedding": "peers",
    "SoftBinEmbedding": "embeddings",
}
WITHOUT_TORCH = ("classifier", "regressor")

__all__ = [
    "AutoDisEmbedding",
    "DeepClassifier",
    "DeepRegressor",
    "HardBinEmbedding",
    "MultiBinEmbedding",
    "PBLDEmbedding",
    "PeriodicEmbedding",
    "PiecewiseLinearEmbedding",
    "SoftBinEmbedding",
]


def __getattr__(name: str) -> Any:
    if name not in _HOMES:
        raise AttributeError(f"module 'softbin.deep' has no attribute {name!r}")
    if _HOMES[name] not in WITHOUT_TORCH:
        need("torch")
    return getattr(importlib.import_module(f"softbin.deep.{_HOMES[name]}"), name)
