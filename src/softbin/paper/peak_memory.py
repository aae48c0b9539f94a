"""The most memory this process held at once since a moment of our choice.

Linux keeps such a peak (VmHWM) and sets it back on request; elsewhere the peak is that of the whole process so far.
"""

import contextlib
import resource
import sys
from pathlib import Path

STATUS, RESET = Path("/proc/self/status"), Path("/proc/self/clear_refs")


def restart_peak() -> bool:
    """Starts counting anew; whether that is possible here."""
    with contextlib.suppress(OSError):
        RESET.write_text("5")
        return True
    return False


def peak_bytes() -> int:
    """The most resident memory since then."""
    if STATUS.exists():
        for line in STATUS.read_text().splitlines():
            if line.startswith("VmHWM:"):
                return int(line.split()[1]) * 1024
    largest = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    return largest if sys.platform == "darwin" else largest * 1024
