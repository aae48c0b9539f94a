"""One large file over HTTP: goes on where it stopped, tries again, and is complete and checked or not there at all.

Bytes are appended to ``<name>.part``, whose length is all the state there is: each try asks for the rest of the file.
A server that sends more than was asked for sends it from the start, and what we have already is skipped. Tries are
counted from the last new byte, so that a file may need any number of them as long as each brings something.
"""

import hashlib
import http.client
import os
import re
import shutil
import time
import urllib.error
import urllib.request
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from softbin.datasets.cache import VARIABLE, disk_errors
from softbin.datasets.progress import ProgressLine, size_text
from softbin.errors import CacheError, DownloadError

CHUNK = 1 << 20
GZIP = b"\x1f\x8b"
TRY_AGAIN = (408, 425, 429)
RANGE = re.compile(r"bytes (?:(\d+)-\d+|\*)/(\d+|\*)")
BY_HAND = "download the file by hand and pass its path"


@dataclass(frozen=True)
class Remote:
    """A gzipped file of the web; ``size`` and ``sha256`` are None where they are not known."""

    url: str
    size: int | None
    sha256: str | None


@dataclass(frozen=True)
class Patience:
    """Seconds without a byte before a try is given up, and the pauses between tries that brought nothing new."""

    stall: float = 30.0
    pauses: tuple[float, ...] = (1.0, 2.0, 4.0, 8.0, 16.0)


class _Interrupted(Exception):
    """A try ended early; the next may fare better."""


def fetch(remote: Remote, target: Path, verbose: bool, patience: Patience) -> None:
    """``remote`` as the file ``target``."""
    part = target.with_name(target.name + ".part")
    with disk_errors(part):
        _make_room(remote, part)
    most, vain = size_of(part), 0
    line = ProgressLine(f"downloading {target.name}", remote.size, verbose, most)
    while True:
        try:
            _receive(remote, part, line, patience.stall)
            break
        except _Interrupted as trouble:
            most, vain = max(most, size_of(part)), 0 if size_of(part) > most else vain
            if vain == len(patience.pauses):
                line.close()
                raise DownloadError(
                    f"{remote.url}: {trouble}, {vain + 1} times in a row without a new byte; "
                    f"{size_text(size_of(part))} are kept: try again later to go on from there, or {BY_HAND}"
                ) from trouble.__cause__
            line.say(f"{trouble}; trying again in {patience.pauses[vain]:g} s")
            time.sleep(patience.pauses[vain])
            vain += 1
    line.close()
    _check(remote, part, target)


def size_of(path: Path) -> int:
    """How many bytes a file has, 0 without one."""
    return path.stat().st_size if path.exists() else 0


def _make_room(remote: Remote, part: Path) -> None:
    part.parent.mkdir(parents=True, exist_ok=True)
    if remote.size is None:
        return
    if size_of(part) > remote.size:
        part.unlink()
    needed, free = remote.size - size_of(part), shutil.disk_usage(part.parent).free
    if needed > free:
        raise CacheError(
            f"{part.parent}: {size_text(free)} are free, the download needs {size_text(needed)}; "
            f"free some space, or set {VARIABLE} to another directory"
        )


def _receive(remote: Remote, part: Path, line: ProgressLine, stall: float) -> None:
    """One try: appends what comes to ``part``."""
    have = size_of(part)
    if have and have == remote.size:
        return
    response = _ask(remote, part, have, stall)
    if response is None:
        return
    with response:
        start, total = _extent(response)
        if start > have:
            raise _Interrupted(f"the server sent bytes from {start} on, not from {have} on")
        _check_total(remote, total)
        total = remote.size if total is None else total
        skip = have - start
        with disk_errors(part), open(part, "ab") as file:
            for chunk in _chunks(response, start, stall):
                have += file.write(chunk[skip:])
                skip = max(0, skip - len(chunk))
                line(have)
    if total is not None and have < total:
        raise _Interrupted(f"the connection ended after {have:,} of {total:,} bytes")


