"""What holds for every test."""

import os

import pytest
from hypothesis import settings

# The same examples in every run, so that a failure belongs to the change that shows it; `--hypothesis-profile=explore`
# looks further. How long an example takes says more about the machine than about the code.
settings.register_profile("parley", deadline=None, derandomize=True)
settings.register_profile("explore", deadline=None, max_examples=2_000)
settings.load_profile("parley")


@pytest.hookimpl(optionalhook=True)
def pytest_xdist_auto_num_workers() -> int:
    """Many tests wait more than they work: for a program to start, a second to pass. So a small machine gets twice as
    many workers as it has cores; a large one has enough of them."""
    cores = os.cpu_count() or 1
    return max(cores, min(2 * cores, 8))
