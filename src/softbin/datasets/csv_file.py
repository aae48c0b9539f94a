"""A CSV file of labels and numbers, gzipped or not, as a stream of blocks of rows; memory is that of a few blocks.

Every way in which a file may be damaged ends in an error: gzip has checksums, each row must have the right number of
numbers, each number must be finite, and plain text must end with the end of a line.
"""

import hashlib
import os
import re
from collections.abc import Iterator
from pathlib import Path
from typing import IO, Any

import numpy as np

from softbin.datasets.draws import Floats
from softbin.datasets.progress import ProgressLine
from softbin.errors import DataError
from softbin.optional import need

BLOCK = 4 << 20
GZIP = b"\x1f\x8b"
LABEL = "label"
NOT_A_NUMBER = re.compile(r"In CSV column #(\d+): .*invalid value '(.*)'", re.DOTALL)
FEW_OR_MANY = re.compile(r".*Expected (\d+) columns, got (\d+): (.*)", re.DOTALL)


class CsvFile:
    """``blocks`` yields Arrow record batches; after the last one, ``sha256`` and ``rows`` are those of the file."""

    def __init__(self, path: Path, columns: tuple[str, ...], verbose: bool) -> None:
        self.path, self.names = path, (LABEL, *columns)
        self.verbose = verbose
        self.rows = 0
        self.sha256 = ""

    def blocks(self) -> Iterator[Any]:
        """All rows, in order."""
        with self._open() as raw:
            size = os.fstat(raw.fileno()).st_size
            stream = _Watched(raw, ProgressLine(f"reading {self.path.name}", size, self.verbose))
            zipped = self._check_ends(raw)
            try:
                yield from self._parse(_reader(stream, zipped, self.names))
            except _arrow_errors() as error:
                raise self._explained(error) from error
            finally:
                stream.line.close()
        self.sha256 = stream.hash.hexdigest()

    def _parse(self, reader: Any) -> Iterator[Any]:
        for block in reader:
            self._check(block)
            self.rows += block.num_rows
            yield block

    def _open(self) -> IO[bytes]:
        try:
            return open(self.path, "rb")
        except OSError as error:
            raise DataError(f"{self.path}: cannot be read: {error.strerror}; pass the path of a CSV file") from error

    def _check_ends(self, raw: IO[bytes]) -> bool:
        """Whether the file is gzipped, if it looks like something that can be read."""
        head = raw.read(16)
        if not head:
            raise DataError(f"{self.path}: the file is empty; download it again")
        if not head.startswith(GZIP):
            if head[:1] not in b"+-.0123456789":
                todo = "unpack it first" if head.startswith(b"PK") else "pass the CSV file of UCI, gzipped or not"
                raise DataError(f"{self.path}: starts with {head!r}, neither a gzip file nor a row of numbers; {todo}")
            raw.seek(-1, os.SEEK_END)
            if raw.read(1) != b"\n":
                raise DataError(
                    f"{self.path}: ends in the middle of a line, so it may be cut off; "
                    f"copy it again, or end its last line if it is complete"
                )
        raw.seek(0)
        return head.startswith(GZIP)

    def _check(self, block: Any) -> None:
        """All numbers finite, all labels 0 or 1."""
        for name, column in zip(self.names, block.columns, strict=True):
            values: Floats = column.to_numpy()
            bad = ~np.isin(values, (0, 1)) if name == LABEL else ~np.isfinite(values)
            if bad.any():
                at = int(np.argmax(bad))
                wanted = "0 or 1" if name == LABEL else "a finite float32"
                raise DataError(
                    f"{self.path}: column {name!r}, row {self.rows + at + 1:,}: {values[at]} is not {wanted}; "
                    f"repair or remove that row"
                )

    def _explained(self, error: Exception) -> DataError:
        """What Arrow found, in words about this file."""
        text, where = str(error), f"{self.path}: somewhere after row {self.rows:,}"
        if value := NOT_A_NUMBER.match(text):
            found = "an empty field" if not value[2] else repr(value[2])
            return DataError(f"{where}, column {self.names[int(value[1])]!r}: {found} is not a number; repair that row")
        if row := FEW_OR_MANY.match(text):
            return DataError(f"{where}: a row has {row[2]} fields, not {row[1]}: {row[3][:60]!r}; repair that row")
        return DataError(f"{where}: the file is cut off or damaged ({text}); copy or download it again")


class _Watched:
    """A file that hashes what is read from it, and says how far it is."""

    def __init__(self, raw: IO[bytes], line: ProgressLine) -> None:
        self.raw, self.line = raw, line
        self.hash = hashlib.sha256()
        self.done = 0
        self.closed = False

    def readable(self) -> bool:
        return True

    def read(self, size: int = -1) -> bytes:
        data = self.raw.read(size)
        self.hash.update(data)
        self.done += len(data)
        self.line(self.done)
        return data

    def close(self) -> None:
        self.closed = True


def _reader(stream: _Watched, zipped: bool, names: tuple[str, ...]) -> Any:
    arrow, csv = need("pyarrow"), need("pyarrow.csv")
    source = arrow.PythonFile(stream, mode="r")
    return csv.open_csv(
        arrow.CompressedInputStream(source, "gzip") if zipped else source,
        read_options=csv.ReadOptions(column_names=list(names), block_size=BLOCK),
        parse_options=csv.ParseOptions(quote_char=False, ignore_empty_lines=False),
        convert_options=csv.ConvertOptions(column_types=dict.fromkeys(names, arrow.float32()), null_values=[]),
    )


def _arrow_errors() -> tuple[type[Exception], ...]:
    return need("pyarrow").ArrowException, OSError
