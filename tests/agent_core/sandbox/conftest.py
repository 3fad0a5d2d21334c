"""A mark for the processes of a test."""

import os
import signal
from collections.abc import Iterator
from uuid import uuid4

import pytest

from tests.agent_core.sandbox.running import running


@pytest.fixture
def marker() -> Iterator[str]:
    """A word that only this test's processes have on their command line; ends those that remain."""
    word = f"marker{uuid4().hex}"
    yield word
    for pid in running(word):
        os.kill(pid, signal.SIGKILL)
