"""The real adapter and the real SDK against an emulated Discord, over sockets."""

from channels.base import Addressed, OutboundMessage
from channels.discord.adapter import DiscordChannel
from tests.channels.discord.conftest import Inbox
from tests.emulators.discord import DiscordEmulator


async def test_a_message_comes_in_and_an_answer_goes_out(
    discord: DiscordEmulator, channel: DiscordChannel, inbox: Inbox
) -> None:
    ann = discord.person("Ann")
    chat = discord.private(ann)
    await chat.says(ann, "hello")

    event = await inbox.message()
    assert (event.text, event.sender.name, event.addressed) == ("hello", "Ann", Addressed.DIRECT)
    assert not channel.is_group(event.chat)
    await channel.typing(event.chat)
    posted = await channel.send(event.chat, OutboundMessage(markdown="**Hi** `Ann`"), "k1")
    await channel.edit(posted, OutboundMessage(markdown="**Bye** `Ann`"))

    assert chat.actions[-1].action == "typing"
    assert chat.screen == ["Bye Ann"]


async def test_a_mention_in_a_server_is_answered_in_place(
    discord: DiscordEmulator, channel: DiscordChannel, inbox: Inbox
) -> None:
    ann, ben = discord.person("Ann"), discord.person("Ben")
    chat = discord.group("Team", [ann, ben])
    asked = await chat.says(ann, "@parley_bot when do we meet?")

    event = await inbox.message()
    assert (event.text, event.addressed) == ("when do we meet?", Addressed.MENTION)
    assert channel.is_group(event.chat)
    await channel.send(event.chat, OutboundMessage(markdown="At ten.", reply_to=asked.id), "k")
    await chat.says(ben, "thanks", reply_to=chat.bot_messages[-1])

    reply = await inbox.message()
    assert (reply.addressed, reply.quoted) == (Addressed.REPLY, "parley_bot: At ten.")
    assert reply.chat == event.chat
