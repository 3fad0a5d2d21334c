"""A command that makes processes without end stays small, and ends with all of them."""

import asyncio
import sys
from pathlib import Path

import pytest

from agent_core.sandbox.command import Command, Launcher
from agent_core.sandbox.limits import CommandLimits
from agent_core.sandbox.probe import NAMES
from agent_core.sandbox.process import GRACE, ProcessSandbox
from tests.agent_core.sandbox.running import launcher_called, running
from tests.agent_core.sandbox.shared_limit import BOMB, counted_with_it, only_bomb
from tests.clock import Patient
from tests.process import until

LINUX = pytest.mark.skipif(sys.platform != "linux", reason="looks into /proc")
pytestmark = [LINUX, pytest.mark.in_turn("launcher", NAMES, indirect=True)]


@pytest.fixture
async def launcher(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> Launcher:
    return await launcher_called(request.param, tmp_path_factory.mktemp("scratch"))


async def test_a_fork_bomb_stays_small_and_ends(launcher: Launcher, tmp_path: Path, marker: str) -> None:
    bomb = "import os, time\nwhile True:\n  try: os.fork()\n  except OSError: time.sleep(0.01)"
    limits = CommandLimits(seconds=3, processes=BOMB)
    most, others = 0, counted_with_it()
    least = 0 if others else 20
    sandbox = ProcessSandbox(launcher, Patient({limits.seconds: lambda: len(running(marker)) > least}))
    with only_bomb():
        command = Command(("python3", "-c", bomb, marker), tmp_path, limits=limits)
        task = asyncio.create_task(sandbox.run(command, "out.txt", lambda _: None))
        while not task.done():
            most = max(most, len(running(marker)))
            await asyncio.sleep(0.02)
        await until(lambda: not running(marker))

    assert (await task).timed_out
    assert least < most <= 35 + others


async def test_a_fork_bomb_that_closed_its_output_ends_soon(launcher: Launcher, tmp_path: Path, marker: str) -> None:
    bomb = """
import os
nowhere = os.open("/dev/null", os.O_RDWR)
for handle in (0, 1, 2): os.dup2(nowhere, handle)
while True:
    try:
        if os.fork() == 0:
            os.setsid()
    except OSError:
        pass
"""

    def is_tidy() -> bool:
        return [path.name for path in tmp_path.iterdir()] == ["out.txt"]

    limits = CommandLimits(seconds=1, processes=BOMB)
    sandbox = ProcessSandbox(launcher, Patient({limits.seconds: lambda: running(marker), GRACE: is_tidy}))
    with only_bomb():
        command = Command(("python3", "-c", bomb, marker), tmp_path, limits=limits)
        assert (await sandbox.run(command, "out.txt", lambda _: None)).seconds < 10 * GRACE
        await until(lambda: not running(marker))
    assert is_tidy()
