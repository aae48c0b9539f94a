"""Peak resident memory of CSR output, above the table itself, in a process of its own.

``python -m benchmarks.memory SoftBins 2000000`` prints one JSON line.
"""

import argparse
import json
import subprocess
import sys
from collections.abc import Callable
from typing import Any

from benchmarks.measure import memory_now, memory_peak
from benchmarks.peers import scikit_learn
from benchmarks.tables import N_BINS, make_table
from softbin import HardBins, SoftBins

ENCODERS: dict[str, Callable[[int], Any]] = {
    "SoftBins": SoftBins,
    "HardBins": HardBins,
    "SplineTransformer": scikit_learn.soft_bins,
    "KBinsDiscretizer": scikit_learn.hard_bins,
}
TARGET = 1.2


def measure(name: str, n_rows: int) -> dict[str, Any]:
    """Peak bytes above the loaded table, and the bytes of the output, measured in a new process."""
    command = [sys.executable, "-m", "benchmarks.memory", name, str(n_rows)]
    done = subprocess.run(command, check=True, capture_output=True, text=True)
    found: dict[str, Any] = json.loads(done.stdout)
    return {"encoder": name, "rows": n_rows, **found, "ratio": found["peak_bytes"] / found["output_bytes"]}


def main() -> None:
    options = argparse.ArgumentParser(description=__doc__)
    options.add_argument("encoder", choices=ENCODERS)
    options.add_argument("rows", type=int)
    asked = options.parse_args()
    table = make_table(asked.rows)
    encoder = ENCODERS[asked.encoder](N_BINS).fit(table[:2000])
    encoder.transform(table[:2000])  # loads what is loaded once
    before = memory_now()
    matrix = encoder.transform(table)
    peak = memory_peak() - before
    size = matrix.data.nbytes + matrix.indices.nbytes + matrix.indptr.nbytes
    print(json.dumps({"peak_bytes": peak, "output_bytes": size}))


if __name__ == "__main__":
    main()
