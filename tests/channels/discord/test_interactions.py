"""Slash commands and buttons: Discord gets its acknowledgement in time, and answers appear in the right place."""

import asyncio
import time
from functools import partial

import pytest

from channels.base import Accepted, Addressed, Button, ChatKey, Menu, OutboundMessage, Sender
from channels.commands import CommandSpec, Suggestion, Typed
from channels.discord.adapter import DiscordChannel
from parley.testing.emulators.discord import DiscordEmulator
from parley.testing.emulators.discord_chat import Chat
from parley.testing.emulators.discord_state import Action, Person
from tests.channels.discord.conftest import Inbox, config_for, key_of, listening, opened

LONG = "word " * 700
DISCORD_WAITS = 3.0
"""Seconds until Discord shows that an interaction failed."""
TRIES = 3


@pytest.fixture
async def ann(discord: DiscordEmulator, inbox: Inbox) -> Person:
    """A user with the command menu loaded."""
    await discord.wait_for(lambda: len(discord.commands) == 2)
    return discord.person("Ann", language="zh")


def answers(chat: Chat) -> list[tuple[str, bool]]:
    """Return the bot's messages, each with True if only one user sees it."""
    return [(message.text, message.ephemeral) for message in chat.bot_messages]


def thinking(chat: Chat) -> list[Action]:
    return [action for action in chat.actions if action.action == "thinking"]


def has_been_told(number: int, chat: Chat) -> bool:
    return len(thinking(chat)) == number


async def test_a_command_in_a_server_is_answered_to_the_person_alone(
    discord: DiscordEmulator, channel: DiscordChannel, inbox: Inbox, ann: Person
) -> None:
    chat = discord.group("Team", [ann])
    await chat.says(ann, "/help me please")

    event = await inbox.command()
    assert (event.name, event.arguments, event.addressed) == ("help", "me please", Addressed.MENTION)
    assert (event.sender.language, event.chat) == ("zh-CN", key_of(chat))
    await channel.send(event.chat, OutboundMessage(markdown="**Sure**", respond=event.respond), "k")
    assert answers(chat) == [("Sure", True)]


async def test_a_long_answer_to_a_command_is_seen_by_nobody_else(
    discord: DiscordEmulator, channel: DiscordChannel, inbox: Inbox, ann: Person
) -> None:
    chat = discord.group("Team", [ann])
    await chat.says(ann, "/help")
    event = await inbox.command()
    for number, part in enumerate(channel.split(OutboundMessage(markdown=LONG, respond=event.respond))):
        await channel.send(event.chat, part, f"k{number}")

    assert [alone for _, alone in answers(chat)] == [True, True]
    assert discord.calls_of("POST message") == []


async def test_a_command_in_a_direct_message(
    discord: DiscordEmulator, channel: DiscordChannel, inbox: Inbox, ann: Person
) -> None:
    chat = discord.private(ann)
    await chat.says(ann, "/stop")
    event = await inbox.command()
    await channel.send(event.chat, OutboundMessage(markdown="Stopped.", respond=event.respond), "k")

    assert answers(chat) == [("Stopped.", False)]
    assert event.addressed is Addressed.DIRECT


async def test_discord_is_told_in_time_whatever_the_disk_does(
    discord: DiscordEmulator, inbox: Inbox, ann: Person
) -> None:
    """The quickest of several times counts, as a busy machine may take seconds itself."""
    chat = discord.private(ann)
    waits = []
    for number in range(1, TRIES + 1):
        inbox.gate = asyncio.Event()
        asked = await chat.says(ann, "/help")
        await chat.until(partial(has_been_told, number))
        waits.append(thinking(chat)[-1].at - asked.at)
        assert inbox.events == []
        inbox.gate.set()
        assert (await inbox.command()).name == "help"

    assert min(waits) < DISCORD_WAITS


async def test_a_disk_that_takes_longer_than_discord_waits_costs_no_command(
    discord: DiscordEmulator, channel: DiscordChannel, inbox: Inbox, ann: Person
) -> None:
    chat = discord.group("Team", [ann])
    inbox.gate = asyncio.Event()
    await chat.says(ann, "/help")
    asyncio.get_running_loop().call_later(DISCORD_WAITS + 0.5, inbox.gate.set)
    event = await inbox.command()
    await channel.send(event.chat, OutboundMessage(markdown="Sure", respond=event.respond), "k")

    assert answers(chat) == [("Sure", True)]


async def test_a_command_that_comes_again_while_discord_is_being_told_is_answered_once(
    discord: DiscordEmulator, channel: DiscordChannel, inbox: Inbox, ann: Person, caplog: pytest.LogCaptureFixture
) -> None:
    chat = discord.group("Team", [ann])
    gate = discord.faults.hold("POST interaction")
    await chat.says(ann, "/help")
    event = await inbox.command()
    sending = asyncio.create_task(
        channel.send(event.chat, OutboundMessage(markdown="Sure", respond=event.respond), "k")
    )
    await discord.wait_for(lambda: bool(discord.calls_of("POST interaction")))
    discord.redeliver()
    await inbox.until(lambda _: inbox.duplicates == 1)
    gate.set()
    await asyncio.wait_for(sending, 30)

    assert answers(chat) == [("Sure", True)]
    assert caplog.records == []


