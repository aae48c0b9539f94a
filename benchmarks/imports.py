"""What importing costs, each time in a new interpreter."""

import json
import statistics
import subprocess
import sys
from typing import Any

TARGET = 0.2
HEAVY = ("torch", "pandas", "polars", "matplotlib", "pyarrow", "dask", "sklearn", "scipy", "narwhals", "numpy")
FORBIDDEN = ("torch", "pandas", "polars", "matplotlib")
STATEMENTS = ("import softbin", "from softbin import SoftBins", "import sklearn.preprocessing")
SCRIPT = """
import json, sys, time
start = time.perf_counter()
{statement}
taken = time.perf_counter() - start
print(json.dumps([taken, [name for name in {heavy} if name in sys.modules]]))
"""


def measure(repeats: int) -> list[dict[str, Any]]:
    """Seconds, and the heavy modules loaded, of each statement."""
    found = []
    for statement in STATEMENTS:
        runs = [_run(statement) for _ in range(repeats + 1)][1:]
        seconds = [taken for taken, _ in runs]
        loaded = runs[-1][1]
        found.append(
            {
                "statement": statement,
                "seconds": seconds,
                "median": statistics.median(seconds),
                "best": min(seconds),
                "loaded": loaded,
                "forbidden": [name for name in FORBIDDEN if name in loaded],
            }
        )
    return found


def _run(statement: str) -> tuple[float, list[str]]:
    script = SCRIPT.format(statement=statement, heavy=HEAVY)
    done = subprocess.run([sys.executable, "-c", script], check=True, capture_output=True, text=True)
    taken, loaded = json.loads(done.stdout)
    return taken, loaded
