"""What plugins owe chats after an answer is done once: at the end of the run, or after a restart or a kill."""

import asyncio
from collections.abc import Awaitable, Callable, Iterable, Mapping, Sequence
from pathlib import Path
from typing import ClassVar

import pytest
from structlog.testing import capture_logs

from agent_core.origin import CLEAN
from channels.base import ChannelError, OutboundMessage
from channels.memory import NO_PACE, MemoryChannel
from gateway.app.plugins import OWED_WITHIN, PluginFailed
from gateway.plugin import Plugin
from gateway.runs import owed as owed_work
from gateway.runs.owed import MOST_ATTEMPTS, Doer
from gateway.store.connection import Connection
from gateway.store.owed import Owed
from gateway.store.rows import Post, Run, RunEnd
from tests.clock import Hasty
from tests.gateway.bot import Bot, BotOptions
from tests.gateway.conftest import StartBot
from tests.gateway.peopled import Platform
from tests.gateway.spending_sequences import copy_home
from tests.gateway.tasking import rows
from tests.process import until

DOWN = ChannelError("down", retry_after=60.0)


class Adds(Plugin):
    """Adds a line to each answer, after it."""

    name = "adds"
    begun = asyncio.Semaphore(0)
    """Released with each attempt."""
    held: ClassVar[asyncio.Event]
    """Until it is set, no attempt goes on."""
    fails: ClassVar[int] = 0
    """Attempts that fail."""

    def owed(self) -> Mapping[str, Doer]:
        return {"line": self.add}

    def ended(self, run: Run, how: RunEnd, tx: Connection) -> Iterable[Owed]:
        return [Owed("line", run.id, run.chat, {"words": f"That was {how.reason.value}."})]

    async def add(self, item: Owed) -> Sequence[Post]:
        self.begun.release()
        await self.held.wait()
        if self.fails:
            type(self).fails -= 1
            raise RuntimeError("it stumbled")
        words = OutboundMessage(markdown=str(item.data["words"]))
        return [Post(f"{item.run}:line:0", item.run, item.chat, words, CLEAN)]


@pytest.fixture
def adds() -> type[Adds]:
    """The plugin, which does its work at once."""

    class Fresh(Adds):
        begun = asyncio.Semaphore(0)
        held = asyncio.Event()

    Fresh.held.set()
    return Fresh


def left_in(home: Path) -> list[tuple[object, ...]]:
    return rows(home, "SELECT kind, attempts FROM owed")


async def left(bot: Bot) -> list[tuple[str, int]]:
    return [(each.kind, each.attempts) for each in await bot.made.base.store.owed.left()]


async def lines(bot: Bot) -> int:
    """Return how many lines the plugin has written that breaks."""

    def count(connection: Connection) -> int:
        (found,) = connection.execute("SELECT count(*) FROM breaks_lines").fetchone()
        return int(found)

    return await bot.made.base.store.owed.read(count)


async def test_a_line_follows_each_answer(start_bot: StartBot, adds: type[Adds]) -> None:
    bot = await start_bot("One.", "Two.", plugins=(adds,))

    await bot.hears("first")
    await bot.hears("second")

    assert bot.screen == ["One.", "That was completed.", "Two.", "That was completed."]
    assert await left(bot) == []


def last_failure(bot: Bot, plugin: str) -> tuple[str, str]:
    """Return what /plugins shows of the last failure of a plugin."""
    failure = bot.made.base.system.plugins.failures.of(plugin)[0]
    return failure.where, failure.reason


# Kills


async def before_the_answer_is_sent(bot: Bot, adds: type[Adds]) -> None:
    bot.channel.fails("send", DOWN)
    await bot.channel.hears("hello")
    await until(lambda: left_in(bot.home) == [("line", 0)])


async def while_it_is_done(bot: Bot, adds: type[Adds]) -> None:
    adds.held.clear()
    await bot.channel.hears("hello")
    await asyncio.wait_for(adds.begun.acquire(), 30)


async def before_its_message_is_sent(bot: Bot, adds: type[Adds]) -> None:
    adds.held.clear()
    await bot.channel.hears("hello")
    await asyncio.wait_for(adds.begun.acquire(), 30)
    bot.channel.fails("send", DOWN)
    adds.held.set()
    await until(lambda: rows(bot.home, "SELECT 1 FROM outbox WHERE key LIKE '%:line:0'") == [(1,)])


async def after_all(bot: Bot, adds: type[Adds]) -> None:
    await bot.hears("hello")


Step = Callable[[Bot, type[Adds]], Awaitable[None]]
STEPS: Sequence[Step] = (before_the_answer_is_sent, while_it_is_done, before_its_message_is_sent, after_all)


