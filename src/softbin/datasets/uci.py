"""UCI HIGGS and SUSY (Baldi, Sadowski & Whiteson 2014, CC BY 4.0): real simulated collisions, as they are published.

The gzipped CSV file, downloaded or local, is converted once to Parquet; the numbers in it are float32 numbers written
out, so nothing is lost. The last 500,000 rows are the test rows of the paper and of everybody since; they are only
known in a file with as many rows as the original, and a file that is not the original is reported every time.
"""

import hashlib
import operator
import warnings
from dataclasses import dataclass
from os import PathLike
from pathlib import Path
from typing import Any

from softbin.datasets.cache import cache_directory, disk_errors, locked
from softbin.datasets.download import Patience, Remote, fetch
from softbin.datasets.events import Dataset
from softbin.datasets.higgs_columns import COLUMNS as HIGGS_COLUMNS
from softbin.datasets.parquet_table import Contents, Origin, convert, read_contents, read_rows
from softbin.datasets.progress import ProgressLine
from softbin.datasets.susy_columns import COLUMNS as SUSY_COLUMNS
from softbin.errors import DataError, OptionError
from softbin.optional import need

ARCHIVE = "https://archive.ics.uci.edu/ml/machine-learning-databases"
PARTS = ("train", "test", "all")


@dataclass(frozen=True)
class Published:
    """A data set as it is published."""

    name: str
    remote: Remote
    columns: tuple[str, ...]
    rows: int
    test_rows: int = 500_000


HIGGS = Published(
    "HIGGS",
    Remote(
        f"{ARCHIVE}/00280/HIGGS.csv.gz",
        2_816_407_858,
        "ea302c18164d4e3d916a1e2e83a9a8d07069fa6ebc7771e4c0540d54e593b698",
    ),
    HIGGS_COLUMNS,
    11_000_000,
)
SUSY = Published(
    "SUSY",
    Remote(f"{ARCHIVE}/00279/SUSY.csv.gz", None, "be56cb5598da8ece4b13912230ee713bab8b3431a7d118e0054ffdf3a2f25664"),
    SUSY_COLUMNS,
    5_000_000,
)


def load_higgs(
    file: str | PathLike[str] | None = None, rows: int | None = None, *, part: str = "train", verbose: bool = True
) -> Dataset:
    """UCI HIGGS: 28 columns, 10,500,000 training rows and 500,000 test rows, downloaded (2.8 GB) when first asked for.

    ``file`` is a CSV file of your own instead, gzipped or not; either is converted once, see :func:`cache_directory`.
    ``part`` is "train", "test" (the last 500,000 rows) or "all"; ``rows`` takes only so many from its beginning.
    ``verbose`` shows a line of progress on standard error. Needs pyarrow: ``pip install "softbin[files]"``.

    >>> train = load_higgs(rows=1_000_000)  # doctest: +SKIP
    >>> test = load_higgs("HIGGS.csv.gz", part="test")  # doctest: +SKIP
    >>> test.X.shape, test.X.dtype, test.columns[0]  # doctest: +SKIP
    ((500000, 28), dtype('float32'), 'lepton_pt')
    """
    return load(HIGGS, file, rows, part, verbose)


def load_susy(
    file: str | PathLike[str] | None = None, rows: int | None = None, *, part: str = "train", verbose: bool = True
) -> Dataset:
    """UCI SUSY: 18 columns, 4,500,000 training rows and 500,000 test rows, downloaded (0.9 GB) when first asked for.

    ``file`` is a CSV file of your own instead, gzipped or not; either is converted once, see :func:`cache_directory`.
    ``part`` is "train", "test" (the last 500,000 rows) or "all"; ``rows`` takes only so many from its beginning.
    ``verbose`` shows a line of progress on standard error. Needs pyarrow: ``pip install "softbin[files]"``.

    >>> train = load_susy(rows=1_000_000)  # doctest: +SKIP
    >>> test = load_susy("SUSY.csv.gz", part="test")  # doctest: +SKIP
    >>> test.X.shape, test.X.dtype, test.columns[-1]  # doctest: +SKIP
    ((500000, 18), dtype('float32'), 'cos_theta_r1')
    """
    return load(SUSY, file, rows, part, verbose)


