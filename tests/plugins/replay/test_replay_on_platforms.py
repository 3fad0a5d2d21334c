"""A run is replayed by another process while the program runs."""

import pytest

from tests.emulators.model_script import ToolUse, calls, says
from tests.end_to_end.beside import parley
from tests.end_to_end.stage import Stage, shows

pytestmark = [pytest.mark.quick_clock, pytest.mark.asyncio(loop_scope="module")]


async def test_what_runs_now_can_be_looked_at_from_outside(stage: Stage) -> None:
    ann, chat = stage.private("Ann")
    stage.script.then(calls(ToolUse("calculator", {"expression": "6*7"})), says("Forty-two."))
    await chat.says(ann, "what is 6*7?")
    await chat.until(shows("Forty-two."))

    listed = await parley(stage, "replay")
    newest = listed.out.splitlines()[1].split()[0]
    told = await parley(stage, "replay", newest)

    assert stage.program.is_running
    assert told.code == 0, told.err
    assert '→ calculator {"expression": "6*7"}' in told.out
    assert "rebuild the same conversation" in told.out