@pytest.mark.parametrize("step", STEPS)
async def test_after_a_kill_the_answer_and_the_line_are_there_once_and_in_order(
    start_bot: StartBot, adds: type[Adds], tmp_path: Path, step: Step
) -> None:
    bot = await start_bot("Hi.", plugins=(adds,), channel=MemoryChannel(limits=NO_PACE))
    await step(bot, adds)
    image = tmp_path / "image"
    await asyncio.to_thread(copy_home, bot.home, image)  # what a kill leaves
    await bot.stop()
    adds.held.set()
    next_life = Bot(image, (), BotOptions(channel=bot.channel, plugins=(adds,)))
    await next_life.start()

    try:
        await next_life.app.settled()
        assert next_life.screen == ["Hi.", "That was completed."]
        assert await left(next_life) == []
    finally:
        await next_life.stop()


async def test_what_is_owed_on_a_platform_that_comes_later_is_done_then(
    start_bot: StartBot, adds: type[Adds], tmp_path: Path
) -> None:
    bot = await start_bot("Hi.", plugins=(adds,))
    await while_it_is_done(bot, adds)
    await bot.stop()
    adds.held.set()
    later = Bot(bot.home, (), BotOptions(channel=MemoryChannel(name="elsewhere"), plugins=(adds,)))
    await later.start()
    await later.app.settled()
    assert await left(later) == [("line", 0)]

    later.made.base.channels.put(bot.channel)
    await later.made.events.dispatcher.resume(bot.channel.name)
    await later.app.settled()

    assert bot.screen == ["Hi.", "That was completed."]
    assert await left(later) == []
    await later.stop()


# Failures


