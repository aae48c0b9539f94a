"""The boundaries of a whole table: named, editable by hand, saved as JSON.

A Grid is a value: edits return a new one, equal grids compare equal, and a saved file loads equal.
"""

import json
import os
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from operator import methodcaller
from pathlib import Path
from typing import Any

from softbin.boundaries.boundaries import Boundaries
from softbin.errors import OptionError, SavedFileError
from softbin.values.columns import column_position
from softbin.values.tables import default_names
from softbin.whole_files import whole_file

FORMAT = "softbin.grid"
SCHEMA = 1


@dataclass(frozen=True)
class Grid:
    """One Boundaries per column, in column order; ``names`` is None where the table had no names.

    >>> grid = Grid((Boundaries((0, 20, 35)),), names=("age",))
    >>> grid["age"].n_bins
    2
    """

    columns: tuple[Boundaries, ...]
    names: tuple[str, ...] | None = None

    def __post_init__(self) -> None:
        object.__setattr__(self, "columns", tuple(self.columns))
        # Why the set of types: every edit of a grid of thousands of columns comes by here.
        for kind in set(map(type, self.columns)) - {Boundaries}:
            raise OptionError(f"grid: a {kind.__name__} is not a Boundaries; pass one for each column")
        if self.names is None:
            return
        object.__setattr__(self, "names", tuple(self.names))
        if not all(issubclass(kind, str) for kind in set(map(type, self.names))):
            raise OptionError(f"grid: column names {self.names} are not all text; pass text, or no names")
        if len(self.names) != len(self.columns):
            raise OptionError(f"grid: {len(self.names)} names for {len(self.columns)} columns; pass one each")
        twice = (
            sorted({name for name in self.names if self.names.count(name) > 1})
            if len(set(self.names)) < len(self.names)
            else []
        )
        if twice:
            raise OptionError(f"grid: column names {twice} stand twice; rename one of each")

    @property
    def labels(self) -> tuple[str, ...]:
        """The names, or x0, x1, ... where there are none."""
        return self.names or default_names(len(self.columns))

    def __len__(self) -> int:
        return len(self.columns)

    def __iter__(self) -> Iterator[Boundaries]:
        return iter(self.columns)

    def __getitem__(self, column: str | int) -> Boundaries:
        return self.columns[column_position(column, self.labels)]

    def replace(self, column: str | int, boundaries: Boundaries) -> "Grid":
        """The grid with one column's boundaries exchanged."""
        position = column_position(column, self.labels)
        columns = (*self.columns[:position], boundaries, *self.columns[position + 1 :])
        return replace(self, columns=columns)

    def with_edges(self, edges: Mapping[str | int, Sequence[float]]) -> "Grid":
        """The grid with these columns' edges exchanged, exactly as given.

        >>> Grid((Boundaries((0, 20, 35)),), names=("age",)).with_edges({"age": [0, 18, 65]})["age"].edges
        (0.0, 18.0, 65.0)
        """
        if not isinstance(edges, Mapping):
            raise OptionError(f"with_edges: {edges!r} is not a dict; pass {{column: [edges]}}")
        return self._edited({column: methodcaller("with_edges", values) for column, values in edges.items()})

    def merge(self, column: str | int, position: int) -> "Grid":
        """The grid with bin ``position`` of a column joined to the next."""
        return self._edited({column: methodcaller("merge", position)})

    def split(self, column: str | int, at: float) -> "Grid":
        """The grid with the bin of a column around ``at`` cut in two."""
        return self._edited({column: methodcaller("split", at)})

    def _edited(self, edits: Mapping[str | int, Callable[[Boundaries], Boundaries]]) -> "Grid":
        columns, labels = list(self.columns), self.labels
        for column, edit in edits.items():
            position = column_position(column, labels)
            try:
                columns[position] = edit(columns[position])
            except OptionError as error:
                raise OptionError(f"column {labels[position]!r}: {error}") from None
        return replace(self, columns=tuple(columns))

    def to_json(self) -> str:
        """The grid as text; ``from_json`` gives an equal grid back."""
        columns = [boundaries.to_dict() for boundaries in self.columns]
        state = {"format": FORMAT, "schema": SCHEMA, "names": self.names, "columns": columns}
        return json.dumps(state, indent=1, allow_nan=False)

    @classmethod
    def from_json(cls, text: str) -> "Grid":
        """The grid that ``to_json`` wrote."""
        try:
            state = json.loads(text)
        except json.JSONDecodeError as error:
            raise SavedFileError(f"grid: not JSON ({error}); was the file cut off?") from None
        if not isinstance(state, dict) or state.get("format") != FORMAT:
            raise SavedFileError(f"grid: this is not a file that Grid.save wrote (no format {FORMAT!r})")
        if state.get("schema") != SCHEMA:
            raise SavedFileError(
                f"grid: schema {state.get('schema')!r} is unknown here, {SCHEMA} is the newest; update softbin"
            )
        try:
            return cls(tuple(Boundaries.from_dict(column) for column in state["columns"]), _names(state))
        except (KeyError, TypeError, AttributeError, OptionError) as error:
            raise SavedFileError(f"grid: the file is damaged: {error}") from None

    def save(self, path: str | os.PathLike[str], *, overwrite: bool = False) -> None:
        """Writes the grid as JSON: to a temporary name first, so that no half file is ever left."""
        with whole_file(path, overwrite=overwrite) as temporary:
            temporary.write_text(self.to_json(), encoding="utf-8")

    @classmethod
    def load(cls, path: str | os.PathLike[str]) -> "Grid":
        """The grid that ``save`` wrote."""
        try:
            return cls.from_json(Path(path).read_text(encoding="utf-8"))
        except (SavedFileError, UnicodeDecodeError) as error:
            raise SavedFileError(f"{path}: {error}") from None


def _names(state: dict[str, Any]) -> tuple[str, ...] | None:
    names = state["names"]
    if names is not None and not all(isinstance(name, str) for name in names):
        raise TypeError(f"names {names!r} are not all text")
    return None if names is None else tuple(names)