@pytest.mark.usefixtures("patient")
async def test_an_answer_later_than_the_address_of_a_command_lives_is_a_message_in_the_channel() -> None:
    later = [0.0]
    async with (
        DiscordEmulator(clock=lambda: time.monotonic() + later[0]) as discord,
        opened(config_for(discord)) as channel,
        listening(discord, channel) as inbox,
    ):
        await discord.wait_for(lambda: len(discord.commands) == 2)
        ann = discord.person("Ann")
        chat = discord.group("Team", [ann])
        await chat.says(ann, "/help")
        event = await inbox.command()
        await discord.wait_for(lambda: any(call.status for call in discord.calls_of("POST interaction")))
        later[0] = 901.0
        for number, part in enumerate(channel.split(OutboundMessage(markdown=LONG, respond=event.respond))):
            await channel.send(event.chat, part, f"k{number}")

        assert [message.ephemeral for message in chat.bot_messages if not message.loading] == [False, False]
        await chat.says(ann, "@parley_bot hi")
        assert (await inbox.message()).text == "hi", "the token of the bot itself is as good as before"


async def test_an_answer_waits_until_discord_knows_of_its_command(
    discord: DiscordEmulator, channel: DiscordChannel, inbox: Inbox, ann: Person
) -> None:
    chat = discord.group("Team", [ann])
    gate = discord.faults.hold("POST interaction")
    await chat.says(ann, "/help")
    event = await inbox.command()
    sending = asyncio.create_task(channel.send(event.chat, OutboundMessage(markdown="Hi", respond=event.respond), "k"))
    await discord.wait_for(lambda: bool(discord.calls_of("POST interaction")))
    gate.set()
    await sending

    assert answers(chat) == [("Hi", True)]


@pytest.mark.parametrize("answer", [Accepted.REFUSED, Accepted.IGNORED])
async def test_whoever_may_not_speak_is_told_nothing(
    discord: DiscordEmulator, inbox: Inbox, ann: Person, answer: Accepted
) -> None:
    chat = discord.group("Team", [ann])
    inbox.answer = answer
    await chat.says(ann, "/help")
    await inbox.command()
    inbox.answer = Accepted.NEW
    await chat.says(ann, "/stop")
    await discord.wait_for(lambda: bool(discord.calls_of("POST interaction")))

    assert len(chat.actions) <= 1
    assert len(discord.calls_of("POST interaction")) == 1


async def test_a_command_that_is_refused_late_leaves_nothing_behind(
    discord: DiscordEmulator, inbox: Inbox, ann: Person
) -> None:
    chat = discord.private(ann)
    inbox.answer, inbox.gate = Accepted.REFUSED, asyncio.Event()
    await chat.says(ann, "/help")
    await chat.until(lambda chat: any(action.action == "thinking" for action in chat.actions))
    inbox.gate.set()
    await discord.wait_for(lambda: any(call.status == 204 for call in discord.calls_of("DELETE answer")))

    assert all(message.deleted for message in chat.everything)


async def test_a_command_to_which_nothing_is_said_stops_thinking(
    discord: DiscordEmulator, channel: DiscordChannel, inbox: Inbox, ann: Person
) -> None:
    chat = discord.private(ann)
    await chat.says(ann, "/stop")
    event = await inbox.command()

    await channel.close_command(event.chat, event.respond or "")

    assert any(action.action == "thinking" for action in chat.actions)
    assert all(message.deleted for message in chat.everything)


async def test_the_address_of_an_answer_stands_in_no_log(
    discord: DiscordEmulator, channel: DiscordChannel, inbox: Inbox, ann: Person, caplog: pytest.LogCaptureFixture
) -> None:
    chat = discord.private(ann)
    discord.faults.rate_limit("PATCH answer", retry_after=0.1)
    await chat.says(ann, "/help")
    event = await inbox.command()
    await channel.send(event.chat, OutboundMessage(markdown="Hi", respond=event.respond), "k")

    assert event.respond is not None
    assert "responded with 429" in caplog.text
    assert event.respond.split("/")[1] not in caplog.text


@pytest.mark.parametrize("respond", ["1/unknown", "1/unknown/1"])
async def test_an_answer_that_comes_too_late_is_a_message_in_the_channel(
    discord: DiscordEmulator, channel: DiscordChannel, inbox: Inbox, ann: Person, respond: str
) -> None:
    chat = discord.private(ann)
    await channel.send(key_of(chat), OutboundMessage(markdown="Late", respond=respond, reply_to="1"), "k")

    assert answers(chat) == [("Late", False)]


