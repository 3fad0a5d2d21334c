"""Processes that still hold the output pipe are ended with all their descendants."""

import asyncio
import os
import signal
import sys
from pathlib import Path

import pytest

from agent_core.sandbox.reaper import end_writers
from tests.agent_core.sandbox.running import running
from tests.process import until

pytestmark = pytest.mark.skipif(sys.platform != "linux", reason="looks into /proc")

STARTS_A_SILENT_ONE = """
import os, sys, time
if os.fork() == 0:
    os.setsid()
    nowhere = os.open("/dev/null", os.O_RDWR)
    for handle in (0, 1, 2):
        os.dup2(nowhere, handle)
    open(sys.argv[2], "w").close()
time.sleep(60)
"""


async def test_a_child_that_closed_its_output_ends_with_its_parent(tmp_path: Path, marker: str) -> None:
    """The child would otherwise outlive its supervisor."""
    reading, writing = os.pipe()
    argv = (sys.executable, "-c", STARTS_A_SILENT_ONE, marker, str(tmp_path / "silent"))
    process = await asyncio.create_subprocess_exec(*argv, stdout=writing)
    os.close(writing)
    await until((tmp_path / "silent").exists)

    end_writers(reading)

    assert await process.wait() == -signal.SIGKILL
    os.close(reading)
    await until(lambda: not running(marker))