def load(
    published: Published,
    file: str | PathLike[str] | None,
    rows: int | None,
    part: str,
    verbose: bool,
    patience: Patience | None = None,
) -> Dataset:
    """``rows`` rows of ``part`` of a data set, from the web or from ``file``."""
    rows = _checked(rows, part)
    need("pyarrow.parquet")
    path = None if file is None else Path(file).absolute()
    table = _table_of(published, path)
    contents = _up_to_date(table, path)
    if contents is None:
        contents = _make(published, path, table, verbose, patience or Patience())
    _report(published, contents)
    start, stop = _stretch(published, contents, part)
    if rows is not None and rows > stop - start:
        raise OptionError(f"rows: {rows:,} is more than the {stop - start:,} of part={part!r}; pass fewer, or None")
    return read_rows(table, published.columns, start, stop if rows is None else start + rows)


def _checked(rows: Any, part: Any) -> int | None:
    if part not in PARTS:
        raise OptionError(f"part: {part!r} is none of {', '.join(map(repr, PARTS))}; pass one of them")
    if rows is None:
        return None
    try:
        number = -1 if isinstance(rows, bool) else operator.index(rows)
    except TypeError:
        number = -1
    if number < 0:
        raise OptionError(f"rows: {rows!r} is not a whole number from 0 on; pass one, or None for all")
    return number


def _table_of(published: Published, path: Path | None) -> Path:
    """Where the converted rows are kept: one file for the download, one for each local path."""
    own = "" if path is None else "-" + hashlib.sha256(str(path).encode("utf-8", "surrogateescape")).hexdigest()[:16]
    return cache_directory() / f"{published.name}{own}.parquet"


def _up_to_date(table: Path, path: Path | None) -> Contents | None:
    """What ``table`` holds, if that is still what ``path`` does."""
    origin = None if path is None else _origin(path)
    contents = read_contents(table)
    return contents if contents is None or origin in (None, contents.origin) else None


def _origin(path: Path) -> Origin:
    try:
        facts = path.stat()
    except OSError as error:
        raise DataError(f"{path}: cannot be read: {error.strerror}; pass the path of a CSV file") from error
    return Origin(str(path), facts.st_size, facts.st_mtime_ns)


def _make(published: Published, path: Path | None, table: Path, verbose: bool, patience: Patience) -> Contents:
    """Download and convert, unless another process just did."""

    def waiting() -> None:
        ProgressLine(published.name, None, verbose).say("another process is at it; waiting until it is done")

    with locked(table, waiting):
        contents = _up_to_date(table, path)
        if contents is not None:
            return contents
        source = path
        if source is None:
            source = table.with_name(f"{published.name}.csv.gz")
            if not source.exists():
                fetch(published.remote, source, verbose, patience)
        convert(_origin(source), table, published.columns, verbose)
        if path is None:
            with disk_errors(source):
                source.unlink()
        contents = read_contents(table)
        assert contents is not None
        return contents


def _report(published: Published, contents: Contents) -> None:
    """Say so when the rows may not be those that were published."""
    if contents.sha256 == published.remote.sha256:
        return
    expected = published.remote.sha256 or "not known"
    odd = [f"its sha256 is {contents.sha256}, that of the gzipped file at UCI is {expected}"]
    if contents.rows != published.rows:
        odd.append(f"it has {contents.rows:,} rows, not {published.rows:,}, so no rows are set apart for testing")
    message = f"{contents.origin.path}: may not be UCI {published.name}: {'; '.join(odd)}"
    warnings.warn(f"{message}. Compare it with {published.remote.url}", UserWarning, stacklevel=4)


def _stretch(published: Published, contents: Contents, part: str) -> tuple[int, int]:
    """The first row of a part, and the row past its last."""
    official = contents.rows == published.rows
    train_rows = contents.rows - (published.test_rows if official else 0)
    if part == "test":
        if not official:
            raise DataError(
                f"{contents.origin.path}: has {contents.rows:,} rows instead of {published.rows:,}, so which of them "
                f"are test rows is not known; pass the whole file, or part='all' and choose"
            )
        return train_rows, contents.rows
    return 0, train_rows if part == "train" else contents.rows
