"""A plugin keeps a chat's next run waiting: people are told why, nothing is lost, and nothing else waits."""

import asyncio
from typing import ClassVar

import pytest

from agent_core.messages import text_of
from agent_core.models.scripted import calls
from agent_core.tools.tool import tool
from channels.base import ChatKey
from channels.memory import user
from gateway.chat.holds import HoldUntil
from gateway.plugin import Plugin
from tests.gateway.bot import Bot
from tests.gateway.conftest import StartBot
from tests.gateway.jobs.kit import Calendar
from tests.gateway.tasking import rows
from tests.gateway.test_queue import numbers
from tests.process import until

LONG = 300.0
"""Seconds."""


class Keeps(Plugin):
    """Lets the chat of Bob wait while it is closed."""

    name = "keeps"
    is_closed: ClassVar[bool] = True
    seconds: ClassVar[float] = LONG
    asked: ClassVar[list[str]]

    async def hold(self, chat: ChatKey) -> HoldUntil | None:
        self.asked.append(chat.chat)
        is_held = self.is_closed and chat.chat == "bob"
        return HoldUntil(f"{self.name}_why", self.core.clock.time() + self.seconds) if is_held else None


def keeps(called: str = "keeps", *, seconds: float = LONG) -> type[Keeps]:
    """Return the plugin, closed, which is asked again after so many seconds."""
    texts = {f"{called}_why": {"en": "The workshop is closed.", "zh": "工坊暂停营业。"}}
    return type("Fresh", (Keeps,), {"name": called, "texts": texts, "seconds": seconds, "asked": []})


async def is_held(bot: Bot, plugin: type[Keeps], text: str = "hello") -> None:
    """Let Bob write, and the plugin let his chat wait."""
    before = len(plugin.asked)
    await bot.channel.hears(text, sender="bob")
    await bot.channel.until(lambda: len(plugin.asked) > before)


def heard(bot: Bot) -> list[str]:
    return [text_of(each.content) for each in bot.llm.requests[-1].messages if each.role == "user"]


async def test_what_is_written_meanwhile_is_answered_once_the_plugin_lets_it(start_bot: StartBot) -> None:
    plugin, clock = keeps(), Calendar()
    bot = await start_bot("Both.", plugins=(plugin,), clock=clock)

    await is_held(bot, plugin, "one")
    await bot.channel.hears("two", sender="bob")
    await until(lambda: len(bot.made.chats.sessions.of(bot.channel.chat("bob")).mail) == 2)
    assert bot.llm.requests == []
    plugin.is_closed = False
    clock.advance(LONG)
    await bot.app.settled()

    assert bot.screen == ["Both."]
    assert heard(bot) == ["one", "two"]


@pytest.mark.parametrize(
    ("language", "words", "now"),
    [
        ("en", "**Why:** The workshop is closed. It is looked at again in 5 min.", "waiting. The workshop is closed."),
        ("zh", "**原因**：工坊暂停营业。5 分钟后再看。", "等待中。工坊暂停营业。"),
    ],
)
async def test_people_are_told_why_and_until_when(start_bot: StartBot, language: str, words: str, now: str) -> None:
    plugin = keeps()
    bot = await start_bot(plugins=(plugin,))
    await is_held(bot, plugin)

    await bot.channel.hears("/queue", sender=user("bob", language))
    await bot.channel.until(lambda: words in "".join(bot.screen))
    await bot.channel.hears("/status", sender=user("bob", language))
    await bot.channel.until(lambda: now in bot.screen[-1])


async def test_what_waits_can_be_dropped(start_bot: StartBot) -> None:
    plugin = keeps()
    bot = await start_bot(plugins=(plugin,))
    await is_held(bot, plugin)

    await bot.channel.hears("/queue drop all", sender="bob")
    await bot.channel.until(lambda: bot.screen[-1:] != [] and bot.screen[-1].startswith("Dropped."))

    assert len(numbers(bot.screen[-1])) == 1
    assert await bot.made.base.store.inbox.waiting() == []


async def test_other_chats_go_on(start_bot: StartBot) -> None:
    plugin = keeps()
    bot = await start_bot("Hi, Ann.", plugins=(plugin,))
    await is_held(bot, plugin)

    await bot.channel.hears("hello", sender="ann")
    await bot.channel.until(lambda: bot.screen == ["Hi, Ann."])


async def test_a_run_that_was_begun_goes_on_and_is_steered(start_bot: StartBot) -> None:
    @tool()
    async def look() -> str:
        """Look."""
        await shut.wait()
        return "seen"

    plugin, shut = keeps(), asyncio.Event()
    plugin.is_closed = False
    bot = await start_bot(calls(("look", {})), "Bergen.", plugins=(plugin,), tools=(look,))
    await bot.channel.hears("plan a trip to Oslo", sender="bob")
    await bot.channel.until(lambda: len(bot.llm.requests) == 1)

    plugin.is_closed = True
    await bot.channel.hears("no, Bergen", sender="bob")
    mail = bot.made.chats.sessions.of(bot.channel.chat("bob")).mail
    await until(lambda: any(map(mail.is_given, mail)))
    shut.set()
    await bot.app.settled()

    assert bot.screen[-1] == "Bergen."
    assert heard(bot) == ["plan a trip to Oslo", "no, Bergen"]
    assert plugin.asked == ["bob"]


async def test_after_a_restart_the_plugin_is_asked_anew(start_bot: StartBot) -> None:
    plugin = keeps()
    bot = await start_bot("At last.", plugins=(plugin,))
    await is_held(bot, plugin)
    assert rows(bot.home, "SELECT state FROM inbox") == [("new",)]

    plugin.is_closed = False
    await bot.restart()
    await bot.app.settled()

    assert bot.screen == ["At last."]


async def test_it_waits_for_the_first_plugin_that_says_so_and_then_for_the_next(start_bot: StartBot) -> None:
    one, two, clock = keeps("one"), keeps("two"), Calendar()
    bot = await start_bot("At last.", plugins=(one, two), clock=clock)
    await is_held(bot, one)
    assert two.asked == []

    one.is_closed = False
    clock.advance(LONG)
    await bot.channel.until(lambda: bool(two.asked))
    assert bot.screen == []
    two.is_closed = False
    clock.advance(LONG)
    await bot.app.settled()

    assert bot.screen == ["At last."]


@pytest.mark.parametrize(
    ("seconds", "failure"),
    [(-1.0, ""), (float("inf"), "hold named no time at which it is asked again")],
)
async def test_no_time_to_come_is_no_reason_to_wait(start_bot: StartBot, seconds: float, failure: str) -> None:
    plugin = keeps(seconds=seconds)
    bot = await start_bot("At once.", plugins=(plugin,))

    await bot.hears("hello", sender="bob")

    assert bot.screen == ["At once."]
    failures = bot.made.base.system.plugins.failures.of(plugin.name)
    assert [each.reason for each in failures] == ([failure] if failure else [])


async def test_a_stop_of_the_program_waits_for_no_plugin(start_bot: StartBot) -> None:
    plugin = keeps()
    bot = await start_bot("At last.", plugins=(plugin,))
    await is_held(bot, plugin)

    async with asyncio.timeout(10):
        await bot.made.app.drained(5.0)
        await bot.stop()

    assert rows(bot.home, "SELECT state FROM inbox") == [("new",)]
