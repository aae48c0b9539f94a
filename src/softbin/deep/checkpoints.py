"""Where a training stands, written after every epoch: kill it at any moment and go on from there."""

from pathlib import Path
from typing import Any, NamedTuple

from torch import Tensor

from softbin.deep.tensor_file import read_tensors, write_tensors
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
        self.path, self.identity = Path(path), identity
        self.found: Found | None = None
        if not self.path.parent.is_dir():
            raise OptionError(f"checkpoint: there is no folder {str(self.path.parent)!r}; make it first")
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
