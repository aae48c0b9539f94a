"""Model folders: what softbin fit writes and the other commands read.

model.json (linear) or model.safetensors (deep), facts.json (which column was the target), report.html
"""

import json
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from softbin.deep import DeepClassifier, DeepRegressor
from softbin.errors import SavedFileError
from softbin.linear import LinearClassifier, LinearRegressor
from softbin.linear.saved import read_state

LINEAR, DEEP, FACTS, REPORT = "model.json", "model.safetensors", "facts.json", "report.html"
SCHEMA = 1
KINDS: dict[tuple[str, str], Any] = {
    ("linear", "classes"): LinearClassifier,
    ("linear", "number"): LinearRegressor,
    ("deep", "classes"): DeepClassifier,
    ("deep", "number"): DeepRegressor,
}


@dataclass(frozen=True)
class SavedModel:
    """A fitted model and what it was fitted to."""

    model: Any
    target: str
    task: str
    rows: int
    source: str


def write_model(saved: SavedModel, folder: Path) -> None:
    """Into a folder that is there already."""
    name = LINEAR if isinstance(saved.model, (LinearClassifier, LinearRegressor)) else DEEP
    saved.model.save(folder / name)
    facts = {"format": "softbin.model", "schema": SCHEMA, "target": saved.target, "task": saved.task}
    facts |= {"rows": saved.rows, "source": saved.source}
    (folder / FACTS).write_text(json.dumps(facts, indent=1), encoding="utf-8")


def read_model(path: Path) -> SavedModel:
    """The model in a folder, or in the folder of a file."""
    folder = path if path.is_dir() else path.parent
    try:
        facts = json.loads((folder / FACTS).read_text(encoding="utf-8"))
        target, task, rows, source = (facts[name] for name in ("target", "task", "rows", "source"))
        schema = facts["schema"]
    except FileNotFoundError:
        raise SavedFileError(f"{path}: there is no model here; pass a folder that softbin fit wrote") from None
    except (json.JSONDecodeError, KeyError, TypeError) as error:
        raise SavedFileError(f"{folder / FACTS}: the file is damaged: {error}") from None
    if schema != SCHEMA:
        raise SavedFileError(f"{folder / FACTS}: schema {schema!r} is unknown here; update softbin")
    return SavedModel(_load(folder, task), target, task, rows, source)


def _load(folder: Path, task: str) -> Any:
    if (folder / LINEAR).exists():
        known = {kind.__name__: kind for (model, _), kind in KINDS.items() if model == "linear"}
        name = read_state(folder / LINEAR).get("estimator")
        if name not in known:
            raise SavedFileError(f"{folder / LINEAR}: holds a {name!r}; update softbin")
        return known[name].load(folder / LINEAR)
    return KINDS["deep", task].load(folder / DEEP)
