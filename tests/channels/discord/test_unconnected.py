"""A process that sends to Discord while another one is connected to its gateway."""

import asyncio
from collections.abc import AsyncIterator
from pathlib import Path

import pytest

from channels.attachments import Attachment
from channels.base import Button, ChannelError, OutboundMessage
from channels.discord.adapter import DiscordChannel
from channels.values import Known
from parley.testing.emulators.discord import DiscordEmulator
from parley.testing.emulators.discord_chat import Chat
from parley.testing.emulators.discord_state import Person
from tests.channels.discord.conftest import Inbox, config_for, key_of, opened

MB = 2**20


@pytest.fixture
async def other(discord: DiscordEmulator) -> AsyncIterator[DiscordChannel]:
    """The channel of the process that is not connected."""
    async with opened(config_for(discord)) as made:
        yield made


@pytest.fixture
def ann(discord: DiscordEmulator) -> Person:
    return discord.person("Ann")


@pytest.fixture
def team(discord: DiscordEmulator, ann: Person) -> Chat:
    return discord.group("Team", [ann])


async def test_it_does_all_that_concerns_messages(
    other: DiscordChannel, team: Chat, ann: Person, tmp_path: Path
) -> None:
    said = await team.says(ann, "@parley what is in the file?")
    chat, button = key_of(team), Button(label="Yes", action="yes")

    posted = await other.send(chat, OutboundMessage(markdown="A table.", buttons=((button,),)), "a")
    await other.edit(posted, OutboundMessage(markdown="A long table."))
    assert await other.typing(chat)
    assert await other.react(chat, said.id, "👀", instead_of=set())
    file = tmp_path / "table.csv"
    file.write_text("1,2")
    sent = OutboundMessage(markdown="Here", attachments=(Attachment(name="table.csv", path=str(file), size=3),))
    await other.send(chat, sent, "b")
    found = await other.find_sent(chat, OutboundMessage(markdown="A long table."), "a", Known())
    read = await other.history(chat)

    assert [each.text for each in team.bot_messages] == ["A long table.", "Here"]
    assert found == posted
    assert [each.message_id for each in read] == [said.id]
    await other.delete(posted)
    assert [each.text for each in team.bot_messages] == ["Here"]


async def test_it_makes_a_thread_once_and_writes_in_one_that_is_there(
    discord: DiscordEmulator, team: Chat, ann: Person
) -> None:
    said = await team.says(ann, "@parley hello")
    async with (
        opened(config_for(discord, thread_channels=team.id)) as one,
        opened(config_for(discord, thread_channels=team.id)) as two,
    ):
        first = await one.send(key_of(team, said.id), OutboundMessage(markdown="One"), "a")
        second = await two.send(key_of(team, said.id), OutboundMessage(markdown="Two"), "b")

    assert first.chat == second.chat
    assert len(discord.calls_of("POST thread")) == 2


async def test_it_asks_for_the_names_of_roles_and_the_size_of_files(
    discord: DiscordEmulator, other: DiscordChannel, team: Chat, tmp_path: Path
) -> None:
    guild = team.channel.guild
    assert guild is not None
    guild.roles["77"], guild.tier = "Helpers", 2
    file = tmp_path / "film"
    file.write_bytes(b"\0" * (11 * MB))
    film = OutboundMessage(markdown="", attachments=(Attachment(name="film", path=str(file), size=11 * MB),))

    assert (await other.roles(key_of(team)))["77"] == "Helpers"
    await other.send(key_of(team), film, "a")
    guild.tier = 0
    with pytest.raises(ChannelError, match="Discord takes"):
        await other.send(key_of(team), film, "b")


async def test_it_answers_a_command_that_came_to_the_other_process_and_is_not_acknowledged_yet(
    discord: DiscordEmulator, other: DiscordChannel, inbox: Inbox, team: Chat, ann: Person
) -> None:
    await discord.wait_for(lambda: len(discord.commands) == 2)
    acknowledgement = discord.faults.hold("POST interaction")
    await team.says(ann, "/help")
    command = await inbox.command()

    answering = asyncio.create_task(
        other.send(command.chat, OutboundMessage(markdown="Sure", respond=command.respond), "a")
    )
    await discord.wait_for(lambda: bool(discord.calls_of("GET answer")))
    acknowledgement.set()
    await answering

    assert [(each.text, each.ephemeral) for each in team.bot_messages] == [("Sure", True)]
