"""Parley as a program on an emulated platform, for the tests of the menus."""

from tests.end_to_end.conftest import (
    make_program,
    own_stage,
    pytest_configure,
    pytest_generate_tests,
    pytest_runtest_makereport,
)

__all__ = ["make_program", "own_stage", "pytest_configure", "pytest_generate_tests", "pytest_runtest_makereport"]
