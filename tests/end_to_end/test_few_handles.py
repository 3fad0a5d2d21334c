"""After a lack of file handles and connections, scheduled jobs run again as soon as possible."""

import resource
import sys

import pytest

from tests.end_to_end.jobs import SECONDS, tells
from tests.end_to_end.platforms.catalogue import only
from tests.end_to_end.stage import Stage
from tests.process import until

pytestmark = [
    only("telegram"),
    pytest.mark.skipif(sys.platform != "linux", reason="only Linux sets the limits of another process"),
    pytest.mark.one_process("it limits one process"),
]


async def test_what_is_due_is_said_once_files_can_be_opened_again(own_stage: Stage) -> None:
    stage = own_stage
    stage.net.lift_limits()
    stage.set_clock("2026-11-22 18:00")
    await stage.start()
    ann, chat = stage.private("Ann")
    for when, words in (("1h", "drink some water"), ("3h", "go home")):
        await chat.says(ann, f"/remind in {when} {words}")
        await chat.until(lambda c, words=words: words in c.screen[-1], SECONDS)  # type: ignore[misc]
    await stage.program.terminate()
    stage.clock.move(hours=2)

    await stage.start()
    usual = resource.prlimit(stage.program.pid, resource.RLIMIT_NOFILE)
    resource.prlimit(stage.program.pid, resource.RLIMIT_NOFILE, (3, usual[1]))
    stage.net.emulator.kill_connections()
    await until(lambda: "no updates from Telegram" in stage.log)
    resource.prlimit(stage.program.pid, resource.RLIMIT_NOFILE, usual)
    await chat.until(tells("⏰ drink some water"), SECONDS)
    stage.clock.move(hours=2)
    await chat.until(tells("⏰ go home"), SECONDS)
