"""The compiled kernels, where they are installed, and which implementation runs.

Every operation is defined by a few lines of NumPy beside the code that calls it; ``compiled`` holds the
C++ copies, or is None. Setting SOFTBIN_KERNELS=numpy runs the definitions even where the copies exist.
"""

import os
from types import ModuleType

compiled: ModuleType | None
try:
    from softbin import _kernels as compiled
except ImportError:
    compiled = None
if os.environ.get("SOFTBIN_KERNELS") == "numpy":
    compiled = None


def implementation() -> str:
    """``"compiled"`` or ``"numpy"``: what runs in this process.

    >>> import softbin.kernels
    >>> softbin.kernels.implementation() in ("compiled", "numpy")
    True
    """
    return "numpy" if compiled is None else "compiled"
