"""LightGBM: 100 trees of 31 leaves, its defaults."""

from typing import Any

NAME = "LightGBM"


def classifier() -> Any:
    from lightgbm import LGBMClassifier

    return LGBMClassifier(n_estimators=100, num_leaves=31, verbose=-1)
