"""Settings for all tests."""

import gc
import os
import shutil
import signal
import tempfile
from collections.abc import Generator, Iterator
from pathlib import Path

import pytest
from hypothesis import HealthCheck, settings

from tests.end_to_end.forks import NURSERY
from tests.event_loops import pytest_asyncio_loop_factories  # noqa: F401 - a hook of pytest-asyncio's
from tests.examples import ALL, examples
from tests.in_turn import pytest_generate_tests  # noqa: F401 - a hook of pytest's
from tests.lacking import pytest_terminal_summary  # noqa: F401 - a hook of pytest's
from tests.logs import use_plain_logs
from tests.postgres import (  # noqa: F401 - fixtures
    bare_url_of,
    database,
    open_folder,
    postgres_server,
    ready_database,
    url_of,
)
from tests.process import lasting_port
from tests.ready_store import use_ready_stores
from tests.zones import use_pinned_zones

# What the checks after each conversation find wrong is told, too.
pytest.register_assert_rewrite("tests.end_to_end.stage", "tests.end_to_end.platforms")
use_pinned_zones()
use_plain_logs()
use_ready_stores()
if signal.getsignal(signal.SIGINT) is signal.SIG_IGN:
    # A shell starts programs in the background with Ctrl-C ignored, and they pass that on. Some tests send it.
    signal.signal(signal.SIGINT, signal.default_int_handler)

# A store waits for the disk with every transaction, and a new database takes ten times the CPU there. In memory they do
# not; so `tmp_path`, the servers of PostgreSQL and the profiles of Chromium are there, too.
MEMORY, ROOM = Path("/dev/shm"), 2 * 2**30  # noqa: S108 - pytest makes a folder of its own there


def _is_usable(folder: Path) -> bool:
    """Return True if there is room for all tests, and programs may run there, which Docker's /dev/shm forbids."""
    if not os.access(folder, os.W_OK):
        return False
    return shutil.disk_usage(folder).free > ROOM and not os.statvfs(folder).f_flag & os.ST_NOEXEC


if _is_usable(MEMORY):
    os.environ.setdefault("TMPDIR", str(MEMORY))
    tempfile.tempdir = None  # pytest has asked for the usual place before

OBJECTS = 20_000
"""New objects after which garbage is collected. With Python's 700 it takes a tenth of the tests' time."""

# The same examples in every run, so that a failure belongs to the change that shows it; `--hypothesis-profile=explore`
# searches further. No example is too slow, as times depend more on the machine than on the code.
USUAL = 100
AT_ANY_PACE = settings(deadline=None, suppress_health_check=[HealthCheck.too_slow])
settings.register_profile("parley", AT_ANY_PACE, derandomize=True, max_examples=examples(USUAL))
settings.register_profile("explore", AT_ANY_PACE, max_examples=2_000)
settings.load_profile("parley")


def pytest_addoption(parser: pytest.Parser) -> None:
    parser.addoption(
        "--all-platforms",
        action="store_true",
        help="run tests on all platforms and model clients, not on one of them, and properties with all examples",
    )
    parser.addoption(
        "--nodes",
        type=int,
        default=0,
        help="run the conversations of tests/end_to_end with so many nodes, and only those",
    )


def pytest_configure(config: pytest.Config) -> None:
    if config.getoption("all_platforms"):
        os.environ[ALL] = "1"  # also for the workers, before they import a test
        settings.register_profile("parley", AT_ANY_PACE, derandomize=True, max_examples=USUAL)


@pytest.hookimpl(optionalhook=True)
def pytest_xdist_auto_num_workers() -> int:
    """Return twice the number of cores on small machines: many tests wait for a process or a timer rather than
    compute."""
    cores = os.cpu_count() or 1
    return max(cores, min(2 * cores, 8))


@pytest.hookimpl(wrapper=True)
def pytest_collection() -> Generator[None, object, object]:
    """Disable garbage collection while collecting tests, which would take a quarter of the time, and exempt the result
    from later collections."""
    gc.disable()
    try:
        return (yield)
    finally:
        gc.freeze()
        gc.set_threshold(OBJECTS)
        gc.enable()


@pytest.fixture
def unused_tcp_port() -> int:
    return lasting_port()


@pytest.fixture(scope="session", autouse=True)
def nothing_forked_outlives_its_test() -> Iterator[None]:
    yield
    assert NURSERY.close() == 0, "a test left its program running"
