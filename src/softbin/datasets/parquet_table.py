"""The converted file: label as int8, columns as float32, in Parquet with checksums, and where the rows came from.

Rows are in groups, so that any stretch of them is read without the rest; groups are as large as they must be to
compress and read well, and small enough that one of them is nothing beside the table.
"""

import json
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

import numpy as np

from softbin.datasets.cache import whole_file
from softbin.datasets.csv_file import LABEL, CsvFile
from softbin.datasets.events import Dataset
from softbin.errors import CacheError
from softbin.optional import need

GROUP = 1 << 17
KEY = b"softbin"
SCHEMA = 1
# Why: the bytes of floats compress when all first bytes come first, then all second ones; as dictionaries they grow.
COMPRESSION = {"compression": "zstd", "compression_level": 1, "use_dictionary": False, "write_page_checksum": True}


@dataclass(frozen=True)
class Origin:
    """The file that was converted; ``size`` and ``modified`` tell whether it is still the same."""

    path: str
    size: int
    modified: int


@dataclass(frozen=True)
class Contents:
    """What a converted file holds; ``sha256`` is that of the file it was converted from."""

    origin: Origin
    sha256: str
    rows: int


def convert(origin: Origin, table: Path, columns: tuple[str, ...], verbose: bool) -> None:
    """Write the rows of a CSV file to ``table``."""
    arrow, parquet = need("pyarrow"), need("pyarrow.parquet")
    csv = CsvFile(Path(origin.path), columns, verbose)
    schema = arrow.schema([(LABEL, arrow.int8()), *((name, arrow.float32()) for name in columns)])
    with whole_file(table) as file:
        writer = parquet.ParquetWriter(file, schema, **COMPRESSION, use_byte_stream_split=list(columns))
        try:
            for group in _groups(csv):
                writer.write_table(group.cast(schema), row_group_size=GROUP)
            contents = asdict(Contents(origin, csv.sha256, csv.rows)) | {"schema": SCHEMA}
            writer.add_key_value_metadata({KEY.decode(): json.dumps(contents)})
        except BaseException:
            # Why: an open writer would write its footer whenever it is collected.
            with suppress(Exception):
                writer.close()
            raise
        writer.close()


def _groups(csv: CsvFile) -> Iterator[Any]:
    """The rows of a file, GROUP at a time."""
    arrow = need("pyarrow")
    waiting, rows = [], 0
    for block in csv.blocks():
        waiting.append(block)
        rows += block.num_rows
        while rows >= GROUP:
            together = arrow.Table.from_batches(waiting)
            yield together.slice(0, GROUP)
            waiting, rows = together.slice(GROUP).to_batches(), rows - GROUP
    if rows:
        yield arrow.Table.from_batches(waiting)


def read_contents(table: Path) -> Contents | None:
    """What ``table`` holds; None if it is not there or of another schema."""
    if not table.exists():
        return None
    with _reading(table) as file:
        stored = json.loads((file.metadata.metadata or {}).get(KEY, b"{}"))
    if stored.pop("schema", None) != SCHEMA:
        return None
    return Contents(**stored | {"origin": Origin(**stored["origin"])})


def read_rows(table: Path, columns: tuple[str, ...], start: int, stop: int) -> Dataset:
    """The rows from ``start`` to before ``stop``."""
    X = np.empty((stop - start, len(columns)), np.float32)
    y = np.empty(stop - start, np.int8)
    with _reading(table) as file:
        first = 0
        for group in range(file.num_row_groups):
            past = first + file.metadata.row_group(group).num_rows
            low, high = max(start, first), min(stop, past)
            if low < high:
                block = file.read_row_group(group).slice(low - first, high - low)
                y[low - start : high - start] = block.column(LABEL).to_numpy()
                for at, name in enumerate(columns):
                    X[low - start : high - start, at] = block.column(name).to_numpy()
            first = past
    return Dataset(X, y, columns)


@contextmanager
def _reading(table: Path) -> Iterator[Any]:
    arrow, parquet = need("pyarrow"), need("pyarrow.parquet")
    try:
        with parquet.ParquetFile(table, page_checksum_verification=True) as file:
            yield file
    except (arrow.ArrowException, OSError, KeyError, ValueError) as error:
        raise CacheError(f"{table}: cannot be read: {error}; delete it, it will be made again") from error
