"""Users undo Parley's changes to files, and redo them; the model is told."""

from collections.abc import Callable
from pathlib import Path

import pytest

from tests.emulators.model_script import ToolUse, Turn, says
from tests.end_to_end.platforms.catalogue import only
from tests.end_to_end.platforms.platform import Chat
from tests.end_to_end.stage import Stage, is_answered

pytestmark = [only("telegram", "web"), pytest.mark.timeout(120)]


def writes(content: str) -> Turn:
    return Turn(tools=(ToolUse("write_file", {"path": "plan.txt", "content": content}),))


def plan(stage: Stage) -> Path:
    """Return the only `plan.txt` in any workspace."""
    [found] = (stage.program.home / "workspaces").glob("*/plan.txt")
    return found


def says_at_last(words: str) -> Callable[[Chat], bool]:
    return lambda chat: words in chat.screen[-1] and is_answered(chat)


async def test_a_file_comes_back_and_goes_again_and_the_model_hears_of_it(own_stage: Stage) -> None:
    stage = own_stage
    stage.script.then(writes("first"), says("Written."), writes("second"), says("Changed."), says("It says first."))
    await stage.start()
    ann, chat = stage.private("Ann")
    await chat.says(ann, "write the plan")
    await chat.until(says_at_last("Written."))
    await chat.says(ann, "change it")
    await chat.until(says_at_last("Changed."))

    await chat.says(ann, "/undo")
    await chat.until(says_at_last("plan.txt is as it was before"))
    assert plan(stage).read_text() == "first"
    await chat.says(ann, "/undo list")
    await chat.until(says_at_last("Changes of the last 30 days"))
    rows = [line for line in chat.screen[-1].splitlines() if "plan.txt" in line]
    assert [row.partition(": ")[2] for row in rows] == [
        "undo of 2: changed plan.txt",
        "changed plan.txt (undone)",
        "created plan.txt",
    ]
    await chat.says(ann, "what does it say?")
    await chat.until(says_at_last("It says first."))
    assert "\nUndone by a person (undo 3): plan.txt is as it was before." in stage.circumstances[-1]

    await chat.says(ann, "/undo 3")
    await chat.until(says_at_last("plan.txt is as it was before"))
    assert plan(stage).read_text() == "second"


async def test_a_file_that_was_changed_since_is_put_back_by_a_press(own_stage: Stage) -> None:
    stage = own_stage
    stage.script.then(writes("first"), says("Written."))
    await stage.start()
    ann, chat = stage.private("Ann")
    await chat.says(ann, "write the plan")
    await chat.until(says_at_last("Written."))
    plan(stage).write_text("by hand")

    await chat.says(ann, "/undo")
    await chat.until(says_at_last("Changed again since: plan.txt."))
    file = plan(stage)
    assert file.read_text() == "by hand"
    await chat.presses(ann, "Restore anyway")
    await chat.until(says_at_last("plan.txt is gone again"))
    assert not file.exists()
    await chat.presses(ann, "Undo that")
    await chat.until(says_at_last("plan.txt is back"))
    assert file.read_text() == "by hand"


@only("telegram")
async def test_an_owner_undoes_what_was_changed_for_somebody_else(own_stage: Stage) -> None:
    stage = own_stage
    owner, ann = stage.net.person("Olga"), stage.net.person("Ann")
    bob = stage.net.person("Bob")
    stage.program.set("PARLEY_OWNERS", f"telegram:{owner.id}")
    team = await stage.net.room("Team", [owner, ann, bob])
    stage.script.then(writes("first"), says("Written."))
    await stage.start()
    await team.says(ann, "@parley_bot write the plan")
    await team.until(says_at_last("Written."))

    await team.says(bob, "/undo 1")
    await team.until(says_at_last("There is no change 1 here that you can undo."))
    file = plan(stage)
    await team.says(owner, "/undo 1")
    await team.until(says_at_last("plan.txt is gone again"))
    assert not file.exists()
