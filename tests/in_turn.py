"""Tests that run on each of several platforms, model clients or launchers: by default on one, with `--all-platforms` on
all."""

import zlib
from collections.abc import Sequence

import pytest


def chosen(metafunc: pytest.Metafunc, names: Sequence[str]) -> Sequence[str]:
    """Return the names that a test runs with: all with `--all-platforms`, else one, chosen by the test's own name.

    So a test stays with its one, and all tests together use each of them.
    """
    if metafunc.config.getoption("all_platforms"):
        return names
    return [names[zlib.crc32(metafunc.definition.nodeid.encode()) % len(names)]]


def pytest_generate_tests(metafunc: pytest.Metafunc) -> None:
    """Run a test marked `in_turn(argument, names)` with one of the names, or with all; the closest mark counts."""
    seen = set()
    for mark in metafunc.definition.iter_markers("in_turn"):
        argument, names = mark.args
        if argument in metafunc.fixturenames and argument not in seen:
            seen.add(argument)
            metafunc.parametrize(argument, chosen(metafunc, names), **mark.kwargs)