def _ask(remote: Remote, part: Path, have: int, stall: float) -> Any:
    """The answer to a request for all bytes from ``have`` on; None when there are no more."""
    headers = {"User-Agent": "softbin", "Accept-Encoding": "identity"} | ({"Range": f"bytes={have}-"} if have else {})
    try:
        return urllib.request.urlopen(urllib.request.Request(remote.url, headers=headers), timeout=stall)
    except urllib.error.HTTPError as error:
        with error:
            if error.code == 416:
                if _total(error.headers.get("Content-Range", "")) == have:
                    return None
                with disk_errors(part):
                    part.unlink(missing_ok=True)
                raise _Interrupted("the server's file ends before ours") from None
            if error.code in TRY_AGAIN or error.code >= 500:
                raise _Interrupted(f"the server answered {error.code} {error.reason}") from None
            raise DownloadError(
                f"{remote.url}: the server answered {error.code} {error.reason}; check the address, or {BY_HAND}"
            ) from None
    except (OSError, http.client.HTTPException) as error:
        raise _Interrupted(_reason(error, stall)) from error


def _extent(response: Any) -> tuple[int, int | None]:
    """The position of the first byte of an answer, and the size of the whole file."""
    if response.status == 206:
        stated = RANGE.match(response.headers.get("Content-Range", ""))
        if not stated or stated[1] is None:
            raise _Interrupted("the server sent a part of the file and did not say which")
        return int(stated[1]), _total(stated[0])
    length = response.headers.get("Content-Length", "")
    return 0, int(length) if length.isdigit() else None


def _total(content_range: str) -> int | None:
    stated = RANGE.match(content_range)
    return int(stated[2]) if stated and stated[2] != "*" else None


def _check_total(remote: Remote, total: int | None) -> None:
    if remote.size is not None and total is not None and total != remote.size:
        raise DownloadError(
            f"{remote.url}: the server's file has {total:,} bytes instead of {remote.size:,}: it is another file, or a "
            f"page of a proxy or a login; open the address in a browser, or {BY_HAND}"
        )


def _chunks(response: Any, start: int, stall: float) -> Iterator[bytes]:
    """What the server sends, as it comes."""
    first = start == 0
    while True:
        try:
            # Why: read would wait for a full chunk, and lose what came when the rest does not.
            chunk = response.read1(CHUNK)
        except (OSError, http.client.HTTPException) as error:
            raise _Interrupted(_reason(error, stall)) from error
        if not chunk:
            return
        if first and not chunk.startswith(GZIP[: len(chunk)]):
            raise DownloadError(
                f"{response.url}: the answer starts with {chunk[:20]!r}, which is not gzip: it may be a page of a "
                f"proxy or a login; open the address in a browser, or {BY_HAND}"
            )
        first = False
        yield chunk


def _reason(error: BaseException, stall: float) -> str:
    cause = error.reason if isinstance(error, urllib.error.URLError) else error
    if isinstance(cause, TimeoutError):
        return f"nothing came for {stall:g} s"
    return f"the connection failed ({cause or type(cause).__name__})"


def _check(remote: Remote, part: Path, target: Path) -> None:
    """Rename a complete download; one that is not the file we know is set aside, so that it is never taken for it."""
    with disk_errors(part):
        found = sha256_of(part)
        if size_of(part) == (remote.size or size_of(part)) and found == (remote.sha256 or found):
            os.replace(part, target)
            return
        rejected = target.with_name(target.name + ".rejected")
        os.replace(part, rejected)
    raise DownloadError(
        f"{remote.url}: what came has {size_of(rejected):,} bytes and sha256 {found} instead of {remote.sha256}; "
        f"try again, or look at {rejected} and pass its path if you trust it"
    )


def sha256_of(path: Path) -> str:
    """The hash of a file, in hexadecimal."""
    with open(path, "rb") as file:
        return hashlib.file_digest(file, "sha256").hexdigest()
