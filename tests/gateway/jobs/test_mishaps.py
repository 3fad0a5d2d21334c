"""Failures of our own or of a file: the chat is told, and gets what can still be sent."""

import asyncio
import errno
from dataclasses import replace
from pathlib import Path

from agent_core.models.scripted import Waits, calls
from agent_core.tools.tool import ToolContext, tool
from channels.base import ChannelError, ChatKey, OutboundMessage, Posted
from channels.memory import NO_PACE, MemoryChannel
from gateway.store.job import DeliveryState, FiringState, JobState, Report
from gateway.store.rule import Once
from tests.gateway.jobs.conftest import StartTimedBot
from tests.gateway.jobs.kit import a_job, moment, seen
from tests.gateway.jobs.test_reports import draw
from tests.gateway.tasking import rows

SALES = a_job(Report(instructions="Report the sales."), Once(at=moment("2026-11-23 09:00")))
WITH_CHART = (calls(("draw", {})), calls(("send_file", {"path": "chart.txt"})))


@tool(acts="write")
async def spoil(context: ToolContext) -> str:
    """Delete the copy that waits to be sent, but keep its name in the message."""
    [copy] = Path(context.workspace).parents[1].glob("outgoing/*/00-*/chart.txt")
    copy.unlink()
    copy.symlink_to("nowhere")
    return "spoilt"


async def test_a_mistake_of_ours_ends_it_and_is_told(start_bot: StartTimedBot) -> None:
    bot = await start_bot(*WITH_CHART, calls(("spoil", {})), "Sales: 42.", tools=(draw, spoil))
    await bot.has(SALES)
    bot.at("2026-11-23 09:00")
    await bot.look()

    [said] = bot.screen
    assert "Something went wrong on our side." in said
    assert "FileNotFoundError" not in said
    firing = await bot.firing(SALES)
    assert (firing.state, firing.cause, firing.delivery) == (FiringState.FAILED, "mistake", DeliveryState.SENT)
    assert firing.tokens > 0
    assert rows(bot.home, "SELECT state, reason FROM runs WHERE kind = 'task'") == [("done", "error")]
    assert rows(bot.home, "SELECT count(*) FROM inbox WHERE state = 'new'") == [(0,)]


async def test_after_a_mistake_on_the_way_to_people_it_is_sent_all_the_same(start_bot: StartTimedBot) -> None:
    bot = await start_bot("Sales: 42.")
    await bot.has(SALES)
    bot.channel.fails("send", RuntimeError("a mistake in the adapter"))  # type: ignore[arg-type]
    bot.at("2026-11-23 09:00")
    await bot.look()

    assert [said.endswith("Sales: 42.") for said in bot.screen] == [True]
    assert (await bot.firing(SALES)).state is FiringState.DONE


class LacksHandles(MemoryChannel):
    """A platform on which no file can be opened the first time a message is split."""

    lacking = True

    def split(self, message: OutboundMessage) -> tuple[OutboundMessage, ...]:
        if self.lacking:
            self.lacking = False
            raise OSError(errno.EMFILE, "Too many open files")
        return super().split(message)


async def test_a_reminder_is_said_once_the_machine_has_what_it_lacked(start_bot: StartTimedBot) -> None:
    bot = await start_bot(channel=LacksHandles(limits=NO_PACE))
    tea = a_job("make tea", Once(at=moment("2026-11-23 09:00")))
    await bot.has(tea)
    bot.at("2026-11-23 09:00")
    await bot.look()

    assert [said.endswith("make tea") for said in bot.screen] == [True]
    assert (await bot.firing(tea)).state is FiringState.DONE


class TakesNoFiles(MemoryChannel):
    """A platform where files are not allowed or are too large."""

    async def send(self, chat: ChatKey, message: OutboundMessage, key: str) -> Posted:
        if message.attachments:
            raise ChannelError("the file is too large", permanent=True)
        return await super().send(chat, message, key)


async def test_a_file_that_is_not_taken_does_not_keep_the_words(start_bot: StartTimedBot) -> None:
    channel = TakesNoFiles(limits=NO_PACE)
    bot = await start_bot(*WITH_CHART, "Sales: 42.", tools=(draw,), channel=channel)
    other = a_job("make tea", name="def456")
    await bot.has(SALES, other)
    bot.at("2026-11-23 08:59")
    await bot.fires(SALES)
    await bot.settled()

    assert [said.endswith("Sales: 42.") for said in bot.screen] == [True]
    assert (await bot.firing(SALES)).delivery_error == "chart.txt: the file is too large"
    assert (await bot.job(other)).state is JobState.ACTIVE


async def test_who_has_blocked_us_is_known_by_reports_with_files_too(start_bot: StartTimedBot) -> None:
    bot = await start_bot(*WITH_CHART, "Sales: 42.", tools=(draw,))
    other = a_job("make tea", name="def456")
    await bot.has(SALES, other)
    bot.channel.fails("send", ChannelError("bot was blocked by the user", permanent=True), times=2)
    bot.at("2026-11-23 08:59")
    await bot.fires(SALES)
    await bot.settled()

    assert bot.screen == []
    assert (await bot.job(other)).state is JobState.PAUSED


async def test_what_arrives_in_part_shows_that_the_chat_is_there(start_bot: StartTimedBot) -> None:
    bot = await start_bot()
    await bot.has(a_job("tea " * 1_500))
    bot.channel.fails("send", ChannelError("no", permanent=True))
    bot.at("2026-11-23 09:00")
    await bot.look()

    assert (await bot.job("abc123")).state is JobState.ACTIVE


async def test_what_cannot_be_noted_keeps_nothing_else_from_the_conversation(start_bot: StartTimedBot) -> None:
    working = Waits(asyncio.Event(), "Hello.")
    bot = await start_bot(working, "Yes.")
    odd, tea = replace(a_job("wash up", name="odd000"), zone="Mars/Base"), a_job("make tea")
    await bot.has(odd, tea)
    await bot.channel.hears("hi")
    await working.reached.wait()
    bot.at("2026-11-23 09:00")
    for job in (odd, tea):
        await bot.fires(job)
    await bot.channel.until(lambda: "⏰ make tea" in bot.screen)
    working.event.set()
    await bot.settled()
    await bot.hears("is that all?")

    assert "⏰ make tea" in seen(bot.llm.requests[-1])
