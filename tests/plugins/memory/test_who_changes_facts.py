"""However /memory is spelt, guests change no facts, and in groups no members."""

from collections.abc import Callable

import pytest

from channels.memory import NO_PACE, MemoryChannel
from tests.gateway.bot import Bot
from tests.gateway.conftest import StartBot
from tests.gateway.facts import memory_of

ADDED = "/memory add tea"


async def facts(bot: Bot, sender: str, group: str | None) -> list[str]:
    return [each.text for each in await memory_of(bot, bot.channel.chat(sender, group=group)).facts()]


@pytest.mark.parametrize("gap", [" ", "\t", "\n", "  ", "\u00a0", "\u3000", " \u202e"])
@pytest.mark.parametrize("spelt", [str.lower, str.upper, str.title])
async def test_a_guest_changes_no_facts_and_a_member_none_of_a_group(
    start_bot: StartBot, spelt: Callable[[str], str], gap: str
) -> None:
    bot = await start_bot(*["Well."] * 20, channel=MemoryChannel(limits=NO_PACE))
    await bot.hears("/role memory:gus guest")
    name, *words = ADDED.split(" ")
    for sender, group in (("gus", None), ("gus", "team"), ("bob", "team")):
        await bot.hears(spelt(f"{name} ") + gap.join(map(spelt, words)), sender=sender, group=group)
        await bot.hears(f"{spelt(name)}{gap}{gap.join(words)}", sender=sender, group=group)

        assert await facts(bot, sender, group) == []

    await bot.hears(ADDED, sender="gus")
    assert "nly " in bot.screen[-1]
