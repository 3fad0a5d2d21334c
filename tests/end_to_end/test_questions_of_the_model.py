"""On every platform the model asks its user, who answers by a button or in words."""

from copy import copy
from typing import cast

import pytest

from parley.testing.emulators import discord_state, slack_chat, slack_state
from tests.emulators.model_script import ToolUse, Turn, says
from tests.end_to_end.platforms.catalogue import only, where
from tests.end_to_end.platforms.platform import Chat
from tests.end_to_end.stage import Stage, ends_with, is_answered, says_last

pytestmark = [pytest.mark.asyncio(loop_scope="module"), pytest.mark.timeout(120)]

ASKS = Turn(tools=(ToolUse("ask_user", {"question": "Which city?", "choices": ["Tokyo", "Osaka"]}),))


def is_asking(chat: Chat) -> bool:
    return any("Which city?" in text and "I wait 10 minutes" in text for text in chat.screen)


async def test_a_question_of_the_model_is_answered_by_a_button(stage: Stage) -> None:
    ann, chat = stage.private("Ann")
    stage.script.then(ASKS, says("Booked."))

    await chat.says(ann, "book it")
    await chat.until(is_asking)
    await chat.presses(ann, "Osaka")

    await chat.until(says_last("Booked."))
    await chat.until(lambda c: any("Which city?" in text and "✓" in text for text in c.screen))
    assert stage.model.requests[-1].texts("tool")[-1] == "The person chose: Osaka"


@where(lambda facts: facts.emulated)
@pytest.mark.asyncio(loop_scope="function")
async def test_an_open_question_is_answered_once_by_its_button_after_a_kill(own_stage: Stage) -> None:
    ann, chat = own_stage.private("Ann")
    await own_stage.start()
    own_stage.script.then(ASKS)
    await chat.says(ann, "book it")
    await chat.until(is_asking)

    await own_stage.program.kill()
    own_stage.script.then(says("Booked."))
    await own_stage.start()
    await chat.until(is_asking)
    await chat.presses(ann, "Osaka")

    await chat.until(lambda c: is_answered(c) and c.screen[-1].endswith("Booked."))
    await chat.until(lambda c: any("Which city?" in text and "✓" in text for text in c.screen))
    assert sum("Booked." in text for text in chat.screen) == 1
    if own_stage.platform.facts.knows_resends:  # progress, which names the question too, stays for a moment only
        await chat.until(lambda c: sum("Which city?" in text for text in c.screen) == 1)
    assert own_stage.model.requests[-1].texts("tool") == ["The person chose: Osaka"]
    assert len(own_stage.model.requests) == 2


@only("slack", "discord")
@pytest.mark.asyncio(loop_scope="function")
async def test_a_press_after_an_answer_in_words_is_told_so_quietly(own_stage: Stage) -> None:
    stage = own_stage
    ann = stage.net.person("Ann")
    await stage.start()
    room = await stage.net.room("Team", [ann])
    stage.script.then(ASKS, says("Booked."))
    await room.says(ann, "@parley_bot book it")
    await room.until(is_asking)
    there, person = cast("slack_chat.Chat", room), cast("slack_state.Person", ann)
    still_shown = copy(there.bot_messages[-1])  # as on a phone that has not seen the edit yet
    await room.says(ann, "@parley_bot Kyoto")
    await room.until(ends_with("Booked."))
    await there.presses(person, "Osaka", message=still_shown)

    await room.until(lambda c: "That question was answered already." in c.screen[-1])
    told = cast("slack_state.Message | discord_state.Message", room.bot_messages[-1])
    assert told.ephemeral_to if isinstance(told, slack_state.Message) else told.ephemeral
    assert stage.model.requests[-1].texts("tool") == ["The person answered: Kyoto"]


async def test_a_question_of_the_model_is_answered_in_words(stage: Stage) -> None:
    ann, chat = stage.private("Ann")
    stage.script.then(ASKS, says("Booked."))

    await chat.says(ann, "book it")
    await chat.until(is_asking)
    await chat.says(ann, "Kyoto instead")

    await chat.until(says_last("Booked."))
    assert stage.model.requests[-1].texts("tool")[-1] == "The person answered: Kyoto instead"
