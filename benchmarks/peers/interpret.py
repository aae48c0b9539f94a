"""interpret: the explainable boosting machine without pairs, two bags."""

from typing import Any

NAME = "EBM without pairs"


def classifier() -> Any:
    from interpret.glassbox import ExplainableBoostingClassifier

    return ExplainableBoostingClassifier(interactions=0, outer_bags=2, n_jobs=2, random_state=0)


def scores(model: Any, table: Any) -> Any:
    return model.predict_proba(table)[:, 1]
