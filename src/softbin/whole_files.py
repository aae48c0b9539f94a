"""Files and folders that are written whole or not at all: under a temporary name first, which is then renamed.

Whoever is killed in between leaves the old one, or none, and a hidden ``.name.PID.tmp`` beside it.
"""

import os
import shutil
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from softbin.errors import SavedFileError


def check_free(path: Path, overwrite: bool) -> None:
    """Raises SavedFileError where something stands that may not be replaced."""
    if path.exists() and not overwrite:
        raise SavedFileError(f"{path}: exists already; pass overwrite=True to replace it")


def temporary_name(path: Path) -> Path:
    """A name beside ``path`` that no other process or thread writes to."""
    return path.with_name(f".{path.name}.{os.getpid()}.{threading.get_ident()}.tmp")


@contextmanager
def whole_file(path: str | os.PathLike[str], *, overwrite: bool = False) -> Iterator[Path]:
    """A name to write to; the file is at ``path`` once the block ends, and nowhere if it raises."""
    path = Path(path)
    check_free(path, overwrite)
    temporary = temporary_name(path)
    try:
        yield temporary
        os.replace(temporary, path)
    finally:
        temporary.unlink(missing_ok=True)


@contextmanager
def whole_folder(path: str | os.PathLike[str], *, overwrite: bool = False) -> Iterator[Path]:
    """The same for a folder. One that is replaced disappears only when the new one is complete."""
    path = Path(path)
    check_free(path, overwrite)
    temporary = temporary_name(path)
    old = temporary.with_suffix(".old")
    try:
        temporary.mkdir()
        yield temporary
        if path.exists():
            os.replace(path, old)
        os.replace(temporary, path)
    finally:
        for rest in (temporary, old):
            if rest.is_dir():
                shutil.rmtree(rest)
            else:
                rest.unlink(missing_ok=True)
