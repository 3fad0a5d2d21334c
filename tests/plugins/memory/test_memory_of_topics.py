"""Topics of a private chat on Telegram share a memory, those of a group do not."""

import pytest

from parley.testing.emulators.telegram import TelegramEmulator
from tests.emulators.model_script import ToolUse, calls, says
from tests.end_to_end.platforms.catalogue import only
from tests.end_to_end.stage import Stage, shows

pytestmark = [only("telegram"), pytest.mark.asyncio(loop_scope="module")]


async def test_a_topic_of_a_group_has_a_memory_of_its_own(stage: Stage, telegram: TelegramEmulator) -> None:
    ann = telegram.person("Ann")
    forum = telegram.group("Forum", [ann], forum=True)
    travel, food = forum.topic("Travel"), forum.topic("Food")
    stage.script.then(calls(ToolUse("remember", {"fact": "Ann likes Oslo"})), says("Oslo."), says("Soup."))

    await travel.says(ann, "@parley_bot where to?")
    await travel.until(lambda c: "Oslo." in c.screen[-1])
    await food.says(ann, "@parley_bot what is there to eat?")
    await food.until(shows("Soup."))

    assert "Ann likes Oslo" not in stage.circumstances[0]


async def test_topics_of_a_private_chat_are_conversations_with_one_memory(
    stage: Stage, telegram: TelegramEmulator
) -> None:
    ann = telegram.person("Ann", language="en")
    chat = telegram.private(ann, topics=True)
    travel, food = chat.topic("Travel"), chat.topic("Food")
    stage.script.then(calls(ToolUse("remember", {"fact": "Ann eats no meat"})), says("Noted."), says("Soup."))

    await travel.says(ann, "I eat no meat")
    await travel.until(lambda c: "Noted." in c.screen[-1])
    await food.says(ann, "what do I eat?")
    await food.until(shows("Soup."))

    assert stage.said == ["what do I eat?"]
    assert "Ann eats no meat" in stage.circumstances[0]
    assert chat.screen == []
