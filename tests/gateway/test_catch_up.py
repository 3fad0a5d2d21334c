"""What was said while nobody listened is heard later, once, and in its order."""

import asyncio
import time

from structlog.testing import capture_logs

from agent_core.messages import UserMessage, text_of
from channels.base import Addressed, ChannelError, ChatKey
from gateway.catch_up import IN_TIME, OLDEST, places
from gateway.store.rows import LastHeard
from tests.gateway.conftest import StartBot
from tests.gateway.remembering import RememberingChannel


async def test_what_was_said_in_a_gap_is_answered_once(start_bot: StartBot) -> None:
    channel = RememberingChannel()
    bot = await start_bot("First.", "Second.", channel=channel)
    await channel.brings(channel.writes("hello"))
    await bot.house.handler.settled()

    channel.writes("are you there?")
    channel.reconnect()
    await channel.until(lambda: bot.screen == ["First.", "Second."])
    channel.reconnect()
    await channel.until(lambda: len(channel.asked) == 2)
    await bot.house.handler.settled()

    assert bot.screen == ["First.", "Second."]
    assert channel.asked[0] == ("memory:here:ann", "m0", None)
    assert channel.asked[1] == ("memory:here:ann", "m1", None)


async def test_what_was_said_while_the_program_was_down_is_heard_before_what_is_said_now(start_bot: StartBot) -> None:
    channel = RememberingChannel()
    bot = await start_bot("One.", "Two.", "Three.", channel=channel)
    await channel.brings(channel.writes("first"))
    await bot.house.handler.settled()
    await bot.stop()
    channel.writes("second")

    channel.open.clear()
    channel.reconnect()
    await bot.restart()
    speaking = asyncio.create_task(channel.brings(channel.writes("third")))
    await channel.until(lambda: len(channel.asked) == 1)
    channel.open.set()
    await speaking
    await bot.house.handler.settled()

    said = [text_of(message.content) for message in bot.llm.requests[-1].messages if isinstance(message, UserMessage)]
    assert said == ["first", "second", "third"]


async def test_what_is_older_than_a_day_or_said_by_a_bot_stays_unheard(start_bot: StartBot) -> None:
    channel = RememberingChannel()
    bot = await start_bot("First.", "Last.", channel=channel)
    await channel.brings(channel.writes("hello"))
    await bot.house.handler.settled()

    channel.writes("yesterday's question", at=time.time() - OLDEST - 60)
    channel.writes("buy my coins", is_bot=True)
    channel.writes("today's question")
    channel.reconnect()

    await channel.until(lambda: bot.screen == ["First.", "Last."])
    assert len(bot.llm.requests) == 2


async def test_a_mention_outside_of_the_threads_that_are_known_is_found(start_bot: StartBot) -> None:
    channel = RememberingChannel()
    bot = await start_bot("In the thread.", "In another.", channel=channel)
    await channel.brings(channel.writes("ada, hello", group="team", thread="t1"))
    await bot.house.handler.settled()

    channel.writes("what a day", group="team", addressed=Addressed.AMBIENT)
    channel.writes("ada, help", group="team")
    channel.reconnect()

    await channel.until(lambda: bot.screen == ["In the thread.", "In another."])
    looked = [place for place, after, _ in channel.asked if after]
    assert looked[-2:] == ["memory:here:#team", "memory:here:#team:t1"]


async def test_a_history_that_cannot_be_read_is_tried_again_and_one_that_is_closed_is_left(
    start_bot: StartBot,
) -> None:
    channel = RememberingChannel()
    bot = await start_bot("For Ann.", "For Bob.", "Late.", channel=channel)
    for who in ("ann", "bob"):
        await channel.brings(channel.writes("hello", sender=who))
        await bot.house.handler.settled()

    channel.refusals = [ChannelError("gone", permanent=True), ChannelError("too fast", retry_after=0.01)]
    channel.writes("are you there?", sender="ann")
    channel.reconnect()

    await channel.until(lambda: bot.screen[-1] == "Late.")
    assert [place for place, _, _ in channel.asked] == ["memory:here:bob", "memory:here:ann", "memory:here:ann"]


async def test_a_mistake_while_catching_up_is_told_and_delays_nobody(start_bot: StartBot) -> None:
    channel = RememberingChannel()
    bot = await start_bot("First.", "Second.", channel=channel)
    await channel.brings(channel.writes("hello"))
    await bot.house.handler.settled()

    channel.refusals = [ZeroDivisionError()]
    with capture_logs() as told:
        channel.reconnect()
        await channel.until(lambda: bool(told))
        began = time.monotonic()
        await channel.brings(channel.writes("are you there?"))
        took = time.monotonic() - began
    await bot.house.handler.settled()

    assert "nothing more is caught up" in [line["event"] for line in told]
    assert bot.screen == ["First.", "Second."]
    assert took < IN_TIME


async def test_many_messages_of_a_gap_are_not_too_many(start_bot: StartBot) -> None:
    channel = RememberingChannel()
    bot = await start_bot("Hello.", *["Heard."] * 30, channel=channel)
    await channel.brings(channel.writes("hello"))
    await bot.house.handler.settled()

    for number in range(30):
        channel.writes(f"message {number}")
    channel.reconnect()

    await channel.until(lambda: any("message 29" in str(request.messages) for request in bot.llm.requests))
    await bot.house.handler.settled()
    assert not any("slow" in words.lower() for words in bot.screen)


async def test_the_first_words_of_somebody_who_wrote_while_nobody_listened_are_found(start_bot: StartBot) -> None:
    channel = RememberingChannel()
    at = time.time() + 1  # a store counts its age in whole seconds
    channel.writes("is this on?", sender="bob", at=at)
    channel.writes("let me in", sender="mallory", at=at)
    channel.reachable = {"bob", "mallory"}

    bot = await start_bot("Yes.", channel=channel)

    await channel.until(lambda: bot.screen == ["Yes."])


def test_a_chat_is_looked_into_before_its_threads() -> None:
    team, ann = ChatKey(platform="p", account="a", chat="team"), ChatKey(platform="p", account="a", chat="ann")
    first, second = (team.model_copy(update={"thread": name}) for name in ("t1", "t2"))

    marks = places([LastHeard(second, "9", 9.0), LastHeard(ann, "5", 5.0), LastHeard(first, "3", 3.0)])

    assert list(marks.items()) == [(team, "9"), (ann, "5"), (second, "9"), (first, "3")]


async def test_what_was_said_before_this_store_was_there_may_have_been_answered_out_of_another(
    start_bot: StartBot,
) -> None:
    channel = RememberingChannel()
    channel.writes("old question", sender="bob", at=time.time() - 3_600)
    channel.reachable = {"bob"}

    bot = await start_bot("Hello.", channel=channel)
    await channel.until(lambda: len(channel.asked) == 1)
    await channel.brings(channel.writes("hello"))
    await bot.house.handler.settled()

    assert bot.screen == ["Hello."]
    assert len(bot.llm.requests) == 1
