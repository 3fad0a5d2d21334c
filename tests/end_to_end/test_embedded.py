"""A program with a custom tool, killed while the tool acts, and one whose model sees pictures."""

import base64

from tests.emulators.model_script import ToolUse, calls, says
from tests.end_to_end.embedded import ROCKETS
from tests.end_to_end.pictures import picture
from tests.end_to_end.platforms.catalogue import only
from tests.end_to_end.stage import Stage, shows
from tests.process import until

pytestmark = only("telegram")

EMBEDDED = "tests.end_to_end.embedded"


async def test_killed_during_a_tool_that_may_not_run_twice_the_model_hears_that_nobody_knows(own_stage: Stage) -> None:
    own_stage.program.module = EMBEDDED
    own_stage.script.then(calls(ToolUse("launch_rocket", {"rocket": "Ariane"})), says("Please look whether it flies."))
    await own_stage.start()
    ann, chat = own_stage.private("Ann")
    rockets = own_stage.program.home / ROCKETS

    await chat.says(ann, "launch Ariane")
    await chat.until(lambda c: "Launching Ariane" in c.screen[0])
    await until(lambda: rockets.exists() and rockets.read_text() == "Ariane\n")
    await own_stage.program.kill()
    await own_stage.start()
    await chat.until(lambda c: "Please look whether it flies." in c.screen)

    assert "its outcome is unknown" in own_stage.model.requests[-1].last_text
    assert rockets.read_text() == "Ariane\n"


async def test_a_photo_reaches_a_model_that_sees(own_stage: Stage) -> None:
    own_stage.program.set("PARLEY_VISION", "on")
    own_stage.script.then(says("A red dot."))
    await own_stage.start()
    ann, chat = own_stage.private("Ann")

    await chat.says(ann, "what is this?", photo=picture())
    await chat.until(shows("A red dot."))

    content = own_stage.model.requests[-1].messages[-1]["content"]
    assert isinstance(content, list)
    shown, words = content
    data = base64.b64encode(picture()).decode()
    assert shown == {"type": "image_url", "image_url": {"url": f"data:image/png;base64,{data}"}}
    assert "what is this?" in str(words)
