"""Where a training stands, written after every epoch: kill it at any moment and go on from there."""

import os
from pathlib import Path
from typing import Any, NamedTuple

from torch import Tensor

from softbin.deep.tensor_file import clear_leftovers, read_tensors, unfinished, write_tensors
from softbin.errors import OptionError

FORMAT = "softbin.checkpoint"
SCHEMA = 1


class Found(NamedTuple):
    tensors: dict[str, Tensor]
    facts: dict[str, Any]


class Checkpoint:
    """A file beside a training. ``identity`` is what makes it this training: options and a digest of the rows.

    ``found`` is the state to go on from, None to start afresh.
    """

    def __init__(self, path: str | Path, identity: dict[str, Any], resume: bool) -> None:
        self.path, self.identity = _writable(path), identity
        self.found: Found | None = None
        if resume and self.path.exists():
            self.found = self._read()

    def save(self, tensors: dict[str, Tensor], facts: dict[str, Any]) -> None:
        own = {"format": FORMAT, "schema": SCHEMA, "identity": self.identity}
        write_tensors(self.path, tensors, {**facts, **own})

    def _read(self) -> Found:
        tensors, facts = read_tensors(self.path, FORMAT)
        differ = {name for name, value in self.identity.items() if facts["identity"].get(name) != value}
        if facts["schema"] != SCHEMA or differ:
            named = ", ".join(sorted(differ)) or "the version of softbin"
            raise OptionError(
                f"{self.path}: is of another training, {named} differ(s); go on with the same options and rows, "
                "or pass resume=False to start afresh"
            )
        return Found(tensors, facts)


def _writable(path: str | Path) -> Path:
    """The path, once it is known that a checkpoint can be written there; an epoch may be hours away."""
    if not isinstance(path, (str, os.PathLike)):
        raise OptionError(f"checkpoint: {path!r} is not a path; pass the name of a file")
    path = Path(path)
    if not path.parent.is_dir():
        raise OptionError(f"checkpoint: there is no folder {str(path.parent)!r}; make it first")
    if path.is_dir():
        raise OptionError(f"checkpoint: {str(path)!r} is a folder; pass the name of a file in it")
    try:
        clear_leftovers(path)
        with unfinished(path):
            pass
    except OSError as error:
        raise OptionError(f"checkpoint: {str(path)!r} cannot be written ({error}); pass another path") from None
    return path
