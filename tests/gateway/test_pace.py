"""A user may start ten runs at once, then ten a minute; further messages wait and are joined."""

import asyncio
import sqlite3
from collections.abc import Sequence
from typing import Any

import pytest

from agent_core.messages import UserMessage, text_of
from agent_core.models.scripted import Waits
from agent_core.origin import CLEAN
from channels.base import Button, ChatKey, MessageReceived, OutboundMessage, Sender
from channels.memory import NO_PACE, MemoryChannel
from gateway.chat.replies import Answer, Quoting
from gateway.chat.run_pace import BURST, MOST_WAITING, REMEMBERED, Pace
from gateway.commands.command import Command, Invocation
from gateway.permissions.access import Access
from gateway.permissions.rights import TALK, always
from gateway.permissions.roles import Roles
from gateway.plugin import Plugin
from gateway.store.outbox import Outbox
from gateway.store.rows import InboxItem
from tests.clock import FakeClock, HandClock
from tests.gateway.bot import PEOPLE, Bot
from tests.gateway.conftest import StartBot

SUM = "What is 17 * 23?"
TEAM = ChatKey(platform="memory", account="here", chat="#team")


def person(name: str) -> Sender:
    return Sender(id=name, name=name.title())


def said(at: float, sender: str = "bob") -> InboxItem:
    who = person(sender)
    return InboxItem(1, MessageReceived(event_id="e", chat=TEAM, sender=who, at=at, text="hello", message_id="m"))


def pace_of(clock: FakeClock) -> Pace:
    return Pace(Access(Roles(PEOPLE), [MemoryChannel()], (), clock), clock)


def spent(clock: FakeClock) -> Pace:
    pace = pace_of(clock)
    for _ in range(BURST):
        assert pace.run_wait(TEAM, person("bob")) == 0
    return pace


def test_ten_pass_and_the_eleventh_waits() -> None:  # S2-42, D-18
    assert BURST == 10
    assert spent(FakeClock()).run_wait(TEAM, person("bob")) in (6, 7)


def test_after_that_wait_the_next_passes() -> None:
    clock = FakeClock()
    pace = spent(clock)

    clock.now += pace.run_wait(TEAM, person("bob"))

    assert pace.run_wait(TEAM, person("bob")) == 0
    assert pace.run_wait(TEAM, person("bob")) > 0


def test_ten_a_minute_are_kept_up() -> None:
    clock = FakeClock()
    pace = spent(clock)
    passed = 0
    for _ in range(600):
        clock.now += 1
        passed += pace.run_wait(TEAM, person("bob")) == 0

    assert passed in (99, 100)


def test_people_do_not_share_a_pace_and_owners_have_none() -> None:
    pace = spent(FakeClock())

    assert pace.run_wait(TEAM, person("carl")) == 0
    assert [pace.run_wait(TEAM, person("ann")) for _ in range(100)] == [0] * 100


def test_what_was_said_while_nobody_listened_does_not_count_by_the_platform_s_time() -> None:
    clock = FakeClock()
    pace = spent(clock)

    assert pace.turn_wait([said(clock.now - 1)]) == 0
    assert pace.turn_wait([said(clock.now - 1), said(clock.now)]) > 0
    clock.now += 1
    pace.listens("memory")
    assert pace.turn_wait([said(clock.now - 1)]) == 0


def test_only_so_many_people_are_remembered() -> None:
    pace = spent(FakeClock())
    for number in range(REMEMBERED):
        pace.run_wait(TEAM, person(f"person {number}"))

    assert pace.run_wait(TEAM, person("bob")) == 0


def last_heard(bot: Bot) -> list[str]:
    return [text_of(each.content) for each in bot.llm.requests[-1].messages if isinstance(each, UserMessage)]


async def test_what_is_over_the_pace_waits_and_becomes_one_turn(wired_bot: StartBot) -> None:  # S2-42, D-18
    clock = HandClock()
    channel = MemoryChannel(limits=NO_PACE, now=clock.time)
    bot = await wired_bot(*[f"answer {number}" for number in range(11)], channel=channel, clock=clock)
    for number in range(BURST):
        await bot.hears(f"{number}", sender="bob")

    for words in ("and", "what", "now?"):
        await channel.hears(words, sender="bob")
    assert len(bot.screen) == BURST
    async with clock.going_on():
        await channel.until(lambda: bot.screen[-1] == "answer 10")

    assert last_heard(bot)[-3:] == ["and", "what", "now?"]


async def test_in_a_group_others_do_not_wait_for_whoever_has_to(start_bot: StartBot) -> None:
    clock = HandClock()
    channel = MemoryChannel(limits=NO_PACE, now=clock.time)
    bot = await start_bot(*[f"answer {number}" for number in range(12)], channel=channel, clock=clock)
    for number in range(BURST):
        await bot.hears(f"{number}", sender="bob", group="team")

    await channel.hears("I again", sender="bob", group="team")
    await channel.hears("me too", sender="carl", group="team")
    await channel.until(lambda: len(bot.screen) == BURST + 1)

    assert last_heard(bot)[-1] == "me too"


