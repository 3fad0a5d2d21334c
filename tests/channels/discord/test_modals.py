"""Modals on Discord: when a command opens one, and that what is filled in arrives as if it had been typed."""

from collections.abc import AsyncIterator

import pytest

from channels.base import Button, ButtonPressed, ChatKey, CommandInvoked, Menu, OutboundMessage, Sender
from channels.buttons import Entry
from channels.commands import CommandSpec, Form, FormField
from channels.discord.adapter import DiscordChannel
from channels.discord.modal import modal
from parley.testing.emulators.control import Effect, Fault
from parley.testing.emulators.discord import DiscordEmulator
from parley.testing.emulators.discord_chat import Chat
from parley.testing.emulators.discord_components import check_modal
from parley.testing.emulators.discord_state import Person
from tests.channels.discord.conftest import Inbox, config_for, key_of, listening, opened

REMIND = CommandSpec(name="remind", description={"en": "Set a reminder"}, arguments="[TIME TEXT]", form="")
REPORT = CommandSpec(name="report", description={"en": "Report"}, arguments="[notes|chat] [TIME]", form="")
FIELDS = Form(
    title="Set a reminder",
    fields=(
        FormField(label="Time", required=True),
        FormField(label="Which", choices=("notes", "chat")),
        FormField(label="Text", required=True, is_long=True),
    ),
)


class Forms:
    """Makes forms for Ann, and for nobody else."""

    def __init__(self) -> None:
        self.asked: list[str] = []
        self.fails = False

    async def __call__(self, chat: ChatKey, sender: Sender, line: str) -> Form | None:
        self.asked.append(line)
        if self.fails:
            raise RuntimeError("no store")
        return FIELDS if sender.name == "Ann" else None


@pytest.fixture
def forms() -> Forms:
    return Forms()


@pytest.fixture
async def channel(discord: DiscordEmulator) -> AsyncIterator[DiscordChannel]:
    async with opened(config_for(discord)) as made:
        yield made


@pytest.fixture
async def inbox(discord: DiscordEmulator, channel: DiscordChannel, forms: Forms) -> AsyncIterator[Inbox]:
    async with listening(discord, channel, Menu((REMIND, REPORT), form=forms)) as heard:
        await discord.wait_for(lambda: len(discord.commands) == 2)
        yield heard


async def opens(chat: Chat, person: Person, command: str) -> None:
    """Give a command that opens a modal, and wait for that."""
    count = len(chat.channel.forms)
    await chat.says(person, command)
    await chat.until(lambda _: len(chat.channel.forms) > count)


async def test_a_command_without_its_arguments_opens_a_form_that_fills_the_same_line(
    discord: DiscordEmulator, inbox: Inbox, forms: Forms
) -> None:
    ann = discord.person("Ann")
    chat = discord.group("Team", [ann])
    await opens(chat, ann, "/remind")
    form = chat.form(ann)
    assert (form.title, forms.asked, inbox.events) == ("Set a reminder", ["/remind"], [])
    await chat.submits(ann, form, {"Time": "tomorrow at 9", "Which": "chat", "Text": "call Ann\nand Bob"})

    event = await inbox.command()
    assert (event.name, event.arguments) == ("remind", "tomorrow at 9 chat call Ann\nand Bob")
    assert (event.sender.id, event.chat, event.group) == (ann.id, key_of(chat), "Team #general")
    assert event.respond is not None
    await discord.wait_for(lambda: not form.is_open)
    assert [each.action for each in chat.actions] == ["thinking"]


async def test_a_command_with_arguments_or_without_a_form_is_taken_at_once(
    discord: DiscordEmulator, inbox: Inbox, forms: Forms
) -> None:
    ann, bob = discord.person("Ann"), discord.person("Bob")
    chat = discord.group("Team", [ann, bob])
    await chat.says(ann, "/remind in 5m tea")
    assert (await inbox.command()).arguments == "in 5m tea"
    assert forms.asked == []
    await chat.says(bob, "/remind")  # who may not give it gets its answer
    assert (await inbox.command()).arguments == ""
    forms.fails = True
    await chat.says(ann, "/remind")
    assert (await inbox.command()).sender.id == ann.id
    assert chat.channel.forms == []


async def test_a_form_that_is_submitted_again_as_its_answer_was_lost_is_one_command(
    discord: DiscordEmulator, inbox: Inbox
) -> None:
    ann = discord.person("Ann")
    chat = discord.private(ann)
    await opens(chat, ann, "/remind")
    form = chat.form(ann)
    discord.faults.add(Fault("POST interaction", Effect(status=400), 1))
    await chat.submits(ann, form, {"Time": "in 5m", "Text": "tea"})
    first = await inbox.command()
    await discord.wait_for(lambda: len(discord.calls_of("POST interaction")) == 2)
    again = await chat.submits(ann, chat.form(ann), {"Time": "in 5m", "Text": "tea"})
    await discord.wait_for(lambda: inbox.duplicates == 1 and again.answered)
    await discord.wait_for(lambda: again.original is not None and again.original.deleted)

    assert (first.name, first.arguments, inbox.events) == ("remind", "in 5m tea", [])
    await opens(chat, ann, "/remind")
    await chat.submits(ann, chat.form(ann), {"Time": "in 5m", "Text": "tea"})
    assert (await inbox.command()).arguments == "in 5m tea"


