"""pyGAM: penalised splines, 20 per column, its defaults."""

from typing import Any

NAME = "pyGAM, 20 splines"


def classifier() -> Any:
    from pygam import LogisticGAM

    return LogisticGAM(n_splines=20)


def scores(model: Any, table: Any) -> Any:
    return model.predict_proba(table)
