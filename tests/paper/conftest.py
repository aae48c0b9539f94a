"""One small run that the tests of tables, figures and pages share."""

import pytest
from tests.paper.small import run, small


@pytest.fixture(scope="session")
def outcome(tmp_path_factory):
    return run(small(tmp_path_factory.mktemp("paper") / "results"))
