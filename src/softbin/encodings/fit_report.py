"""What a fit did to each column: asked, got, and why. Read it, or turn it into a frame; it never warns."""

from collections.abc import Iterator
from dataclasses import asdict, dataclass, fields
from typing import Any, Literal


@dataclass(frozen=True)
class ColumnReport:
    """One column. ``distinct`` is exact unless ``distinct_at_least``; weights are rows where no weights were given."""

    column: str
    asked: int | Literal["auto"]
    got: int
    distinct: int
    distinct_at_least: bool
    missing: float
    infinite: float
    note: str


@dataclass(frozen=True)
class FitReport:
    """One ColumnReport per column. ``print(report)`` shows a table, ``to_dict()`` feeds any DataFrame."""

    columns: tuple[ColumnReport, ...]

    def __iter__(self) -> Iterator[ColumnReport]:
        return iter(self.columns)

    def __len__(self) -> int:
        return len(self.columns)

    def __getitem__(self, position: int) -> ColumnReport:
        return self.columns[position]

    def to_dict(self) -> dict[str, list[Any]]:
        """Column-wise: ``pandas.DataFrame(report.to_dict())``."""
        rows = [asdict(column) for column in self.columns]
        return {field.name: [row[field.name] for row in rows] for field in fields(ColumnReport)}

    def __str__(self) -> str:
        head = ("column", "asked", "got", "distinct", "missing", "infinite", "note")
        rows = [
            (
                c.column, f"{c.asked}", f"{c.got}", f"{'>=' if c.distinct_at_least else ''}{c.distinct}",
                f"{c.missing:g}", f"{c.infinite:g}", c.note,
            )
            for c in self.columns
        ]  # fmt: skip
        widths = [max(len(row[i]) for row in (head, *rows)) for i in range(len(head))]
        lines = ("  ".join(cell.ljust(width) for cell, width in zip(row, widths, strict=True)) for row in (head, *rows))
        return "\n".join(line.rstrip() for line in lines)
