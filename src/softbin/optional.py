"""Optional packages: import one where it is used, or say which extra installs it."""

import importlib
from types import ModuleType

from softbin.errors import MissingDependencyError

EXTRAS = {
    "lightgbm": "paper",
    "matplotlib": "plots",
    "pandas": "frames",
    "pyarrow": "files",
    "rich": "cli",
    "safetensors": "deep",
    "torch": "deep",
    "typer": "cli",
}


def need(name: str) -> ModuleType:
    """The optional package ``name``, imported now."""
    try:
        return importlib.import_module(name)
    except ImportError as error:
        extra = EXTRAS[name.partition(".")[0]]
        raise MissingDependencyError(
            f'{name} is not installed; install it with: pip install "softbin[{extra}]"'
        ) from error