async def test_who_waits_for_the_pace_is_heard_in_the_conversation_that_somebody_begins_meanwhile(
    start_bot: StartBot,
) -> None:
    clock = HandClock()
    channel = MemoryChannel(limits=NO_PACE, now=clock.time)
    bot = await start_bot(*[f"answer {number}" for number in range(12)], channel=channel, clock=clock)
    for number in range(BURST):
        await bot.hears(f"{number}", sender="bob", group="team")
    await channel.hears("I again", sender="bob", group="team")

    await channel.hears("/new", sender="ann", group="team")
    await channel.until(lambda: bot.screen[-1].startswith("New conversation started."))
    async with clock.going_on():
        await channel.until(lambda: bot.screen[-1] == "answer 10")
    await bot.hears("and what did Bob say?", sender="ann", group="team")

    assert [text_of(each.content) for each in bot.llm.requests[BURST].messages] == ["I again"]
    assert "I again" in last_heard(bot)


async def test_a_stop_drops_what_waits_for_the_pace(start_bot: StartBot) -> None:
    clock = HandClock()
    channel = MemoryChannel(limits=NO_PACE, now=clock.time)
    bot = await start_bot(*[f"answer {number}" for number in range(10)], channel=channel, clock=clock)
    for number in range(BURST):
        await bot.hears(f"{number}", sender="bob")

    await channel.hears("one more", sender="bob")
    await bot.hears("/stop", sender="bob")

    assert len(bot.llm.requests) == BURST
    assert await bot.made.base.store.inbox.waiting() == []


class Offers(Plugin):
    """Offers words to say."""

    name = "offers"

    def commands(self) -> Sequence[Command]:
        async def offer(_: Invocation) -> Answer:
            return Quoting(OutboundMessage(markdown="Ask me:", buttons=((Button(label=SUM, action=SUM),),)), CLEAN)

        return (Command("offer", {"en": "Offer words", "zh": "提供例句"}, offer, rights=always(TALK)),)


async def test_a_button_that_says_words_keeps_the_pace_and_one_that_commands_does_not(start_bot: StartBot) -> None:
    clock = HandClock()
    channel = MemoryChannel(limits=NO_PACE, now=clock.time)
    answers = [f"answer {number}" for number in range(10)]
    bot = await start_bot(*answers, channel=channel, clock=clock, plugins=(Offers,))
    await bot.hears("/offer", sender="bob")
    await bot.hears("/language", sender="bob")
    for _ in range(BURST):
        await bot.channel.presses(SUM, sender="bob")
        await bot.app.settled()

    await bot.channel.presses(SUM, sender="bob")
    await bot.channel.presses("English", sender="bob")
    await channel.until(lambda: "I will use English here." in bot.screen)

    assert len(bot.llm.requests) == BURST


@pytest.mark.parametrize("refused", [1, 3])
async def test_of_more_messages_than_may_wait_each_is_refused_by_name(start_bot: StartBot, refused: int) -> None:
    writing = asyncio.Event()
    bot = await start_bot(Waits(writing, "First."), "All of it.", channel=MemoryChannel(limits=NO_PACE))
    await bot.channel.hears("start", sender="ann", group="team")
    await bot.channel.until(lambda: len(bot.llm.requests) == 1)

    for number in range(MOST_WAITING):
        await bot.channel.hears(f"message {number}", sender="bob", group="team")
    for number in range(refused):
        await bot.channel.hears(f"too much *{number}*", sender="bob", group="team", files={f"{number}.csv": b"1"})
    await bot.channel.until(lambda: all(f"{number}.csv" in "".join(bot.screen) for number in range(refused)))
    writing.set()
    await bot.app.settled()

    assert last_heard(bot)[-1].endswith(f"message {MOST_WAITING - 1}")
    assert f"You already have {MOST_WAITING} messages waiting" in "".join(bot.screen)
    assert bot.screen[-1] == "All of it."
    assert await bot.made.base.store.inbox.waiting() == []


async def test_a_refusal_that_has_failed_keeps_no_later_one_back(
    start_bot: StartBot, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("gateway.chat.run_pace.MOST_WAITING", 0)
    errors, add = [sqlite3.OperationalError("disk I/O error")], Outbox.add

    async def failing(rows: Outbox, *given: Any, **how: Any) -> None:
        if errors:
            raise errors.pop()
        await add(rows, *given, **how)

    bot = await start_bot()
    monkeypatch.setattr(Outbox, "add", failing)
    await bot.hears("one")
    assert bot.screen == []

    await bot.hears("two")

    assert ["two" in text for text in bot.screen] == [True]


async def test_an_event_that_comes_again_is_not_answered_again(start_bot: StartBot) -> None:
    bot = await start_bot("one", "two")
    await bot.hears("hello", sender="bob")
    for _ in range(30):
        await bot.channel.deliver(bot.channel.heard[0])

    await bot.hears("again", sender="bob")

    assert bot.screen == ["one", "two"]


async def test_commands_that_cost_a_model_run_are_counted_and_refused_with_the_seconds(start_bot: StartBot) -> None:
    clock = HandClock()
    channel = MemoryChannel(limits=NO_PACE, now=clock.time)
    bot = await start_bot(*[f"answer {number}" for number in range(30)], channel=channel, clock=clock)
    for number in range(BURST):
        await bot.hears(f"{number}", sender="bob")

    await bot.hears("/compact", sender="bob")

    assert bot.screen[-1] == "You have just asked for a lot. Please try that again in 6 s."
    assert len(bot.llm.requests) == BURST
