"""Optional packages: import one where it is used, or say which extra installs it."""

import importlib
from types import ModuleType

from softbin.errors import MissingDependencyError

EXTRAS = {"matplotlib": "plots", "pandas": "frames", "safetensors": "deep", "torch": "deep"}


def need(name: str) -> ModuleType:
    """The optional package ``name``, imported now."""
    try:
        return importlib.import_module(name)
    except ImportError as error:
        extra = EXTRAS[name.partition(".")[0]]
        raise MissingDependencyError(
            f'{name} is not installed; install it with: pip install "softbin[{extra}]"'
        ) from error
