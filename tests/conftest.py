"""What holds for every test."""

import gc
import os
from collections.abc import Generator, Iterator

import pytest
from hypothesis import settings

from tests.end_to_end.forks import NURSERY

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


@pytest.hookimpl(wrapper=True)
def pytest_collection() -> Generator[None, object, object]:
    """Collecting makes much and throws little away: looking for garbage in it would take a quarter of its time, and
    again and again while tests run."""
    gc.disable()
    try:
        return (yield)
    finally:
        gc.freeze()
        gc.enable()


@pytest.fixture(scope="session", autouse=True)
def nothing_forked_outlives_its_test() -> Iterator[None]:
    yield
    assert NURSERY.close() == 0, "a test left its program running"
