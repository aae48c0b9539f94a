"""Networks on bins: embeddings for anyone's network, and the estimators built on them. Needs ``softbin[deep]``.

Names load what they need when they are first used, so that the estimators can say what to install.
"""

import importlib
from typing import TYPE_CHECKING, Any

from softbin.optional import need

if TYPE_CHECKING:
    from softbin.deep.embeddings import HardBinEmbedding as HardBinEmbedding
    from softbin.deep.embeddings import MultiBinEmbedding as MultiBinEmbedding
    from softbin.deep.embeddings import SoftBinEmbedding as SoftBinEmbedding

_HOMES = {
    "HardBinEmbedding": "embeddings",
    "MultiBinEmbedding": "embeddings",
    "SoftBinEmbedding": "embeddings",
}

__all__ = ["HardBinEmbedding", "MultiBinEmbedding", "SoftBinEmbedding"]


def __getattr__(name: str) -> Any:
    if name not in _HOMES:
        raise AttributeError(f"module 'softbin.deep' has no attribute {name!r}")
    need("torch")
    return getattr(importlib.import_module(f"softbin.deep.{_HOMES[name]}"), name)
