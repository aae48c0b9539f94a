"""Table files: Parquet or CSV (also gzipped) to Arrow and back. Needs pyarrow.

A CSV file whose first line is all numbers has no header, as those of UCI; its columns are f0, f1, ...
"""

import gzip
import zlib
from collections import Counter
from collections.abc import Iterable, Sequence
from itertools import chain
from pathlib import Path
from typing import Any

from softbin.errors import DataError, OptionError
from softbin.optional import need

ENDINGS = (".parquet", ".csv", ".csv.gz")


def check_ending(path: Path) -> str:
    """Which of ENDINGS the name of a file has."""
    for ending in sorted(ENDINGS, key=len, reverse=True):
        if path.name.lower().endswith(ending):
            return ending
    raise OptionError(f"{path}: the name ends in none of {', '.join(ENDINGS)}; rename the file")


def read_table_file(path: Path, columns: Sequence[str] | None = None) -> Any:
    """The table as an Arrow table; only these columns, in this order, where they are named."""
    ending = check_ending(path)
    if not path.is_file():
        raise DataError(f"{path}: there is no such file")
    arrow = need("pyarrow")
    try:
        table = need("pyarrow.parquet").read_table(path) if ending == ".parquet" else _read_csv(path)
    except (arrow.ArrowException, OSError, EOFError, UnicodeDecodeError, zlib.error) as error:
        first = str(error).splitlines()[0]
        todo = "save it as UTF-8" if isinstance(error, UnicodeDecodeError) else "is the file complete?"
        raise DataError(f"{path}: cannot be read as {ending[1:]} ({first}); {todo}") from None
    twice = [name for name, times in Counter(table.column_names).items() if times > 1]
    if twice:
        raise DataError(f"{path}: {len(twice)} column name(s) stand there twice, as {twice[0]!r} does; rename them")
    if columns is None:
        return table
    absent = [name for name in columns if name not in table.column_names]
    if absent:
        raise DataError(f"{path}: has no column {absent[0]!r} ({len(absent)} of {len(columns)} are not there)")
    return table.select(list(columns))


def write_table_file(table: Any, path: Path, ending: str) -> None:
    """Writes an Arrow table as ``ending`` says, whatever the path is called."""
    write_table_parts([table], path, ending)


def write_table_parts(parts: Iterable[Any], path: Path, ending: str) -> None:
    """The same for a table that comes as parts of its rows, one after the other; at least one."""
    parts = iter(parts)
    first = next(parts)
    compression = "gzip" if ending == ".csv.gz" else None
    with need("pyarrow").output_stream(path, compression=compression) as stream:
        writer = need("pyarrow.parquet").ParquetWriter if ending == ".parquet" else need("pyarrow.csv").CSVWriter
        with writer(stream, first.schema) as file:
            for part in chain([first], parts):
                file.write_table(part)


def _read_csv(path: Path) -> Any:
    csv = need("pyarrow.csv")
    opened = gzip.open if path.name.lower().endswith(".gz") else open
    with opened(path, "rt", encoding="utf-8-sig") as file:
        bare = _all_numbers(file.readline())
    return csv.read_csv(path, read_options=csv.ReadOptions(autogenerate_column_names=bare))


def _all_numbers(line: str) -> bool:
    try:
        return bool([float(cell) for cell in line.strip().split(",")])
    except ValueError:
        return False
