"""What a program has changed is taken down beside all else, and before a stop of its call counts."""

import asyncio
import sys
import threading
from pathlib import Path

import pytest

from agent_core.clock import SystemClock
from agent_core.origin import Origin
from agent_core.sandbox.process import ProcessSandbox
from agent_core.tools.shell import run_command_tool
from agent_core.tools.tool import ToolContext, ToolEnvironment
from agent_core.workspace.provenance import Before, FileSources
from tests.agent_core.sandbox.running import PlainLauncher
from tests.process import until

pytestmark = pytest.mark.skipif(sys.platform != "linux", reason="looks into /proc")


class SlowToEnd(FileSources):
    """Sources of files that take as long as one wants to take down what a program has changed."""

    def __init__(self, workspace: Path) -> None:
        super().__init__(workspace)
        self.ends, self.goes_on = threading.Event(), threading.Event()

    def end(self, before: Before) -> Origin:
        self.ends.set()
        assert self.goes_on.wait(30)
        return super().end(before)


async def test_nobody_waits_while_it_is_taken_down_what_a_program_has_changed_and_a_stop_comes_after_that(
    tmp_path: Path,
) -> None:
    files, run_command = SlowToEnd(tmp_path), run_command_tool(ProcessSandbox(PlainLauncher(), SystemClock()))
    context = ToolContext("1", ToolEnvironment("s", tmp_path, files=files))
    making = run_command.validate({"argv": ["touch", "made.txt"]})
    run_ = asyncio.create_task(run_command.execute(making, context))
    await until(files.ends.is_set)

    run_.cancel()
    await asyncio.sleep(0)
    assert not run_.done()
    files.goes_on.set()
    with pytest.raises(asyncio.CancelledError):
        await run_

    assert not files.of(["made.txt"]).is_tainted
