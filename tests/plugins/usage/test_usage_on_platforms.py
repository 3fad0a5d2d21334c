"""The command /usage on every platform."""

import pytest

from tests.emulators.model_script import says
from tests.end_to_end.platforms.catalogue import where
from tests.end_to_end.platforms.platform import Message
from tests.end_to_end.stage import Stage, has

pytestmark = [pytest.mark.quick_clock, pytest.mark.timeout(120)]


def _is_chart(message: Message) -> bool:
    """Return True for the picture, which Telegram shows as a photo without a name."""
    is_file = message.document is not None and message.document.name == "usage.png"
    return is_file or message.shown.startswith("[photo] Usage in this chat")


@where(lambda facts: facts.emulated)
async def test_what_a_chat_has_used_is_shown_with_a_chart(own_stage: Stage) -> None:
    stage = own_stage
    ann, chat = stage.private("Ann")
    stage.program.set("PARLEY_OWNERS", f"{stage.platform.facts.name}:{ann.id}")
    stage.script.then(says("Hello."))
    await stage.start()
    await chat.says(ann, "hi")
    await chat.until(has("Hello."))

    await chat.says(ann, "/usage here")

    await chat.until(lambda c: any("1 call, " in text for text in c.screen))
    await chat.until(lambda c: any(map(_is_chart, c.bot_messages)))
