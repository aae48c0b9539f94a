"""Tensors and facts in one file: safetensors, with the facts as JSON in its header. No pickle, nothing runs on loading.

A file is written under another name and then renamed, so that whoever is killed leaves the old one or the new one.
"""

import glob
import json
import os
import shutil
import threading
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import torch
from safetensors import SafetensorError, safe_open
from safetensors.torch import save_file
from torch import Tensor

from softbin.errors import SavedFileError


def write_tensors(path: Path, tensors: Mapping[str, Tensor], facts: Mapping[str, Any]) -> None:
    """Writes the file whole, or not at all."""
    own = {name: tensor.detach().to("cpu", copy=True).contiguous() for name, tensor in tensors.items()}
    try:
        with unfinished(path) as folder:
            save_file(own, folder / "whole", {"softbin": json.dumps(facts)})
            os.replace(folder / "whole", path)
    except (SafetensorError, OSError) as error:
        raise SavedFileError(f"{path}: cannot be written ({error}); pass another path, or make room") from None


@contextmanager
def unfinished(path: Path) -> Iterator[Path]:
    """A folder beside ``path`` for what is not whole yet, gone afterwards. Whoever is killed leaves it behind."""
    folder = path.with_name(f".{path.name}.{os.getpid()}.{threading.get_ident()}.tmp")
    folder.mkdir(exist_ok=True)
    try:
        yield folder
    finally:
        shutil.rmtree(folder, ignore_errors=True)


def clear_leftovers(path: Path) -> None:
    """Removes what others, killed while they wrote this file, have left behind."""
    for folder in path.parent.glob(f".{glob.escape(path.name)}.*.tmp"):
        shutil.rmtree(folder, ignore_errors=True)


def read_tensors(path: Path, form: str) -> tuple[dict[str, Tensor], dict[str, Any]]:
    """Tensors and facts of a file whose facts say that it is of this ``form``."""
    try:
        with safe_open(path, framework="pt") as file:
            header = file.metadata() or {}
            tensors: dict[str, torch.Tensor] = {name: file.get_tensor(name) for name in file.keys()}  # noqa: SIM118
        facts: dict[str, Any] = json.loads(header.get("softbin", "{}"))
    except FileNotFoundError:
        raise SavedFileError(f"{path}: there is no such file") from None
    except (SafetensorError, json.JSONDecodeError, OSError) as error:
        raise SavedFileError(f"{path}: not a file that softbin wrote, or cut off ({error})") from None
    if facts.get("format") != form:
        raise SavedFileError(f"{path}: holds {facts.get('format')!r}, not {form!r}; was it written by something else?")
    return tensors, facts
