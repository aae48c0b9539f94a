"""Are these the columns a model was fitted on? scikit-learn's rules and words, for any kind of table."""

import warnings
from collections.abc import Sequence

from softbin.errors import DataError
from softbin.values.tables import Table

SHOWN = 5


def check_columns(table: Table, fitted: Sequence[str] | None, n_fitted: int, who: str) -> None:
    """Raises DataError unless the table has the width, the names and the order of the fitted one."""
    if table.names is None or fitted is None:
        if fitted is not None:
            warnings.warn(f"X does not have valid feature names, but {who} was fitted with feature names", stacklevel=4)
        elif table.names is not None:
            warnings.warn(f"X has feature names, but {who} was fitted without feature names", stacklevel=4)
    elif tuple(table.names) != tuple(fitted):
        raise DataError(_difference(table.names, fitted))
    if len(table.columns) != n_fitted:
        raise DataError(
            f"X has {len(table.columns)} features, but {who} is expecting {n_fitted} features as input; "
            "pass the columns it was fitted on"
        )


def _difference(names: Sequence[str], fitted: Sequence[str]) -> str:
    text = "The feature names should match those that were passed during fit.\n"
    unseen = sorted(set(names) - set(fitted))
    missing = sorted(set(fitted) - set(names))
    if unseen:
        text += "Feature names unseen at fit time:\n" + _listing(unseen)
    if missing:
        text += "Feature names seen at fit time, yet now missing:\n" + _listing(missing)
    if not unseen and not missing:
        text += "Feature names must be in the same order as they were in fit.\n"
    return text


def _listing(names: Sequence[str]) -> str:
    lines = [f"- {name}\n" for name in names[:SHOWN]]
    return "".join(lines) + ("- ...\n" if len(names) > SHOWN else "")
