"""The compiled kernels, where they are installed, and which implementation runs.

Every operation is defined by a few lines of NumPy beside the code that calls it; ``compiled`` holds the
C++ copies, or is None. Setting SOFTBIN_KERNELS=numpy runs the definitions even where the copies exist.
"""

import importlib
import os
from typing import Any


def _load() -> Any:
    if os.environ.get("SOFTBIN_KERNELS") == "numpy":
        return None
    try:
        return importlib.import_module("softbin._kernels")
    except ImportError:
        return None


compiled = _load()


def implementation() -> str:
    """``"compiled"`` or ``"numpy"``: what runs in this process.

    >>> import softbin.kernels
    >>> softbin.kernels.implementation() in ("compiled", "numpy")
    True
    """
    return "numpy" if compiled is None else "compiled"
