"""People's reactions to the bot's messages on Discord."""

from channels.base import Addressed, OutboundMessage, ReactionAdded, ReactionRemoved
from channels.discord.adapter import DiscordChannel
from parley.testing.emulators.discord import DiscordEmulator
from tests.channels.discord.conftest import Inbox, key_of


async def test_a_reaction_to_a_message_of_the_bot_is_told_with_who_gave_it(
    discord: DiscordEmulator, channel: DiscordChannel, inbox: Inbox
) -> None:
    ann, bot = discord.person("Ann"), discord.person("Other", is_bot=True)
    team, alone = discord.group("Team", [ann, bot]), discord.private(ann)
    for chat in (team, alone):
        await channel.send(key_of(chat), OutboundMessage(markdown="Oslo."), "k")
    said = await team.says(ann, "hello")
    await inbox.message()

    await team.reacts(ann, said, "👍")
    await team.reacts(bot, team.bot_messages[-1], "👍")
    await team.reacts(ann, team.bot_messages[-1], "👍")
    first = await inbox.next()
    await alone.reacts(ann, alone.bot_messages[-1], "👎")
    second = await inbox.next()

    assert isinstance(first, ReactionAdded)
    assert isinstance(second, ReactionAdded)
    assert (first.emoji, first.chat, first.message_id) == ("👍", key_of(team), team.bot_messages[-1].id)
    assert (first.sender.id, first.sender.name, first.addressed) == (ann.id, "Ann", Addressed.AMBIENT)
    assert (second.emoji, second.chat, second.message_id) == ("👎", key_of(alone), alone.bot_messages[-1].id)
    assert (second.sender.id, second.sender.name) == (ann.id, ""), "Discord tells no more in private chats"
    assert second.addressed is Addressed.DIRECT


async def test_a_reaction_that_is_taken_back_is_told_too(
    discord: DiscordEmulator, channel: DiscordChannel, inbox: Inbox
) -> None:
    ann = discord.person("Ann")
    team = discord.group("Team", [ann])
    await channel.send(key_of(team), OutboundMessage(markdown="Oslo."), "k")
    answer = team.bot_messages[-1]
    await team.reacts(ann, answer, "👍")
    await team.takes_back(ann, answer, "👍")
    added, removed = await inbox.next(), await inbox.next()

    assert isinstance(added, ReactionAdded)
    assert isinstance(removed, ReactionRemoved)
    told = ("👍", key_of(team), answer.id, ann.id)
    assert (removed.emoji, removed.chat, removed.message_id, removed.sender.id) == told
    assert removed.event_id != added.event_id
