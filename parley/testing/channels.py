"""Tests that every channel passes: those of `ChannelTests`, which a subclass runs on its own channel.

class TestIrc(ChannelTests):
    @pytest.fixture
    async def stage(self) -> AsyncIterator[Stage]:
        async with Server() as server:
            yield IrcStage(server)
"""

import asyncio
from abc import abstractmethod
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager, suppress
from typing import Protocol

import pytest

from channels.base import (
    Accepted,
    Channel,
    ChannelError,
    ChatKey,
    CommandInvoked,
    InboundEvent,
    Menu,
    MessageGone,
    MessageReceived,
    OutboundMessage,
    Posted,
)
from channels.capabilities import Deletes

PATIENCE = 30.0
"""Seconds that a test waits at most."""
LONG = "\n\n".join(f"Paragraph {number}: {'words and more words ' * 12}`code`" for number in range(60))
"""About 16,000 characters in paragraphs."""


class Stage(Protocol):
    """A platform, the channel on it, and a person in a private chat with the bot."""

    channel: Channel

    @abstractmethod
    async def ready(self) -> None:
        """Return once the channel receives what people say."""

    @abstractmethod
    async def says(self, text: str) -> None:
        """Send a message as the person."""

    @abstractmethod
    def screen(self) -> list[str]:
        """Return the messages of the bot as the person sees them, oldest first."""


class Listening:
    """The events that a channel has passed on."""

    def __init__(self, stage: Stage) -> None:
        self._stage = stage
        self._events: asyncio.Queue[InboundEvent] = asyncio.Queue()

    async def hears(self, text: str) -> InboundEvent:
        """Let the person say something. Return the event that comes of it."""
        await self._stage.says(text)
        async with asyncio.timeout(PATIENCE):
            return await self._events.get()

    async def take(self, event: InboundEvent) -> Accepted:
        """Store an event, as Parley does."""
        self._events.put_nowait(event)
        return Accepted.NEW


@asynccontextmanager
async def listening(stage: Stage) -> AsyncIterator[Listening]:
    """Run the channel meanwhile. Raises what it raises."""
    heard = Listening(stage)
    running = asyncio.create_task(stage.channel.run(heard.take, Menu()))
    try:
        async with asyncio.timeout(PATIENCE):
            await stage.ready()
        yield heard
    finally:
        running.cancel()
        with suppress(asyncio.CancelledError):
            await running


async def seen(stage: Stage, is_so: Callable[[list[str]], bool]) -> None:
    """Wait until the screen is as it should be. Raises TimeoutError with the screen."""
    try:
        async with asyncio.timeout(PATIENCE):
            while not is_so(stage.screen()):  # noqa: ASYNC110 - a platform need not announce it
                await asyncio.sleep(0.01)
    except TimeoutError:
        raise TimeoutError(f"not so after {PATIENCE:g} s; the screen reads {stage.screen()}") from None


async def sent(channel: Channel, chat: ChatKey, message: OutboundMessage, key: str) -> Posted:
    """Send a message, as slowly as the platform asks. Raises ChannelError."""
    while True:
        try:
            return await channel.send(chat, message, key)
        except ChannelError as error:
            if error.retry_after is None:
                raise
            await asyncio.sleep(error.retry_after)


class ChannelTests:
    """The tests. A subclass has a fixture `stage`, and closes the channel at its end."""

    async def test_a_message_comes_with_its_chat_and_its_sender(self, stage: Stage) -> None:
        async with listening(stage) as heard:
            event = await heard.hears("hello there")

        assert isinstance(event, MessageReceived)
        assert event.text == "hello there"
        assert event.chat.platform == stage.channel.name
        assert type(event.chat).parse(str(event.chat)) == event.chat, "a part of the key of a chat holds a colon"
        assert not stage.channel.is_group(event.chat)
        assert ":" not in event.sender.id

    async def test_each_message_is_an_event_of_its_own(self, stage: Stage) -> None:
        async with listening(stage) as heard:
            events = [await heard.hears("again") for _ in range(3)]

        assert len({event.event_id for event in events}) == len(events)
        assert len({event.chat for event in events}) == 1
        assert len({event.sender.id for event in events}) == 1

    async def test_a_command_is_told_from_a_message(self, stage: Stage) -> None:
        if stage.channel.limits.slash != "/":
            return
        async with listening(stage) as heard:
            event = await heard.hears("/undo the last one")

        assert isinstance(event, CommandInvoked)
        assert (event.name, event.arguments) == ("undo", "the last one")

    async def test_an_answer_is_seen_and_an_edit_replaces_it(self, stage: Stage) -> None:
        channel = stage.channel
        async with listening(stage) as heard:
            chat = (await heard.hears("hello")).chat
            (message,) = channel.split(OutboundMessage(markdown="one moment"))
            posted = await channel.send(chat, message, "run:answer:0")
            await seen(stage, lambda screen: "one moment" in screen[-1])

            assert posted.chat == chat
            if channel.limits.stays_written:
                with pytest.raises(MessageGone):
                    await channel.edit(posted, OutboundMessage(markdown="here it is"))
                return
            await channel.edit(posted, OutboundMessage(markdown="here it is"))
            await seen(stage, lambda screen: len(screen) == 1 and "here it is" in screen[-1])
            await channel.edit(posted, OutboundMessage(markdown="here it is"))

    async def test_a_long_answer_arrives_whole_in_parts(self, stage: Stage) -> None:
        channel = stage.channel
        async with listening(stage) as heard:
            chat = (await heard.hears("hello")).chat
            parts = channel.split(OutboundMessage(markdown=LONG, reply_to=None))
            for number, part in enumerate(parts):
                await sent(channel, chat, part, f"run:answer:{number}")
            await seen(stage, lambda screen: len(screen) == len(parts))

        assert all(part.markdown.strip() for part in parts)
        told = " ".join(stage.screen())
        assert [number for number in range(60) if f"Paragraph {number}:" not in told] == []

    async def test_a_message_of_any_kind_has_a_part(self, stage: Stage) -> None:
        for text in ("", " ", "\n", "```\ncode", "**bold", "🙂" * 5_000, "x" * 50_000):
            assert stage.channel.split(OutboundMessage(markdown=text)), text[:10]

    async def test_a_send_that_is_repeated_makes_no_second_message_where_the_platform_keeps_keys(
        self, stage: Stage
    ) -> None:
        channel = stage.channel
        if not channel.limits.keeps_keys:
            return
        async with listening(stage) as heard:
            chat = (await heard.hears("hello")).chat
            posted = [await channel.send(chat, OutboundMessage(markdown="once"), "run:answer:0") for _ in range(2)]

        assert posted[0].message_id == posted[1].message_id

    async def test_a_message_is_deleted_where_it_can_be(self, stage: Stage) -> None:
        channel = stage.channel
        if not isinstance(channel, Deletes):
            return
        async with listening(stage) as heard:
            chat = (await heard.hears("hello")).chat
            posted = await channel.send(chat, OutboundMessage(markdown="not for long"), "run:answer:0")
            await seen(stage, bool)
            await channel.delete(posted)
            await seen(stage, lambda screen: not screen)
