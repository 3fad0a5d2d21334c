"""Parley as a program on an emulated platform, and a database with a wrong password, for the tests of the export."""

from tests.end_to_end.conftest import (
    make_program,
    pytest_configure,
    pytest_generate_tests,
    pytest_runtest_makereport,
    shared_stage,
    stage,
)
from tests.gateway.test_database_refused import wrong

__all__ = [
    "make_program",
    "pytest_configure",
    "pytest_generate_tests",
    "pytest_runtest_makereport",
    "shared_stage",
    "stage",
    "wrong",
]