async def test_an_answer_whose_place_was_deleted_is_a_message_in_the_channel(
    discord: DiscordEmulator, channel: DiscordChannel, inbox: Inbox, ann: Person
) -> None:
    chat = discord.private(ann)
    gate = discord.faults.hold("PATCH answer")
    await chat.says(ann, "/help")
    event = await inbox.command()
    sending = asyncio.create_task(channel.send(event.chat, OutboundMessage(markdown="Hi", respond=event.respond), "k"))
    await discord.wait_for(lambda: bool(discord.calls_of("PATCH answer")))
    for message in chat.everything:
        message.deleted = True
    gate.set()
    await sending

    assert answers(chat) == [("Hi", False)]


@pytest.mark.parametrize("alone", [True, False], ids=["direct message", "server"])
async def test_a_button_works_also_after_a_restart(
    discord: DiscordEmulator, channel: DiscordChannel, *, alone: bool
) -> None:
    ann = discord.person("Ann")
    chat = discord.private(ann) if alone else discord.group("Team", [ann])
    rows = ((Button(label="Stop", action="stop:1"), Button(label="More", action="more")),)
    posted = await channel.send(key_of(chat), OutboundMessage(markdown="Working", buttons=rows), "k")
    async with opened(config_for(discord)) as later, listening(discord, later) as inbox:
        press = await chat.presses(ann, "Stop")
        event = await inbox.press()
        await discord.wait_for(lambda: press.answered)

    assert (event.action, event.message_id, event.chat) == ("stop:1", posted.message_id, key_of(chat))
    assert chat.screen == ["Working"]


async def test_what_one_person_alone_sees_is_rewritten_by_the_press_of_its_button(
    discord: DiscordEmulator, channel: DiscordChannel, inbox: Inbox, ann: Person
) -> None:
    chat = discord.group("Team", [ann])
    await chat.says(ann, "/help")
    asked = await inbox.command()
    rows = ((Button(label="Yes", action="yes"),),)
    question = OutboundMessage(markdown="Shall I?", buttons=rows, respond=asked.respond)
    posted = await channel.send(asked.chat, question, "k")
    await chat.presses(ann, "Yes")
    event = await inbox.press()
    await channel.edit(posted, OutboundMessage(markdown="Done", respond=event.respond))

    assert answers(chat) == [("Done", True)]
    assert chat.bot_messages[0].buttons == []


async def test_a_command_may_also_be_typed_where_it_is_not_in_the_menu(discord: DiscordEmulator, inbox: Inbox) -> None:
    ann = discord.person("Ann")
    chat = discord.private(ann)
    await chat.says(ann, "/model fast")

    event = await inbox.command()
    assert (event.name, event.arguments, event.respond) == ("model", "fast", None)


async def test_two_deliveries_of_one_command_are_one(
    discord: DiscordEmulator, channel: DiscordChannel, inbox: Inbox, ann: Person
) -> None:
    chat = discord.group("Team", [ann])
    discord.faults.duplicate()
    await chat.says(ann, "/help")
    event = await inbox.command()
    await channel.send(event.chat, OutboundMessage(markdown="Hi", respond=event.respond), "k")

    assert answers(chat) == [("Hi", True)]


async def test_options_are_typed_and_joined_in_the_order_of_the_usage(discord: DiscordEmulator) -> None:
    spec = CommandSpec(name="skill", description={"en": "Load a skill"}, arguments="load|unload NAME")
    ann = discord.person("Ann")
    chat = discord.group("Team", [ann])
    async with opened(config_for(discord)) as channel, listening(discord, channel, Menu((spec,))) as heard:
        await discord.wait_for(lambda: "skill" in discord.commands)
        await chat.says(ann, "/skill load book-flight")

        event = await heard.command()
        assert (event.name, event.arguments) == ("skill", "load book-flight")


async def test_an_argument_is_completed_with_what_the_gateway_suggests(discord: DiscordEmulator) -> None:
    spec = CommandSpec(name="tz", description={"en": "Set the zone"}, arguments="[show|set] [NAME|reset]")
    asked: list[tuple[str, Typed]] = []

    async def suggest(_: ChatKey, sender: Sender, typed: Typed) -> list[Suggestion]:
        asked.append((sender.id, typed))
        return [Suggestion(value="Europe/Riga", label="Riga")] if typed.text != "nothing" else []

    ann = discord.person("Ann")
    chat = discord.group("Team", [ann])
    async with opened(config_for(discord)) as channel, listening(discord, channel, Menu((spec,), suggest)):
        await discord.wait_for(lambda: "tz" in discord.commands)

        assert await chat.completions(ann, "tz", "name", "r") == ["reset", "Europe/Riga"]
        assert await chat.completions(ann, "tz", "name", "nothing", {"action": "set"}) == []
        assert asked == [
            (ann.id, Typed(command="tz", option="name", text="r")),
            (ann.id, Typed(command="tz", option="name", text="nothing", before="set")),
        ]
