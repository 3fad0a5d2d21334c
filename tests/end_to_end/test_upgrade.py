"""A home that an earlier version left in the middle of its work: after an upgrade all of it goes on.

`earlier/home-of-migration-45.tar.xz` was left on 22 November 2026 by a `kill -9` of the version before origins and
opaque parts of answers were stored: Ann has sent a file, has a reminder and is asked about a program; Carl's answer was
cut off after a tool; Bob, in a group with Ann, waits for room in his budget.
"""

import re
import tarfile
from pathlib import Path
from typing import cast

import pytest

from parley.testing.emulators.telegram_chat import Chat
from tests.emulators.model_script import Answer, ModelRequest, ToolUse, calls, says
from tests.end_to_end.platforms.catalogue import only
from tests.end_to_end.stage import Stage, has
from tests.end_to_end.tables import stored
from tests.process import until

pytestmark = [
    pytest.mark.quick_clock,
    only("telegram"),
    pytest.mark.timeout(120),
    pytest.mark.one_process("the home is that of one process"),
]
HOME = Path(__file__).parent / "earlier" / "home-of-migration-45.tar.xz"


def answer(asked: ModelRequest) -> Answer:
    """Answer by what was asked last, after a tool where that needs one."""
    asks = [re.split(r"</context>\n|: ", words)[-1] for words in asked.texts("user")]
    match asks[-1], asked.messages[-1]["role"]:
        case "what do my notes say?", "user":
            return calls(ToolUse("read_file", {"path": "notes.txt"}))
        case "what do my notes say?", _:
            return says(
                "That the cactus flowers in May." if "flowers in May" in asked.texts("tool")[-1] else "Nothing."
            )
        case "run it", "tool":
            return says("It ran once." if "\n1\n" in asked.texts("tool")[-1] else "It ran another time.")
        case "what time is it?", "tool":
            return says("It is six.")
        case words, _:
            return says(f"About {words}")


@pytest.fixture
async def upgraded(own_stage: Stage) -> Stage:
    """A stage on which the present version is started two minutes after the earlier one was killed."""
    stage = own_stage
    stage.script.respond = answer
    stage.set_clock("2026-11-22 18:02")
    stage.program.set("PARLEY_BUDGETS_PERSON", "10 tokens a day")
    stage.program.set("PARLEY_PERMISSIONS_OWNER", "sandboxed=ask")
    with tarfile.open(HOME) as home:
        home.extractall(stage.program.home, filter="data")
    return stage


async def test_all_that_an_earlier_version_left_open_goes_on(upgraded: Stage) -> None:
    stage = upgraded
    (ann, private), (carl, carls), bob = stage.private("Ann"), stage.private("Carl"), stage.net.person("Bob")
    team = await stage.net.room("Team", [ann, bob])
    for chat in (private, carls, team):
        cast("Chat", chat).skip_ids(20)
    stage.program.set("PARLEY_OWNERS", f"telegram:{ann.id},telegram:{carl.id}")
    stage.program.set("PARLEY_ALLOW", f"telegram:{bob.id}")

    await stage.start()
    await carls.until(lambda c: any("It is six." in text for text in c.screen))
    # The home is in another place than it was, and what was asked is bound to that: it is asked anew.
    await private.until(lambda c: any("No longer needed" in text for text in c.screen))
    pending = "SELECT id FROM approvals WHERE state = 'pending'"
    await until(lambda: len(stored(stage.program.home, pending)) == 1)
    ((question,),) = stored(stage.program.home, pending)
    await private.says(ann, f"/approve {question}")
    await private.until(has("It ran once."))
    await private.says(ann, "what do my notes say?")
    await private.until(has("cactus flowers in May"))
    await team.says(ann, "@parley_bot who is first?")
    await team.until(has("About who is first?"))
    assert not any("and me?" in text for text in team.screen)

    await stage.program.kill()
    stage.program.set("PARLEY_BUDGETS_PERSON", "50m tokens a day")
    await stage.start()
    await team.until(has("About and me?"))
    stage.clock.move(hours=3)
    await private.until(lambda c: any("⏰ go home" in text for text in c.screen))
    running = "SELECT count(*) FROM runs WHERE state = 'running'"
    await until(lambda: stored(stage.program.home, running) == [(0,)])  # it is seen before it is recorded as sent
