"""The package as a whole: light to import, errors in one family, examples that run."""

import doctest
import importlib
import importlib.util
import pkgutil
import re
import subprocess
import sys
from pathlib import Path

import pytest

import softbin
from softbin import errors
from softbin.optional import need

# Comes with torch on GPU machines only.
TRITON = {f"softbin.deep.kernels.{name}" for name in ("device", "device_step", "device_fold")}
NO_DOCSTRINGS = {"softbin._kernels", *(() if importlib.util.find_spec("triton") else TRITON)}
MODULES = [
    "softbin",
    *(m.name for m in pkgutil.walk_packages(softbin.__path__, "softbin.") if m.name not in NO_DOCSTRINGS),
]
README = Path(__file__).parent.parent / "README.md"


def fresh_process(code: str) -> str:
    return subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True).stdout.strip()


def test_importing_softbin_loads_nothing_heavy():
    code = """
import sys, softbin
heavy = {"torch", "pandas", "polars", "matplotlib", "dask", "pyarrow", "sklearn", "scipy", "numpy"}
print(sorted(heavy & set(sys.modules)))
"""
    assert fresh_process(code) == "[]"


def test_using_softbin_loads_no_optional_package_that_scikit_learn_does_not_load():
    code = """
import sys, numpy as np, sklearn.base
before = set(sys.modules)
from softbin import SoftBins, HardBins, Grid, Boundaries
for encoder in (SoftBins(), HardBins()):
    encoder.fit_transform(np.arange(20.0)[:, None])
print(sorted({"torch", "pandas", "polars", "matplotlib", "dask", "pyarrow"} & set(sys.modules) - before))
"""
    assert fresh_process(code) == "[]"


@pytest.mark.timing
def test_importing_softbin_takes_less_than_a_fifth_of_a_second():
    code = "import time; t = time.perf_counter(); import softbin; print(time.perf_counter() - t)"
    assert min(float(fresh_process(code)) for _ in range(3)) < 0.2


def test_public_names_are_there_and_listed():
    for name in softbin.__all__:
        assert getattr(softbin, name).__name__ == name
        assert name in dir(softbin)
    with pytest.raises(AttributeError, match="has no attribute 'Nonsense'"):
        softbin.Nonsense  # noqa: B018


def test_every_error_is_a_softbin_error_and_a_builtin_one():
    classes = [value for value in vars(errors).values() if isinstance(value, type)]
    assert len(classes) >= 6
    for error in classes:
        assert issubclass(error, errors.SoftbinError)
        if error is not errors.SoftbinError:
            assert issubclass(error, (ValueError, TypeError, ImportError, MemoryError, OSError, RuntimeError))


def test_a_missing_package_names_the_extra(monkeypatch):
    def absent(name):
        raise ImportError(name)

    monkeypatch.setattr("softbin.optional.importlib.import_module", absent)
    with pytest.raises(errors.MissingDependencyError, match=r'pip install "softbin\[plots\]"'):
        need("matplotlib.pyplot")


@pytest.mark.parametrize("name", MODULES)
def test_examples_in_docstrings_run(name):
    result = doctest.testmod(importlib.import_module(name), optionflags=doctest.ELLIPSIS)
    assert result.failed == 0


def test_there_are_examples():
    tried = sum(doctest.testmod(importlib.import_module(name)).attempted for name in MODULES)
    assert tried > 20


def test_examples_in_the_readme_run(tmp_path, monkeypatch):
    """All Python blocks, one after the other, as a reader would paste them."""
    monkeypatch.chdir(tmp_path)
    names: dict[str, object] = {}
    for block in re.findall(r"```python\n(.*?)```", README.read_text(encoding="utf-8"), re.DOTALL):
        if ">>>" in block:
            test = doctest.DocTestParser().get_doctest(block, names, "README", str(README), 0)
            assert doctest.DocTestRunner().run(test, clear_globs=False).failed == 0
            names.update(test.globs)
        else:
            exec(compile(block, "README.md", "exec"), names)


def test_the_wheel_is_typed():
    assert (Path(softbin.__file__).parent / "py.typed").exists()
