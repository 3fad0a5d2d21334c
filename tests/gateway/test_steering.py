"""Messages during a run: who steers it, who waits, and what a stop discards."""

import asyncio
from collections.abc import Awaitable

from agent_core.messages import text_of
from agent_core.models.llm import FailureKind
from agent_core.models.scripted import Failure, Waits, calls
from agent_core.tools.tool import tool
from channels.attachments import Attachment
from channels.base import MessageReceived
from channels.memory import MemoryChannel
from tests.gateway.bot import Bot
from tests.gateway.conftest import StartBot
from tests.gateway.taking_in import taken_in


@tool()
async def look() -> str:
    """Look."""
    return "seen"


class SlowFiles(MemoryChannel):
    """Serves files only after `let` is set."""

    def __init__(self) -> None:
        super().__init__()
        self.asked = 0
        self.let = asyncio.Event()

    async def download(self, attachment: Attachment) -> bytes:
        self.asked += 1
        await self.let.wait()
        return await super().download(attachment)


def asked(bot: Bot, times: int) -> Awaitable[None]:
    return bot.channel.until(lambda: len(bot.llm.requests) == times)


def heard_by_the_model(bot: Bot, number: int = -1) -> list[str]:
    return [text_of(message.content) for message in bot.llm.requests[number].messages if message.role == "user"]


def newest(bot: Bot) -> MessageReceived:
    event = bot.channel.heard[-1]
    assert isinstance(event, MessageReceived)
    return event


async def test_all_that_waits_reaches_the_run_together(wired_bot: StartBot) -> None:  # C-18, D-11
    said = asyncio.Event()
    bot = await wired_bot(Waits(said, calls(("look", {}))), "Bergen, by train.", tools=(look,))
    await bot.channel.hears("a trip to Oslo")
    await asked(bot, 1)

    await bot.channel.hears("no, Bergen")
    await bot.channel.hears("by train")
    await taken_in(bot, 2)
    said.set()
    await bot.app.settled()

    assert heard_by_the_model(bot) == ["a trip to Oslo", "no, Bergen", "by train"]
    assert bot.screen == ["Bergen, by train."]


async def test_two_answers_of_one_run_stand_in_one_message(wired_bot: StartBot) -> None:
    said = asyncio.Event()
    bot = await wired_bot(Waits(said, "Oslo it is."), "Bergen then.")
    await bot.channel.hears("a trip to Oslo")
    await asked(bot, 1)
    await bot.channel.hears("no, Bergen")
    await taken_in(bot)
    said.set()
    await bot.app.settled()

    assert bot.screen == ["Oslo it is.\n\nBergen then."]


async def test_an_owner_steers_what_somebody_else_began(wired_bot: StartBot) -> None:  # D-11
    said = asyncio.Event()
    bot = await wired_bot(Waits(said, "Oslo."), "Bergen.")
    await bot.channel.hears("a trip", sender="bob", group="team")
    await asked(bot, 1)
    await bot.channel.hears("to Bergen", sender="ann", group="team")
    await taken_in(bot, group="team")
    said.set()
    await bot.app.settled()

    assert bot.screen == ["Oslo.\n\nBergen."]


async def test_what_others_wrote_meanwhile_is_answered_person_by_person(wired_bot: StartBot) -> None:  # D-11
    said = asyncio.Event()
    bot = await wired_bot(Waits(said, "For Bob."), "For Carl.")
    await bot.channel.hears("mine", sender="bob", group="team")
    await asked(bot, 1)
    await bot.channel.hears("one", sender="carl", group="team")
    await bot.channel.hears("two", sender="carl", group="team")
    said.set()
    await bot.app.settled()

    assert heard_by_the_model(bot)[-2:] == ["one", "two"]
    assert bot.screen == ["For Bob.", "For Carl."]


async def test_what_comes_too_late_begins_the_next_run(wired_bot: StartBot) -> None:
    said = asyncio.Event()
    bot = await wired_bot(Waits(said, Failure(FailureKind.FATAL)), "Bergen.")
    await bot.channel.hears("a trip to Oslo")
    await asked(bot, 1)
    await bot.channel.hears("no, Bergen")
    said.set()
    await bot.app.settled()

    assert len(bot.screen) == 2
    assert bot.screen[1] == "Bergen."  # C-19
    assert await bot.made.base.store.inbox.waiting() == []


