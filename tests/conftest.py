"""Settings for the whole suite: what Hypothesis may spend, and where the tests' own modules are found."""

import os
import sys
from pathlib import Path

import hypothesis
import pytest

# Why: the import mode leaves sys.path alone, and tests/same.py and its like are imported by many files.
sys.path.insert(0, str(Path(__file__).parent.parent))

from softbin import kernels

QUIET = {"deadline": None, "database": None, "print_blob": True}
hypothesis.settings.register_profile("suite", max_examples=25, derandomize=True, **QUIET)
hypothesis.settings.register_profile("explore", max_examples=400, **QUIET)
hypothesis.settings.load_profile(os.environ.get("HYPOTHESIS_PROFILE", "suite"))


def pytest_collection_modifyitems(config: pytest.Config, items: list[pytest.Item]) -> None:
    """Timings say nothing about the definitions, so they run only where the compiled kernels do."""
    if kernels.compiled is not None:
        return
    for item in items:
        if "timing" in item.keywords:
            item.add_marker(pytest.mark.skip(reason="timings are for the compiled kernels"))
