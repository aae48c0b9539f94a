"""The rows of an experiment on disk: training rows first, test rows last, as .npy files that every process maps.

A prepared sample is a folder that is written whole. Its hash is that of its bytes: the same rows have the same hash,
whichever way they came.
"""

import hashlib
import json
from collections.abc import Sequence
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from softbin.datasets import load_higgs, load_susy, simulate_higgs, simulate_susy
from softbin.errors import DataError, OptionError
from softbin.paper.published import COLUMNS, DATA_SETS, TEST_ROWS, TRAINING_ROWS
from softbin.values.table_files import ENDINGS, read_table_file
from softbin.whole_files import whole_folder

SIMULATORS = {"HIGGS": simulate_higgs, "SUSY": simulate_susy}
LOADERS = {"HIGGS": load_higgs, "SUSY": load_susy}
UCI = "uci"


@dataclass(frozen=True)
class Source:
    """Where the rows of a data set come from; ``path`` None: simulated. ``rows`` are training rows, at most."""

    name: str
    rows: int | None
    test_rows: int
    path: str | None = None
    changed: int = 0  # of the file, in ns: a file that was replaced is another source
    seed: int = 1


@dataclass(frozen=True)
class Sample:
    """Prepared rows. ``X`` is mapped, not read."""

    folder: Path
    name: str
    hash: str
    n_train: int
    n_test: int
    simulated: bool

    @property
    def X(self) -> NDArray[np.float32]:  # noqa: N802
        return np.load(self.folder / "X.npy", mmap_mode="r")

    @property
    def y(self) -> NDArray[np.int8]:
        return np.load(self.folder / "y.npy")

    @property
    def columns(self) -> list[str]:
        return json.loads((self.folder / "facts.json").read_text())["columns"]


def sources(data: str, rows: int, test_rows: int | None, folds: int, names: Sequence[str] = DATA_SETS) -> list[Source]:
    """The data sets of an experiment: simulated, or those of these names that a file or folder holds."""
    if data == "simulated":
        return [
            Source(name, (size := min(rows, TRAINING_ROWS[name])), _test_rows(size, test_rows, folds)) for name in names
        ]
    if data == UCI:
        return [Source(name, rows, 0 if folds else test_rows or TEST_ROWS, UCI) for name in names]
    path = Path(data)
    files = {name: file for name in names if (file := _file_of(path, name)) is not None}
    if not files:
        raise DataError(
            f"{path}: no file whose name begins with higgs or susy and ends in {', '.join(ENDINGS)}; pass such a file, "
            'a folder with such files, "uci" to download them, or "simulated"'
        )
    return [
        Source(name, rows, 0 if folds else test_rows or TEST_ROWS, str(file.resolve()), file.stat().st_mtime_ns)
        for name, file in files.items()
    ]


def prepare(source: Source, folder: Path) -> Sample:
    """The sample of a source: made once, found again afterwards."""
    key = hashlib.sha256(json.dumps(asdict(source), sort_keys=True).encode()).hexdigest()[:10]
    own = folder / f"{source.name.lower()}-{key}"
    if not own.exists():
        X, y, columns, n_test = _simulated(source) if source.path is None else _from_file(source)
        _check_classes(source, y)
        own.parent.mkdir(parents=True, exist_ok=True)
        with whole_folder(own) as temporary:
            np.save(temporary / "X.npy", X)
            np.save(temporary / "y.npy", y)
            facts = {"hash": _hash(X, y), "n_train": len(y) - n_test, "n_test": n_test, "columns": list(columns)}
            (temporary / "facts.json").write_text(json.dumps({**facts, "source": asdict(source)}, indent=1))
    facts = json.loads((own / "facts.json").read_text())
    return Sample(own, source.name, facts["hash"], facts["n_train"], facts["n_test"], source.path is None)


def _test_rows(rows: int, asked: int | None, folds: int) -> int:
    return 0 if folds else asked or min(TEST_ROWS, max(rows // 4, 20_000))


def _file_of(path: Path, name: str) -> Path | None:
    if not path.exists():
        raise DataError(f"{path}: there is no such file or folder")
    found = sorted(path.iterdir()) if path.is_dir() else [path]
    own = [file for file in found if file.name.lower().startswith(name.lower()) and file.name.lower().endswith(ENDINGS)]
    if len(own) > 1:
        raise OptionError(f"{path}: {own[0].name} and {own[1].name} both hold {name}; pass the file that is meant")
    return own[0] if own else None


def _simulated(source: Source) -> tuple[Any, Any, Any, int]:
    assert source.rows is not None
    made = SIMULATORS[source.name](source.rows + source.test_rows, seed=source.seed)
    return made.X, made.y, made.columns, source.test_rows


def _from_file(source: Source) -> tuple[Any, Any, Any, int]:
    """The first training rows and the last rows, which are the test in the files of UCI."""
    X, y, columns = _parquet_rows(source) if str(source.path).lower().endswith(".parquet") else _uci_rows(source)
    n_test = source.test_rows
    n_train = len(y) - n_test
    if n_train < 1:
        raise DataError(f"{source.path}: {len(y)} rows cannot spare {n_test} for the test; pass fewer test rows")
    if source.rows is None or source.rows >= n_train:
        return X, y, columns, n_test
    return *(np.concatenate([rows[: source.rows], rows[n_train:]]) for rows in (X, y)), columns, n_test


def _uci_rows(source: Source) -> tuple[Any, Any, Any]:
    """From UCI, or from a CSV file as it is there; either is converted once and cached."""
    made = LOADERS[source.name](None if source.path == UCI else source.path, part="all")
    return made.X, made.y, made.columns


def _parquet_rows(source: Source) -> tuple[Any, Any, Any]:
    table = read_table_file(Path(source.path or ""))
    names = table.column_names
    target = "label" if "label" in names else names[0]  # in the UCI files the label comes first
    columns = [name for name in names if name != target]
    known = COLUMNS[source.name]
    if len(columns) != known:
        raise DataError(f"{source.path}: {len(columns)} columns beside {target!r}; {source.name} has {known}")
    X = np.empty((table.num_rows, len(columns)), np.float32)
    for position, name in enumerate(columns):
        X[:, position] = table.column(name).to_numpy()
    return X, table.column(target).to_numpy().astype(np.int8), columns


def _check_classes(source: Source, y: NDArray[Any]) -> None:
    found = np.unique(y).tolist()
    if found != [0, 1]:
        raise DataError(f"{source.path or source.name}: the labels are {found[:5]}, not 0 and 1; pass other rows")


def _hash(X: NDArray[Any], y: NDArray[Any]) -> str:
    digest = hashlib.sha256(repr(X.shape).encode())
    digest.update(np.ascontiguousarray(X).data)
    digest.update(np.ascontiguousarray(y).data)
    return digest.hexdigest()
