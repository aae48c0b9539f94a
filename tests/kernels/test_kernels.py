"""Which implementation runs, and that the compiled one cannot be made to write outside its arrays."""

import os
import subprocess
import sys

import numpy as np
import pytest
from tests.columns import only_compiled

from softbin import kernels

ENCODE = """
import numpy as np
from softbin import HardBins, SoftBins, kernels
X = np.random.default_rng(0).normal(size=(1000, 3)).astype(np.float32)
X[::7, 1] = np.nan
digest = 0
for encoder in (HardBins(), SoftBins()):
    matrix = encoder.fit_transform(X)
    digest = hash((digest, matrix.data.tobytes(), matrix.indices.tobytes(), encoder.grid_.to_json()))
print(kernels.implementation(), digest)
"""


def run(**environment):
    environment = {**os.environ, "PYTHONHASHSEED": "0", **environment}
    done = subprocess.run([sys.executable, "-c", ENCODE], env=environment, capture_output=True, text=True, check=True)
    return done.stdout.split()


def test_it_says_which_implementation_runs():
    assert kernels.implementation() == ("numpy" if kernels.compiled is None else "compiled")
    if os.environ.get("SOFTBIN_KERNELS") == "numpy":
        assert kernels.implementation() == "numpy"


@only_compiled
def test_both_implementations_give_the_same_bytes_in_a_fresh_process():
    compiled, definitions = run(SOFTBIN_KERNELS=""), run(SOFTBIN_KERNELS="numpy")
    assert (compiled[0], definitions[0]) == ("compiled", "numpy")
    assert compiled[1] == definitions[1]


def test_without_the_extension_the_definitions_run(monkeypatch):
    def absent(name):
        raise ImportError(name)

    monkeypatch.setattr(kernels.importlib, "import_module", absent)
    assert kernels._load() is None


def plan():
    return kernels.compiled.Plan([0.0, 1.0, 2.0], [0, 3], [], [0, 0], [3], [-2], [0], [0], True)


def arrays(rows=4, dtype=np.float32):
    return {
        "columns": (np.zeros(rows, dtype),),
        "indices": np.zeros(2 * rows, np.int32),
        "data": np.zeros(2 * rows, np.float32),
        "faults": np.zeros(2, np.int64),
    }


WRONG = {
    "short indices": {"indices": np.zeros(7, np.int32)},
    "short data": {"data": np.zeros(7, np.float32)},
    "indices of another dtype": {"indices": np.zeros(8, np.uint8)},
    "strided data": {"data": np.zeros(16, np.float32)[::2]},
    "short faults": {"faults": np.zeros(1, np.int64)},
    "a column too many": {"columns": (np.zeros(4), np.zeros(4))},
    "no column": {"columns": ()},
    "a column of integers": {"columns": (np.zeros(4, int),)},
    "a column of float16": {"columns": (np.zeros(4, np.float16),)},
    "a matrix for a column": {"columns": (np.zeros((4, 1)),)},
    "a list for a column": {"columns": ([0.0] * 4,)},
}


@only_compiled
def test_right_arrays_are_taken():
    kernels.compiled.hat_csr(plan(), **arrays())
    kernels.compiled.hat_csr(plan(), **arrays(dtype=np.float64))


@only_compiled
@pytest.mark.parametrize("what", WRONG)
def test_wrong_arrays_are_refused(what):
    with pytest.raises((ValueError, TypeError, RuntimeError)):
        kernels.compiled.hat_csr(plan(), **{**arrays(), **WRONG[what]})


@only_compiled
def test_read_only_outputs_are_refused():
    given = arrays()
    given["data"].flags.writeable = False
    with pytest.raises((ValueError, TypeError)):
        kernels.compiled.hat_csr(plan(), **given)


@only_compiled
@pytest.mark.parametrize(
    "arguments",
    [
        ([0.0, 1.0], [0, 5], [], [0, 0], [2], [-2], [0], [0]),
        ([0.0, 1.0], [0, 2], [], [0, 3], [2], [-2], [0], [0]),
        ([0.0, 1.0], [0, 2], [], [0, 0], [2, 2], [-2], [0], [0]),
        ([0.0, 1.0], [0], [], [0, 0], [2], [-2], [0], [0]),
        ([0.0, 1.0], [0, 2], [], [0, 0], [2], [], [0], [0]),
        ([0.0, 1.0], [0, 2], [], [0, 0], [9], [-2], [0], [0]),
    ],
)
def test_a_plan_that_does_not_add_up_is_refused(arguments):
    """A wrong plan would read outside its edges; it must say so instead."""
    with pytest.raises((ValueError, RuntimeError)):
        kernels.compiled.Plan(*arguments, True)