async def test_a_message_with_a_file_keeps_its_place_among_the_others(wired_bot: StartBot) -> None:
    said = asyncio.Event()
    channel = SlowFiles()
    bot = await wired_bot(Waits(said, "One."), "Two.", channel=channel)
    await bot.channel.hears("first")
    await asked(bot, 1)
    await bot.channel.hears("with a file", files={"a.txt": b"a"})
    await bot.channel.hears("after it")
    await bot.channel.until(lambda: channel.asked == 1)
    channel.let.set()
    await taken_in(bot, 2)
    said.set()
    await bot.app.settled()

    assert [words.splitlines()[0] for words in heard_by_the_model(bot)] == ["first", "with a file", "after it"]


async def test_a_file_that_takes_longer_than_the_run_does_not_steer_somebody_else_s(wired_bot: StartBot) -> None:
    first, second = asyncio.Event(), asyncio.Event()
    channel = SlowFiles()
    bot = await wired_bot(Waits(first, "Bob 1."), Waits(second, "Carl."), "Bob 2.", channel=channel)
    await bot.channel.hears("mine", sender="bob", group="team")
    await asked(bot, 1)
    await bot.channel.hears("carl's", sender="carl", group="team")
    await bot.channel.hears("look", sender="bob", group="team", files={"a.txt": b"a"})
    await bot.channel.until(lambda: channel.asked == 1)
    first.set()
    await asked(bot, 2)
    channel.let.set()
    second.set()
    await bot.app.settled()

    assert bot.screen == ["Bob 1.", "Carl.", "Bob 2."]


async def test_what_follows_a_file_that_takes_longer_than_the_run_begins_the_next_run_with_it(
    wired_bot: StartBot,
) -> None:
    said = asyncio.Event()
    channel = SlowFiles()
    bot = await wired_bot(Waits(said, "Oslo."), "A ticket to Bergen.", channel=channel)
    await bot.channel.hears("a trip to Oslo")
    await asked(bot, 1)
    await bot.channel.hears("look", files={"a.txt": b"a"})
    await bot.channel.until(lambda: channel.asked == 1)
    await bot.channel.hears("and here", files={"b.txt": b"b"})
    await bot.channel.hears("what are they?")
    said.set()
    await bot.channel.until(lambda: bot.screen == ["Oslo."])
    channel.let.set()
    await bot.app.settled()

    heard = [words.splitlines()[0] for words in heard_by_the_model(bot, 1)]
    assert heard == ["a trip to Oslo", "look", "and here", "what are they?"]
    assert bot.screen == ["Oslo.", "A ticket to Bergen."]


# Stopping


async def test_a_stop_drops_what_the_person_sent_before_it(wired_bot: StartBot) -> None:
    never = asyncio.Event()
    bot = await wired_bot(Waits(never), "Something new.")
    await bot.channel.hears("one")
    await asked(bot, 1)
    await bot.channel.hears("two")
    await taken_in(bot)
    await bot.hears("/stop")
    assert bot.screen == ["Stopped."]
    await bot.restart()
    await bot.app.settled()
    assert bot.screen == ["Stopped."]

    await bot.hears("something else")

    assert bot.screen[1] == "Something new."
    assert "two" not in heard_by_the_model(bot)


async def test_a_stop_drops_a_message_whose_file_is_still_fetched(wired_bot: StartBot) -> None:
    never = asyncio.Event()
    channel = SlowFiles()
    bot = await wired_bot(Waits(never), channel=channel)
    await bot.channel.hears("one")
    await asked(bot, 1)
    await bot.channel.hears("two", files={"a.txt": b"a"})
    await bot.channel.until(lambda: channel.asked == 1)
    await bot.channel.hears("/stop")
    await bot.channel.until(lambda: bot.screen == ["Stopped."])
    channel.let.set()
    await bot.app.settled()

    assert bot.screen == ["Stopped."]
    assert await bot.made.base.store.inbox.waiting() == []


