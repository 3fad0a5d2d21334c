"""For want of file handles /undo waits, and is obeyed once."""

import sys

import pytest

from tests.emulators.model_script import ToolUse, Turn, says
from tests.end_to_end.jobs import SECONDS
from tests.end_to_end.platforms.catalogue import only
from tests.end_to_end.stage import Stage, ends_with
from tests.end_to_end.test_few_handles import no_more_handles
from tests.process import until

pytestmark = [
    only("telegram"),
    pytest.mark.skipif(sys.platform != "linux", reason="only Linux sets the limits of another process"),
    pytest.mark.one_process("it limits one process"),
]


async def test_undo_waits_for_handles_and_is_obeyed_once(own_stage: Stage) -> None:
    stage = own_stage
    writes = Turn(tools=(ToolUse("write_file", {"path": "plan.txt", "content": "swim"}),))
    stage.script.then(writes, says("Written."))
    await stage.start()
    ann, chat = stage.private("Ann")
    await chat.says(ann, "write the plan")
    await chat.until(ends_with("Written."), SECONDS)
    [plan] = (stage.program.home / "workspaces").glob("*/plan.txt")
    with no_more_handles(stage.program.pid):
        await chat.says(ann, "/undo")
        await until(lambda: "an event waits for file handles" in stage.log)
        assert plan.exists()

    await chat.until(lambda c: "Undone" in c.screen[-1], SECONDS)
    assert not plan.exists()
    assert sum("Undone" in text for text in chat.screen) == 1
