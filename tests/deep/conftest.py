"""Networks this small are slower on several threads, and tests run side by side already."""

import pytest
import torch


@pytest.fixture(autouse=True, scope="session")
def _one_thread():
    torch.set_num_threads(1)