async def test_what_somebody_else_submits_is_that_persons_command(discord: DiscordEmulator, inbox: Inbox) -> None:
    ann, bob = discord.person("Ann"), discord.person("Bob")
    chat = discord.group("Team", [ann, bob])
    await opens(chat, ann, "/remind")
    await chat.submits(bob, chat.form(ann), {"Time": "in 5m", "Text": "tea"})
    assert (await inbox.command()).sender.id == bob.id


async def test_a_form_may_be_filled_in_for_an_hour_and_after_a_restart(discord: DiscordEmulator, forms: Forms) -> None:
    ann = discord.person("Ann")
    chat = discord.private(ann)
    menu = Menu((REMIND,), form=forms)
    async with opened(config_for(discord)) as channel, listening(discord, channel, menu):
        await discord.wait_for(lambda: bool(discord.commands))
        await opens(chat, ann, "/remind")
    form = chat.form(ann)
    form.opened_by.at -= 3600
    async with opened(config_for(discord)) as channel, listening(discord, channel, menu) as inbox:
        await chat.submits(ann, form, {"Time": "in 5m", "Text": "tea"})
        command = await inbox.command()
        part = OutboundMessage(markdown="Reminder set", respond=command.respond)
        await channel.send(key_of(chat), part, "k")
    assert chat.screen == ["Reminder set"]


async def test_a_button_opens_the_form_of_its_command_and_is_no_press(
    discord: DiscordEmulator, channel: DiscordChannel, inbox: Inbox, forms: Forms
) -> None:
    ann, bob = discord.person("Ann"), discord.person("Bob")
    chat = discord.group("Team", [ann, bob])
    own = Entry(label="In my own words", action="/answer 3f9a")
    blue = Button(label="Blue", action="/answer 3f9a 1")
    (part,) = channel.split(OutboundMessage(markdown="Which colour?", buttons=((blue,),), form=own))
    await channel.send(key_of(chat), part, "k")
    assert [[each.text for each in row] for row in chat.bot_messages[0].buttons] == [["Blue"], ["In my own words"]]

    await chat.presses(ann, "In my own words")
    await chat.until(lambda _: bool(chat.channel.forms))
    await chat.submits(ann, chat.form(ann), {"Time": "green", "Text": "with dots"})
    event = await inbox.next()
    assert isinstance(event, CommandInvoked)
    assert (event.name, event.arguments) == ("answer", "3f9a green with dots")
    await chat.presses(bob, "In my own words")
    press = await inbox.next()
    assert isinstance(press, ButtonPressed)
    assert press.action == "/answer 3f9a"


async def test_a_form_that_discord_refuses_leaves_the_command_as_it_was_given(
    discord: DiscordEmulator, inbox: Inbox
) -> None:
    ann = discord.person("Ann")
    chat = discord.private(ann)
    discord.faults.add(Fault("POST interaction", Effect(status=400), 1))
    await chat.says(ann, "/remind")
    assert (await inbox.command()).arguments == ""
    await discord.wait_for(lambda: not discord.unanswered)


def test_a_form_with_long_words_and_many_fields_keeps_discords_limits() -> None:
    field = FormField(label="l" * 100, choices=tuple(f"word-{number}" for number in range(40)), required=True)
    made = modal(Form(title="t" * 100, fields=(field,) * 9), "1" * 20, "/x" * 32)
    assert isinstance(made, dict)
    parts = made["components"]
    assert isinstance(parts, list)
    check_modal(str(made["title"]), str(made["custom_id"]), parts)


async def test_a_file_is_uploaded_in_a_form_and_comes_with_the_command(
    discord: DiscordEmulator, channel: DiscordChannel
) -> None:
    skill = CommandSpec(name="skill", description={"en": "Skills"}, arguments="[NAME]", takes_files=True, form="")
    asked = Form(title="Skills", fields=(FormField(label="Name"),), file="File")

    async def make(chat: ChatKey, sender: Sender, line: str) -> Form:
        return asked

    async with listening(discord, channel, Menu((skill,), form=make)) as inbox:
        await discord.wait_for(lambda: len(discord.commands) == 1)
        ann = discord.person("Ann")
        chat = discord.private(ann)
        await opens(chat, ann, "/skill")
        await chat.submits(ann, chat.form(ann), {"Name": "tea", "File": ("tea.zip", b"PK", "application/zip")})
        event = await inbox.command()
        await opens(chat, ann, "/skill")
        await chat.submits(ann, chat.form(ann), {"Name": "tea"})
        bare = await inbox.command()

        assert (event.arguments, bare.arguments) == ("tea", "tea")
        assert [file.name for file in event.attachments] == ["tea.zip"]
        assert await channel.download(event.attachments[0]) == b"PK"
        assert bare.attachments == ()


def test_a_form_with_a_file_has_room_for_four_other_fields() -> None:
    made = modal(Form(title="Many", fields=(FormField(label="One"),) * 9, file="File"), "1", "/x")

    assert isinstance(made, dict)
    parts = made["components"]
    assert isinstance(parts, list)
    check_modal(str(made["title"]), str(made["custom_id"]), parts)
    assert len(parts) == 5
