"""Every inbound event passes the same checks, is stored before it is acknowledged, and is handled or ignored."""

import asyncio
import resource
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest

from agent_core.messages import text_of
from agent_core.models.scripted import Waits
from channels.base import (
    Accepted,
    Addressed,
    ButtonPressed,
    ChatKey,
    CommandInvoked,
    InboundEvent,
    MessageDeleted,
    MessageEdited,
    MessageReceived,
    ReactionAdded,
    ScheduleFired,
    Sender,
)
from channels.memory import NO_PACE, MemoryChannel
from gateway.store.opening import FILE
from gateway.store.writer import StoreUnavailable
from tests.gateway.conftest import StartBot

INVISIBLE = ["", "   ", "\u200b\u200d\ufeff", "\u202e\u2066\u2069", "\u2060\n\t"]


def of_every_kind(who: str) -> list[InboundEvent]:
    chat = ChatKey(platform="memory", account="here", chat=who)
    sender = Sender(id=who, name=who)
    return [
        MessageReceived(event_id="1", chat=chat, sender=sender, at=1.0, text="hi", message_id="m"),
        CommandInvoked(event_id="2", chat=chat, sender=sender, at=1.0, message_id="m", name="help"),
        ButtonPressed(event_id="3", chat=chat, sender=sender, at=1.0, message_id="m", action="/help"),
        ButtonPressed(event_id="4", chat=chat, sender=sender, at=1.0, message_id="m", action="What time is it?"),
        MessageEdited(event_id="5", chat=chat, sender=sender, at=1.0, message_id="m", text="new"),
        MessageDeleted(event_id="6", chat=chat, sender=sender, at=1.0, message_id="m"),
        ReactionAdded(event_id="7", chat=chat, sender=sender, at=1.0, message_id="m", emoji="👍"),
        ScheduleFired(event_id="8", chat=chat, sender=sender, at=1.0, job="j", slot="s"),
    ]


@pytest.mark.parametrize("event", of_every_kind("mallory"), ids=lambda event: event.type)
async def test_no_kind_of_event_passes_for_a_stranger(start_bot: StartBot, event: InboundEvent) -> None:
    bot = await start_bot()

    assert await bot.channel.deliver(event) is Accepted.REFUSED
    await bot.app.settled()

    assert bot.channel.calls == []
    assert await bot.made.base.store.outbox.screen(event.chat) == []


async def test_every_kind_of_event_of_a_known_person_is_dealt_with(start_bot: StartBot) -> None:
    bot = await start_bot("Hi.", "Noon.", channel=MemoryChannel(limits=NO_PACE))

    outcomes = [await bot.channel.deliver(event) for event in of_every_kind("ann")]
    await bot.app.settled()

    assert [outcome.value for outcome in outcomes] == ["new"] * 5 + ["ignored"] * 2 + ["new"]
    assert await bot.made.base.store.inbox.waiting() == []
    assert await bot.made.base.store.outbox.unsent() == []


@pytest.mark.parametrize("text", INVISIBLE)
async def test_nothing_to_be_seen_is_nothing(start_bot: StartBot, text: str) -> None:  # S2-39
    bot = await start_bot()

    assert await bot.hears(text) is Accepted.IGNORED

    assert bot.channel.calls == []
    assert bot.llm.requests == []


@pytest.mark.parametrize("text", INVISIBLE)
@pytest.mark.parametrize(("language", "words"), [("en", "Yes? Tell me what you need."), ("zh", "请告诉我您需要什么。")])
async def test_our_name_alone_is_answered_with_a_question(
    start_bot: StartBot, text: str, language: str, words: str
) -> None:
    bot = await start_bot()

    await bot.hears(text, sender="bob", group="team", language=language)

    assert bot.screen == [words]
    assert bot.llm.requests == []


async def test_a_file_without_words_is_a_message(start_bot: StartBot) -> None:
    bot = await start_bot("A picture.")

    await bot.hears("", files={"cat.png": b"png"})

    assert bot.screen == ["A picture."]


async def test_lone_surrogates_and_right_to_left_words_pass_through(start_bot: StartBot) -> None:
    bot = await start_bot("שלום")

    await bot.hears("\ud800 שלום \u202eolleh")

    assert bot.screen == ["שלום"]
    assert "שלום" in text_of(bot.llm.requests[0].messages[0].content)


async def test_an_unknown_command_among_people_is_theirs(start_bot: StartBot) -> None:
    bot = await start_bot()

    accepted = await bot.hears("/roll 2d6", sender="bob", group="team", addressed=Addressed.AMBIENT)

    assert accepted is Accepted.IGNORED
    assert bot.screen == []


async def test_any_number_of_chats_run_at_once(wired_bot: StartBot) -> None:  # S2-45
    said = asyncio.Event()
    bot = await wired_bot(*[Waits(said, "Done.")] * 50, channel=MemoryChannel(limits=NO_PACE))

    for number in range(50):
        await bot.channel.hears("go", sender="ann", group="team", thread=str(number))
    await bot.channel.until(lambda: len(bot.llm.requests) == 50)
    said.set()
    await bot.app.settled()

    assert bot.screen.count("Done.") == 50


async def test_chats_that_were_let_go_go_on_where_they_stopped(start_bot: StartBot) -> None:
    bot = await start_bot(*["Noted."] * 221, channel=MemoryChannel(limits=NO_PACE))
    chat = ChatKey(platform="memory", account="here", chat="ann")
    for number in range(220):
        thread = chat.model_copy(update={"thread": str(number)})
        who = Sender(id="ann", name="Ann")
        event_id = f"e{number}"
        await bot.channel.deliver(
            MessageReceived(event_id=event_id, chat=thread, sender=who, at=1.0, text="I am Ann", message_id=event_id)
        )
        await bot.app.settled()

    await bot.hears("who am I?", thread="0")

    assert [text_of(message.content) for message in bot.llm.requests[-1].messages] == [
        "I am Ann",
        "Noted.",
        "who am I?",
    ]


@contextmanager
def full_disk(home: Path) -> Iterator[None]:
    """Limit file sizes of this process to the current size of the store's log."""
    soft, hard = resource.getrlimit(resource.RLIMIT_FSIZE)
    resource.setrlimit(resource.RLIMIT_FSIZE, ((home / f"{FILE}-wal").stat().st_size, hard))
    try:
        yield
    finally:
        resource.setrlimit(resource.RLIMIT_FSIZE, (soft, hard))


@pytest.mark.usefixtures("no_progress")
async def test_on_a_full_disk_nothing_is_acked_and_afterwards_everything_goes_on(start_bot: StartBot) -> None:
    said = asyncio.Event()
    bot = await start_bot(Waits(said, "First."), "Second.")
    await bot.channel.hears("one")
    await bot.channel.until(lambda: len(bot.llm.requests) == 1)
    await bot.made.base.store.inbox.settle([])
    with full_disk(bot.home):
        with pytest.raises(StoreUnavailable):
            await bot.channel.hears("two", sender="bob")
        refused = bot.channel.heard[-1]
        said.set()
        for _ in range(20):
            with pytest.raises(StoreUnavailable):
                await bot.channel.deliver(refused)
        assert "First." not in bot.screen
    await bot.channel.until(lambda: "First." in bot.screen)

    assert await bot.channel.deliver(refused) is Accepted.NEW
    await bot.app.settled()

    assert bot.screen[-1] == "Second."
