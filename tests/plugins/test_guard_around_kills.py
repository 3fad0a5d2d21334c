"""A plugin that guards calls is asked again about a call that a kill has cut off."""

from functools import partial

import pytest

from tests.emulators.model_script import Answer, ModelRequest, ToolUse, Turn, says
from tests.end_to_end.platforms.catalogue import only
from tests.end_to_end.platforms.platform import Chat
from tests.end_to_end.stage import Stage
from tests.end_to_end.tables import stored
from tests.plugins.gate import REFUSED
from tests.plugins.packages import Packages
from tests.process import REPOSITORY, until

VAULT = "vault/gold.txt"
POINTS = {"guard": "parley_guard:Guard"}
GUARD = (REPOSITORY / "tests" / "plugins" / "gate.py").read_text()

pytestmark = [only("telegram"), pytest.mark.timeout(120)]


def writes(path: str, request: ModelRequest) -> Answer:
    """Answer once the model has been told what became of the file."""
    if request.messages[-1]["role"] == "tool":
        return says("As you like.")
    return Turn(tools=(ToolUse("write_file", {"path": path, "content": "x"}),))


async def guarded(stage: Stage, packages: Packages, path: str) -> Chat:
    """Start Parley with the guard, and let the model write a file."""
    packages.install(GUARD, name="guard", points=POINTS)
    program = stage.program
    program.forked = False
    program.set("PYTHONPATH", f"{REPOSITORY}:{packages.folder}")
    program.set("PARLEY_PLUGINS", "guard")
    ann, chat = stage.private("Ann")
    program.set("PARLEY_OWNERS", f"telegram:{ann.id}")
    stage.script.respond = partial(writes, path)
    await stage.start()
    if path == VAULT:
        (program.home / "hang").touch()
    await chat.says(ann, "write it down")
    return chat


def is_refused(stage: Stage, chat: Chat) -> bool:
    return REFUSED in str(stage.model.requests[-1].messages) and chat.screen[-1].endswith("As you like.")


async def test_a_call_that_a_kill_cut_off_is_refused_after_it(own_stage: Stage, packages: Packages) -> None:
    program = own_stage.program
    chat = await guarded(own_stage, packages, VAULT)
    await until((program.home / "hung").exists)

    await program.kill()
    await own_stage.start()

    await chat.until(partial(is_refused, own_stage))
    assert not list(program.home.glob(f"workspaces/**/{VAULT}"))


async def test_a_call_that_people_were_asked_about_may_be_refused_after_a_kill(
    own_stage: Stage, packages: Packages
) -> None:
    program = own_stage.program
    chat = await guarded(own_stage, packages, "attic.txt")
    await chat.until(lambda seen: "The attic is somebody's." in seen.screen[-1])
    await until(lambda: not stored(program.home, "SELECT 1 FROM outbox WHERE state != 'sent'"))
    await program.kill()
    packages.install(
        GUARD.replace('"attic" in', '"loft" in').replace('"vault/" in', '"attic" in'), name="guard", points=POINTS
    )
    (program.home / "plugins.json").unlink()

    await own_stage.start()

    await chat.until(partial(is_refused, own_stage))
    await chat.until(lambda seen: not any(message.buttons for message in seen.bot_messages))
    assert not list(program.home.glob("workspaces/**/attic.txt"))
