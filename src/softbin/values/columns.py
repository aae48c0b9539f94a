"""Columns are meant by name or by position, everywhere, in the same way."""

from collections.abc import Iterable, Mapping, Sequence
from numbers import Integral
from typing import Any, TypeVar

from softbin.errors import OptionError

Value = TypeVar("Value")


def column_position(column: Any, labels: Sequence[str]) -> int:
    """The position of a column given by name or by position."""
    if isinstance(column, str):
        if column in labels:
            return labels.index(column)
        shown = ", ".join(map(repr, labels[:8])) + (", ..." if len(labels) > 8 else "")
        raise OptionError(f"column {column!r}: there is no such column; the columns are {shown}")
    if isinstance(column, Integral) and not isinstance(column, bool):
        if 0 <= int(column) < len(labels):
            return int(column)
        raise OptionError(f"column {column}: there are only columns 0 to {len(labels) - 1}")
    raise OptionError(f"column {column!r}: name a column by its name or its position")


def per_column(option: str, given: Any, labels: Sequence[str], otherwise: Value) -> list[Any]:
    """One value per column out of a dict (by name or position) or a list with one entry per column.

    Columns a dict does not name get ``otherwise``.
    """
    if isinstance(given, str) or not isinstance(given, Iterable) or getattr(given, "ndim", 1) != 1:
        raise OptionError(
            f"{option}: {given!r} is neither a list with one entry per column nor a dict {{column: value}}"
        )
    if isinstance(given, Mapping):
        values: list[Any] = [otherwise] * len(labels)
        known = {label: position for position, label in enumerate(labels)}
        positions = [known[c] if isinstance(c, str) and c in known else column_position(c, labels) for c in given]
        if len(set(positions)) < len(positions):
            raise OptionError(f"{option}: a column is named twice, by name and by position; name it once")
        for position, value in zip(positions, given.values(), strict=True):
            values[position] = value
        return values
    values = list(given)
    if len(values) != len(labels):
        raise OptionError(
            f"{option}: {len(values)} entries for {len(labels)} columns; pass one per column, "
            "or a dict {column: value}"
        )
    return values
