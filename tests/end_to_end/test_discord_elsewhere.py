"""Parley on Discord in a server of which it is no member, for people who installed it for themselves."""

from typing import cast

import pytest

from parley.testing.emulators.discord import DiscordEmulator
from parley.testing.emulators.discord_chat import Chat
from parley.testing.emulators.discord_state import Person
from tests.end_to_end.platforms.catalogue import only
from tests.end_to_end.stage import Stage

pytestmark = [only("discord"), pytest.mark.asyncio(loop_scope="module")]


async def test_a_reminder_set_elsewhere_is_one_of_the_private_chat_and_strangers_get_nothing(
    stage: Stage, discord: DiscordEmulator
) -> None:
    ann, home = cast("tuple[Person, Chat]", stage.private("Ann"))
    eve = cast("Person", stage.net.stranger())
    there = discord.group("Strangers", [ann, eve])
    discord.kick_bot(there)

    await there.says(eve, "/help")
    await there.says(ann, "/remind tomorrow at 9 call Bob")
    await there.until(lambda c: any("call Bob" in text for text in c.screen))
    (asked,) = [each for each in there.bot_messages if "call Bob" in each.text]
    await there.presses(ann, asked.buttons[0][0].text, message=asked)
    await there.until(lambda c: asked.buttons == [])
    await home.says(ann, "/cron")
    await home.until(lambda c: "call Bob" in c.screen[-1])

    assert all(each.ephemeral for each in there.bot_messages)
    assert not any("/status" in text for text in there.screen)
    assert discord.violations == []
