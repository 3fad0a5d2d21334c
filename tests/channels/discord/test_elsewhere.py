"""The bot where it is not: people who installed it for themselves use it in servers of which it is no member."""

from collections.abc import AsyncIterator

import pytest
from pydantic import JsonValue

from channels.base import Accepted, Addressed, Button, ChatKey, Menu, OutboundMessage, Sender
from channels.commands import Suggestion, Typed
from channels.discord.adapter import DiscordChannel
from channels.discord.respond import Address
from channels.discord.wire import Interaction
from parley.testing.emulators.discord import DiscordEmulator
from parley.testing.emulators.discord_chat import Chat
from parley.testing.emulators.discord_state import Person
from tests.channels.discord.conftest import COMMANDS, Inbox, config_for, key_of, listening, opened


@pytest.fixture
async def ann(discord: DiscordEmulator, inbox: Inbox) -> Person:
    await discord.wait_for(lambda: len(discord.commands) == 2)
    return discord.person("Ann")


@pytest.fixture
def there(discord: DiscordEmulator, ann: Person) -> Chat:
    """A server without the bot."""
    chat = discord.group("Strangers", [ann, discord.person("Eve")])
    discord.kick_bot(chat)
    return chat


async def test_a_command_from_elsewhere_is_one_of_the_private_chat_and_only_its_person_sees_the_answers(
    discord: DiscordEmulator, channel: DiscordChannel, inbox: Inbox, ann: Person, there: Chat
) -> None:
    await there.says(ann, "/help me")
    command = await inbox.command()
    home = discord.private(ann)
    assert (command.chat, command.addressed, command.group) == (key_of(home), Addressed.DIRECT, "")
    message = OutboundMessage(markdown="word " * 700, respond=command.respond)
    for number, part in enumerate(channel.split(message)):
        await channel.send(command.chat, part, str(number))

    assert len(there.bot_messages) == 2
    assert all(each.ephemeral for each in there.bot_messages)
    assert home.bot_messages == []


async def test_answers_beyond_those_that_discord_allows_there_come_in_the_private_chat(
    discord: DiscordEmulator, channel: DiscordChannel, inbox: Inbox, ann: Person, there: Chat
) -> None:
    await there.says(ann, "/help")
    command = await inbox.command()
    parts = channel.split(OutboundMessage(markdown="word " * 3_000, respond=command.respond))
    for number, part in enumerate(parts):
        await channel.send(command.chat, part, str(number))

    assert len(there.bot_messages) == 6
    assert len(discord.private(ann).bot_messages) == len(parts) - 6 > 0


async def test_a_press_from_elsewhere_changes_the_message_that_only_its_person_sees(
    discord: DiscordEmulator, channel: DiscordChannel, inbox: Inbox, ann: Person, there: Chat
) -> None:
    await there.says(ann, "/help")
    command = await inbox.command()
    more = ((Button(label="More", action="/help more"),),)
    (part,) = channel.split(OutboundMessage(markdown="Short", buttons=more, respond=command.respond))
    posted = await channel.send(command.chat, part, "k")
    await there.presses(ann, "More")
    press = await inbox.press()
    assert (press.chat, press.message_id) == (command.chat, posted.message_id)
    await channel.edit(posted, OutboundMessage(markdown="Long", respond=press.respond))
    assert there.screen == ["Long"]


async def test_who_may_not_talk_to_the_bot_gets_no_answer_elsewhere_either(
    discord: DiscordEmulator, inbox: Inbox, ann: Person, there: Chat
) -> None:
    inbox.answer = Accepted.REFUSED
    await there.says(ann, "/help")
    await inbox.command()
    await discord.solicit()
    assert there.messages == []


async def test_values_are_proposed_elsewhere_from_the_private_chat(discord: DiscordEmulator) -> None:
    asked: list[ChatKey] = []

    async def suggest(chat: ChatKey, sender: Sender, typed: Typed) -> list[Suggestion]:
        asked.append(chat)
        return [Suggestion(value="files", label="Files")]

    async with opened(config_for(discord)) as channel, listening(discord, channel, Menu(COMMANDS, suggest)):
        await discord.wait_for(lambda: len(discord.commands) == 2)
        ann = discord.person("Ann")
        there = discord.group("Strangers", [ann])
        discord.kick_bot(there)
        assert await there.completions(ann, "help", "topic", "f") == ["files"]
        assert asked == [key_of(discord.private(ann))]


@pytest.fixture
async def for_servers_only(patient: None) -> AsyncIterator[DiscordEmulator]:
    async with DiscordEmulator(user_install=False) as emulator:
        yield emulator
    assert emulator.violations == []


async def test_a_bot_that_users_may_not_install_offers_its_commands_in_its_servers(
    for_servers_only: DiscordEmulator,
) -> None:
    discord = for_servers_only
    async with opened(config_for(discord)) as channel, listening(discord, channel) as inbox:
        await discord.wait_for(lambda: len(discord.commands) == 2)
        ann = discord.person("Ann")
        team, there = discord.group("Team", [ann]), discord.group("Strangers", [ann])
        discord.kick_bot(there)
        await there.says(ann, "/help")
        await team.says(ann, "/help")
        assert (await inbox.command()).chat == key_of(team)


@pytest.mark.parametrize(
    ("owners", "context", "is_elsewhere"),
    [
        ({"0": "900"}, 0, False),
        ({"0": "900", "1": "7"}, 0, False),
        ({"1": "7"}, 0, True),
        ({"1": "7"}, 1, False),
        ({"0": "0"}, 1, False),
        ({"1": "7"}, 2, True),
        ({}, None, False),
        ({"1": "7"}, None, False),
    ],
)
def test_elsewhere_is_where_only_the_person_has_installed_it(
    owners: dict[str, JsonValue], context: int | None, *, is_elsewhere: bool
) -> None:
    made = Interaction(
        id="1",
        token="t",  # noqa: S106
        type=2,
        channel_id="2",
        context=context,
        authorizing_integration_owners=owners,
    )
    assert made.is_elsewhere is is_elsewhere
    address = Address.of(made)
    assert Address.parse(str(address)) == address
    assert Address.parse(f"{address}/1") == address._replace(is_first=False)
