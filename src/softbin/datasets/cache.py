"""The cache directory: where it is, one process at a time in it, files that are there whole or not at all.

A file is written under a temporary name, flushed to the disk and renamed; until then nobody sees it. The temporary name
is fixed, because only the holder of the lock writes: what a killed process left behind is overwritten by the next.
The lock is the operating system's, so that it goes with its process however that ends.
"""

import errno
import os
import sys
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import IO

from softbin.errors import CacheError, SoftbinError

VARIABLE = "SOFTBIN_CACHE"
LOOK_AGAIN = 0.1
BUSY = (errno.EAGAIN, errno.EACCES, errno.EDEADLK)


def cache_directory() -> Path:
    """``SOFTBIN_CACHE``, or softbin's folder where this system keeps caches."""
    chosen = os.environ.get(VARIABLE)
    if chosen:
        return Path(chosen).expanduser().absolute()
    try:
        return _system_caches(Path.home())
    except RuntimeError:
        raise CacheError(f"cache directory: no home directory is known; set {VARIABLE} to a directory") from None


def _system_caches(home: Path) -> Path:
    if sys.platform == "win32":
        return Path(os.environ.get("LOCALAPPDATA") or home / "AppData" / "Local") / "softbin" / "Cache"
    if sys.platform == "darwin":
        return home / "Library" / "Caches" / "softbin"
    return Path(os.environ.get("XDG_CACHE_HOME") or home / ".cache") / "softbin"


@contextmanager
def disk_errors(path: Path) -> Iterator[None]:
    """An OSError in the block is about writing ``path``: say so, and what to do."""
    try:
        yield
    except SoftbinError:
        raise
    except OSError as error:
        full = error.errno in (errno.ENOSPC, errno.EDQUOT, errno.EFBIG)
        todo = "free some space" if full else "check the permissions"
        what = error.strerror or error
        raise CacheError(
            f"{path}: cannot be written: {what}; {todo}, or set {VARIABLE} to another directory"
        ) from error


@contextmanager
def whole_file(path: Path) -> Iterator[IO[bytes]]:
    """A file to write; it appears as ``path`` when the block ends well, else nothing is left of it."""
    temporary = path.with_name(path.name + ".tmp")
    try:
        with disk_errors(path):
            with open(temporary, "wb") as file:
                yield file
                file.flush()
                os.fsync(file.fileno())
            os.replace(temporary, path)
    finally:
        with suppress(OSError):
            temporary.unlink()


@contextmanager
def locked(path: Path, waiting: Callable[[], None]) -> Iterator[None]:
    """Only one process (and thread) at a time gets past this for ``path``; ``waiting`` is called if that is not us."""
    lock = path.with_name(path.name + ".lock")
    with disk_errors(lock):
        lock.parent.mkdir(parents=True, exist_ok=True)
        file = open(lock, "ab")  # noqa: SIM115
    with file:
        told = False
        while not _take(file, lock):
            if not told:
                waiting()
            told = True
            time.sleep(LOOK_AGAIN)
        yield


def _take(file: IO[bytes], lock: Path) -> bool:
    """The lock, if nobody has it; closing the file gives it back."""
    try:
        if sys.platform == "win32":
            import msvcrt

            file.seek(0)
            msvcrt.locking(file.fileno(), msvcrt.LK_NBLCK, 1)
        else:
            import fcntl

            fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except OSError as error:
        if error.errno in BUSY:
            return False
        raise CacheError(
            f"{lock}: this file system has no locks ({error.strerror}); set {VARIABLE} to a directory on another"
        ) from error
    return True