async def test_an_attempt_that_fails_is_made_again(
    start_bot: StartBot, adds: type[Adds], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(owed_work, "PAUSES", (0.01,))
    bot = await start_bot("Hi.", plugins=(adds,))
    adds.fails = 2

    await bot.hears("hello")

    assert bot.screen == ["Hi.", "That was completed."]
    assert last_failure(bot, "adds") == ("line", "RuntimeError: it stumbled")
    assert await left(bot) == []


async def test_an_attempt_that_hangs_ends_and_is_made_again(
    start_bot: StartBot, adds: type[Adds], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(owed_work, "PAUSES", (0.01,))
    bot = await start_bot("Hi.", plugins=(adds,), clock=Hasty(OWED_WITHIN))
    adds.held.clear()
    await bot.channel.hears("hello")
    for _ in range(2):
        await asyncio.wait_for(adds.begun.acquire(), 30)
    adds.held.set()
    await bot.app.settled()

    assert bot.screen == ["Hi.", "That was completed."]
    assert last_failure(bot, "adds") == ("line", "TimeoutError: it took more than 300 s")
    assert await left(bot) == []


async def test_a_mistake_behind_the_answer_leaves_nothing_undone(
    start_bot: StartBot, adds: type[Adds], monkeypatch: pytest.MonkeyPatch
) -> None:
    bot = await start_bot("Hi.", plugins=(adds,))

    async def fails(_: Run) -> None:
        raise LookupError("a mistake")

    monkeypatch.setattr(bot.made.chats.runs.ends, "delivered", fails)
    await bot.hears("hello")

    assert bot.screen == ["Hi.", "That was completed."]
    assert await left(bot) == []


async def test_what_fails_each_time_is_given_up_and_told(
    start_bot: StartBot, adds: type[Adds], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(owed_work, "PAUSES", (0.01,))
    bot = await start_bot("Hi.", plugins=(adds,), channel=Platform())
    adds.fails = MOST_ATTEMPTS + 1

    await bot.hears("hello")
    await bot.made.people.owners.settled()

    assert adds.fails == 1
    assert bot.screen[0] == "Hi."
    assert "given up after several attempts: line in memory:here:ann (RuntimeError)" in bot.screen[1]
    assert await left(bot) == []


async def test_the_pause_between_attempts_goes_on_after_a_restart(start_bot: StartBot, adds: type[Adds]) -> None:
    bot = await start_bot("Hi.", plugins=(adds,))
    adds.fails = 1
    await bot.channel.hears("hello")
    await until(lambda: left_in(bot.home) == [("line", 1)])

    await bot.restart()
    await bot.app.settled()

    assert bot.screen == ["Hi.", "That was completed."]


async def test_what_the_program_dies_of_at_each_start_is_given_up(start_bot: StartBot, adds: type[Adds]) -> None:
    bot = await start_bot("Hi.", plugins=(adds,), channel=Platform())
    adds.held.clear()
    await bot.channel.hears("hello")
    await asyncio.wait_for(adds.begun.acquire(), 30)
    for start in range(1, MOST_ATTEMPTS + 1):
        await bot.restart()
        assert left_in(bot.home) == [("line", start)]

    await bot.restart()
    await bot.app.settled()
    await bot.made.people.owners.settled()

    assert await left(bot) == []
    assert "(Parley stopped each time)" in bot.screen[-1]


class Breaks(Adds):
    """Writes something at the end of each run, and then fails."""

    name = "breaks"
    migrations = ("CREATE TABLE breaks_lines (id INTEGER PRIMARY KEY, text TEXT NOT NULL);",)
    how: ClassVar[str]

    def ended(self, run: Run, how: RunEnd, tx: Connection) -> Iterable[Owed]:
        tx.execute("INSERT INTO breaks_lines (text) VALUES (?)", ("half",))
        match self.how:
            case "raises":
                raise RuntimeError("it stumbled")
            case "bad SQL":
                tx.execute("SELECT nothing FROM breaks_lines")
            case "a kind of nobody":
                return [Owed("nobody", run.id, run.chat)]
            case _:
                return [Owed("broken line", run.id, run.chat.model_copy(update={"chat": "elsewhere"}))]
        return []

    def owed(self) -> Mapping[str, Doer]:
        return {"broken line": self.add}


@pytest.mark.parametrize("how", ["raises", "bad SQL", "a kind of nobody", "another chat"])
async def test_a_plugin_that_fails_at_the_end_of_a_run_owes_nothing_and_the_run_ends(
    start_bot: StartBot, adds: type[Adds], how: str
) -> None:
    Breaks.how = how
    with capture_logs() as logs:
        bot = await start_bot("Hi.", plugins=(Breaks, adds))
        await bot.hears("hello")

    assert bot.screen == ["Hi.", "That was completed."]
    failed = [(each["event"], each.get("plugin", each.get("name"))) for each in logs if each["log_level"] == "error"]
    assert failed == [("a plugin failed", "breaks")]
    assert (await lines(bot), await left(bot)) == (0, [])
    if how == "raises":
        assert last_failure(bot, "breaks") == ("ended", "RuntimeError: it stumbled")


# Kinds


async def test_what_a_plugin_owes_that_is_gone_stays_until_it_is_back(start_bot: StartBot, adds: type[Adds]) -> None:
    bot = await start_bot("Hi.", "Still here.", "And again.", plugins=(adds,))
    adds.held.clear()
    await bot.channel.hears("hello")
    await asyncio.wait_for(adds.begun.acquire(), 30)
    await bot.stop()
    adds.held.set()
    without = Bot(bot.home, ["Still here."], BotOptions(channel=bot.channel, plugins=()))
    await without.start()
    await without.hears("are you there?")
    assert await left(without) == [("line", 0)]
    await without.stop()

    back = Bot(bot.home, (), BotOptions(channel=bot.channel, plugins=(adds,)))
    await back.start()
    await back.app.settled()

    assert back.screen == ["Hi.", "Still here.", "That was completed."]
    assert await left(back) == []
    await back.stop()


async def test_no_plugin_takes_a_kind_of_parley_itself(start_bot: StartBot) -> None:
    class Takes(Adds):
        name = "takes"

        def owed(self) -> Mapping[str, Doer]:
            return {"heartbeat offer": self.add}

    with pytest.raises(PluginFailed, match="heartbeat offer is done already"):
        await start_bot(plugins=(Takes,))


async def test_a_message_for_another_chat_is_not_sent(
    start_bot: StartBot, adds: type[Adds], monkeypatch: pytest.MonkeyPatch
) -> None:
    class Strays(adds):  # type: ignore[misc, valid-type]
        async def add(self, item: Owed) -> Sequence[Post]:
            chat = item.chat.model_copy(update={"chat": "bob"})
            return [Post(f"{item.run}:line:0", item.run, chat, OutboundMessage(markdown="psst"), CLEAN)]

    monkeypatch.setattr(owed_work, "PAUSES", (0.01,))
    bot = await start_bot("Hi.", plugins=(Strays,))

    await bot.hears("hello")

    assert "psst" not in bot.screen


async def test_a_test_that_waits_for_a_doer_that_fails_is_told_of_the_failure(
    start_bot: StartBot, adds: type[Adds], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(owed_work, "PAUSES", (600.0,))
    adds.fails = 1
    bot = await start_bot("Hello.", "Yes.", plugins=(adds,))
    await bot.channel.hears("hi")
    await until(lambda: bool(bot.made.base.system.plugins.failures.of("adds")))
    monkeypatch.setattr("parley.testing.bot.PATIENCE", 0.1)

    with pytest.raises(AssertionError, match=r"plugins have failed \(adds, line: RuntimeError: it stumbled\)"):
        await bot.hears("are you there?")