async def test_a_stop_reaches_a_run_whose_own_files_are_still_fetched(wired_bot: StartBot) -> None:
    channel = SlowFiles()
    bot = await wired_bot(channel=channel)
    await bot.channel.hears("look", files={"a.txt": b"a"})
    await bot.channel.until(lambda: channel.asked == 1)
    await bot.channel.hears("/stop")
    channel.let.set()
    await bot.app.settled()

    assert bot.screen == ["Stopped."]
    assert bot.llm.requests == []


async def test_what_is_sent_after_a_stop_is_answered(wired_bot: StartBot) -> None:
    never = asyncio.Event()
    bot = await wired_bot(Waits(never), "Here.")
    await bot.channel.hears("one")
    await asked(bot, 1)
    await bot.channel.hears("/stop")
    await bot.channel.hears("two")
    await bot.app.settled()

    assert bot.screen == ["Stopped.", "Here."]


async def test_others_who_wait_are_answered_after_a_stop(wired_bot: StartBot) -> None:
    never = asyncio.Event()
    bot = await wired_bot(Waits(never), "For Carl.")
    await bot.channel.hears("mine", sender="bob", group="team")
    await asked(bot, 1)
    await bot.channel.hears("and mine", sender="carl", group="team")
    await bot.channel.hears("/stop", sender="bob", group="team")
    await bot.app.settled()

    assert bot.screen == ["Stopped.", "For Carl."]


# Edited messages


async def test_a_message_that_waits_says_what_it_was_edited_to(wired_bot: StartBot) -> None:
    said = asyncio.Event()
    bot = await wired_bot(Waits(said, "For Bob."), "For Carl.")
    await bot.channel.hears("mine", sender="bob", group="team")
    await asked(bot, 1)
    await bot.channel.hears("tpyo", sender="carl", group="team")
    await bot.channel.changes(newest(bot), "typo")
    said.set()
    await bot.app.settled()

    assert heard_by_the_model(bot)[-1] == "typo"


async def test_a_message_on_its_way_into_the_run_says_what_it_was_edited_to(wired_bot: StartBot) -> None:
    said = asyncio.Event()
    bot = await wired_bot(Waits(said, "One."), "Two.")
    await bot.channel.hears("first")
    await asked(bot, 1)
    await bot.channel.hears("tpyo")
    await taken_in(bot)
    await bot.channel.changes(newest(bot), "typo")
    await bot.channel.until(lambda: bot.made.events.handling.is_idle)
    said.set()
    await bot.app.settled()

    assert heard_by_the_model(bot) == ["first", "typo"]


async def test_an_edit_while_its_file_is_fetched_is_not_lost(wired_bot: StartBot) -> None:
    said = asyncio.Event()
    channel = SlowFiles()
    bot = await wired_bot(Waits(said, "One."), "Two.", channel=channel)
    await bot.channel.hears("first")
    await asked(bot, 1)
    await bot.channel.hears("tpyo", files={"a.txt": b"a"})
    await bot.channel.until(lambda: channel.asked == 1)
    await bot.channel.changes(newest(bot), "typo")
    channel.let.set()
    await bot.channel.until(lambda: channel.asked == 2)
    await bot.channel.until(lambda: bot.made.events.handling.is_idle)
    said.set()
    await bot.app.settled()

    assert heard_by_the_model(bot)[-1] == "typo"


async def test_an_edit_survives_a_restart(wired_bot: StartBot) -> None:
    never = asyncio.Event()
    bot = await wired_bot(Waits(never), "For Bob.", "For Carl.")
    await bot.channel.hears("mine", sender="bob", group="team")
    await asked(bot, 1)
    await bot.channel.hears("tpyo", sender="carl", group="team")
    await bot.channel.changes(newest(bot), "typo")
    await bot.channel.until(lambda: bot.made.events.handling.is_idle)
    await bot.restart()
    await bot.app.settled()

    assert heard_by_the_model(bot)[-1] == "typo"
    assert bot.screen == ["For Bob.", "For Carl."]
