"""The in-memory platform keeps messages, refuses, loses answers and outlives the gateway like a real one."""

import asyncio
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager

import pytest

from channels.base import (
    Accepted,
    Addressed,
    Button,
    ButtonPressed,
    Channel,
    ChannelError,
    CommandInvoked,
    InboundEvent,
    Menu,
    MessageEdited,
    MessageGone,
    MessageReceived,
    OutboundMessage,
    Posted,
)
from channels.capabilities import Deletes, Downloads, ShowsTyping
from channels.commands import CommandSpec
from channels.limits import Limits
from channels.memory import MemoryChannel

STOP = CommandSpec(name="stop", description={"en": "stop"})


@asynccontextmanager
async def echoing(channel: MemoryChannel) -> AsyncIterator[list[InboundEvent]]:
    """Run a gateway that echoes every message, and yield the events it received."""
    taken: list[InboundEvent] = []

    async def inbox(event: InboundEvent) -> Accepted:
        taken.append(event)
        if isinstance(event, MessageReceived):
            await channel.send(event.chat, OutboundMessage(markdown=event.text), key=event.event_id)
        return Accepted.NEW

    running = asyncio.create_task(channel.run(inbox, Menu((STOP,))))
    try:
        yield taken
    finally:
        running.cancel()
        await asyncio.wait([running])


async def post(channel: MemoryChannel, text: str, key: str = "1") -> Posted:
    return await channel.send(channel.chat(), OutboundMessage(markdown=text), key)


def test_it_satisfies_the_contract_and_every_further_power() -> None:
    channel: Channel = MemoryChannel()

    assert isinstance(channel, ShowsTyping)
    assert isinstance(channel, Downloads)
    assert isinstance(channel, Deletes)


async def test_what_is_said_is_heard_and_the_answer_is_on_the_screen() -> None:
    channel = MemoryChannel()
    async with echoing(channel) as taken:
        assert await channel.hears("hello") is Accepted.NEW

    assert channel.screen == ["hello"]
    assert [event.sender.id for event in taken] == ["ann"]


async def test_history_shows_every_state_of_the_screen() -> None:
    channel = MemoryChannel()
    posted = await post(channel, "…")

    await channel.edit(posted, OutboundMessage(markdown="done"))
    await channel.edit(posted, OutboundMessage(markdown="done"))
    await channel.delete(posted)

    assert channel.states == [("…",), ("done",), ()]


async def test_people_in_a_group_share_a_chat_and_name_us_unless_told_otherwise() -> None:
    channel = MemoryChannel()
    async with echoing(channel) as taken:
        await channel.hears("parley, hello", sender="ann", group="team")
        await channel.hears("lunch?", sender="bob", group="team", addressed=Addressed.AMBIENT)

    assert [event.addressed for event in taken] == [Addressed.MENTION, Addressed.AMBIENT]
    assert taken[0].chat == taken[1].chat
    assert channel.is_group(taken[0].chat)
    assert not channel.is_group(channel.chat("ann"))


async def test_a_slash_and_a_name_are_a_command_and_a_path_is_text() -> None:
    channel = MemoryChannel()
    async with echoing(channel) as taken:
        await channel.hears("/stop it")
        await channel.hears("/usr/bin")

    command, text = taken
    assert isinstance(command, CommandInvoked)
    assert (command.name, command.arguments) == ("stop", "it")
    assert isinstance(text, MessageReceived)


async def test_a_button_is_pressed_by_its_label() -> None:
    channel = MemoryChannel()
    buttons = ((Button(label="Stop", action="stop:7"),),)
    posted = await channel.send(channel.chat(), OutboundMessage(markdown="…", buttons=buttons), "1")
    async with echoing(channel) as taken:
        await channel.presses("Stop")
        with pytest.raises(LookupError):
            await channel.presses("Go")

    pressed = taken[0]
    assert isinstance(pressed, ButtonPressed)
    assert (pressed.action, pressed.message_id) == ("stop:7", posted.message_id)


async def test_a_message_is_edited_by_its_writer() -> None:
    channel = MemoryChannel()
    async with echoing(channel) as taken:
        await channel.hears("helo")
        first = taken[0]
        assert isinstance(first, MessageReceived)
        await channel.changes(first, "hello")

    edited = taken[1]
    assert isinstance(edited, MessageEdited)
    assert (edited.message_id, edited.text) == (first.message_id, "hello")


async def test_a_file_that_came_can_be_fetched() -> None:
    channel = MemoryChannel()
    async with echoing(channel) as taken:
        await channel.hears("look", files={"cat.png": b"meow"})

    message = taken[0]
    assert isinstance(message, MessageReceived)
    assert message.attachments[0].is_image
    assert await channel.download(message.attachments[0]) == b"meow"
    with pytest.raises(ChannelError):
        await channel.download(message.attachments[0].model_copy(update={"reference": "gone"}))


async def test_a_refused_call_has_no_effect_and_the_next_one_has() -> None:
    channel = MemoryChannel()
    channel.fails("send", ChannelError("slow down", retry_after=3))

    with pytest.raises(ChannelError, match="slow down"):
        await post(channel, "hi")
    await post(channel, "hi")

    assert channel.screen == ["hi"]
    assert [call.kind for call in channel.calls] == ["send", "send"]


async def test_a_lost_answer_has_its_effect_and_the_key_tells_the_second_send_apart() -> None:
    channel = MemoryChannel()
    channel.fails("send", lost=True)

    with pytest.raises(ChannelError) as caught:
        await post(channel, "hi")
    await post(channel, "hi")

    assert caught.value.ambiguous
    assert channel.screen == ["hi"]


async def test_a_platform_that_knows_no_keys_posts_twice() -> None:
    channel = MemoryChannel(keeps_keys=False)

    await post(channel, "hi")
    await post(channel, "hi")

    assert channel.screen == ["hi", "hi"]


async def test_a_message_that_is_gone_cannot_be_edited() -> None:
    channel = MemoryChannel()
    posted = await post(channel, "hi")
    await channel.delete(posted)

    with pytest.raises(MessageGone):
        await channel.edit(posted, OutboundMessage(markdown="ho"))


async def test_the_platform_outlives_the_gateway() -> None:
    channel = MemoryChannel()
    async with echoing(channel):
        await channel.hears("one")
    saying = asyncio.create_task(channel.hears("two"))
    async with echoing(channel):
        await saying

    assert channel.screen == ["one", "two"]


async def test_the_same_event_can_be_delivered_twice() -> None:
    channel = MemoryChannel()
    async with echoing(channel) as taken:
        await channel.hears("hello")
        await channel.deliver(channel.heard[0])

    assert taken[0] == taken[1]


async def test_waiting_in_vain_shows_the_screen() -> None:
    channel = MemoryChannel()
    await post(channel, "still here")

    with pytest.raises(TimeoutError, match="still here"):
        await channel.until(lambda: not channel.screen, within=0.05)


def test_a_long_message_is_cut_within_the_limit_and_keeps_buttons_and_files_at_its_end() -> None:
    channel = MemoryChannel(limits=Limits(max_text=10))
    buttons = ((Button(label="Stop", action="stop"),),)

    parts = channel.split(OutboundMessage(markdown="12345\n6789012345678901", buttons=buttons, reply_to="7"))

    assert [part.markdown for part in parts] == ["12345", "6789012345", "678901"]
    assert [bool(part.buttons) for part in parts] == [False, False, True]
    assert [part.reply_to for part in parts] == ["7", None, None]
