"""The bot of the gateway's tests, and Parley on each platform, for the tests of plugins."""

import pytest

from tests.agent_core import over_a_wire
from tests.end_to_end import conftest as on_platforms
from tests.end_to_end.conftest import (
    make_program,
    own_stage,
    pytest_collection_modifyitems,
    pytest_configure,
    pytest_runtest_makereport,
    shared_stage,
    stage,
)
from tests.gateway.conftest import model_of, start_bot, wired_bot
from tests.plugins.hanging import given_up
from tests.plugins.packages import ours, packages

__all__ = [
    "given_up",
    "make_program",
    "model_of",
    "ours",
    "own_stage",
    "packages",
    "pytest_collection_modifyitems",
    "pytest_configure",
    "pytest_runtest_makereport",
    "shared_stage",
    "stage",
    "start_bot",
    "wired_bot",
]


def pytest_generate_tests(metafunc: pytest.Metafunc) -> None:
    over_a_wire.pytest_generate_tests(metafunc)
    on_platforms.pytest_generate_tests(metafunc)
