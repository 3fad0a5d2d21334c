"""What comes late under the earlier id of a chat follows it to the later one, and to its limits."""

import asyncio

import pytest

from agent_core.models.scripted import calls
from channels.base import ChatKey, InboundEvent
from channels.memory import NO_PACE, MemoryChannel
from channels.moved import chat_moved
from gateway.permissions.groups import TOOLS
from gateway.schedule.zones import Zones
from tests.gateway.approving import acting, questions
from tests.gateway.conftest import StartBot
from tests.gateway.ruling import rule
from tests.postgres import execute
from tests.process import until

OLD = ChatKey(platform="memory", account="here", chat="#team")
NEW = ChatKey(platform="memory", account="here", chat="#crew")
MOVED = chat_moved(OLD, NEW.chat, 0)

pytestmark = pytest.mark.usefixtures("no_progress")


@pytest.mark.parametrize("starts_again", [False, True], ids=["at once", "after a new start"])
@pytest.mark.parametrize("thread", [None, "7"], ids=["the chat", "a thread"])
async def test_limits_hold_for_what_comes_late_under_the_earlier_id(
    start_bot: StartBot, database: str | None, thread: str | None, *, starts_again: bool
) -> None:
    ran: list[list[str]] = []
    bot = await start_bot(
        calls(("run", {"command": ["draw"]})),
        "Done.",
        tools=[acting(ran=ran)],
        channel=MemoryChannel(limits=NO_PACE),
        database=database,
    )
    for tools in ("read", "write", "net", "exec", "admin"):
        await rule(bot, f"{TOOLS}{tools}", "deny")
    await bot.channel.deliver(MOVED)
    await bot.app.settled()
    if starts_again:
        await bot.stop()
        await bot.start()

    place = NEW.model_copy(update={"thread": thread})
    await bot.channel.hears("draw it", group="team", thread=thread)
    await until(lambda: bool(questions(bot)) or "Done." in bot.channel.screen_of(place))

    assert (questions(bot), ran) == ([], [])


async def test_what_comes_late_again_and_again_is_answered_each_time(start_bot: StartBot, database: str | None) -> None:
    bot = await start_bot("One.", "Two.", "Three.", channel=MemoryChannel(limits=NO_PACE), database=database)
    await bot.channel.deliver(MOVED)

    for text in ("one", "two", "three"):
        await bot.hears(text, group="team")

    assert bot.channel.screen_of(OLD) + bot.channel.screen_of(NEW) == ["One.", "Two.", "Three."]


async def test_a_message_that_is_passed_on_after_the_move_is_answered_once(
    start_bot: StartBot, database: str | None, monkeypatch: pytest.MonkeyPatch
) -> None:
    bot = await start_bot("One.", "Two.", "Three.", channel=MemoryChannel(limits=NO_PACE), database=database)
    go_on, real = asyncio.Event(), Zones.hear

    async def slow(zones: Zones, event: InboundEvent) -> None:
        await go_on.wait()
        await real(zones, event)

    monkeypatch.setattr(Zones, "hear", slow)
    hearing = asyncio.create_task(bot.channel.hears("hello", group="team"))
    await until(lambda: bool(execute(bot.home, database, "SELECT 1 FROM inbox")))
    await bot.channel.deliver(MOVED)
    await until(lambda: bool(bot.channel.screen_of(OLD) + bot.channel.screen_of(NEW)))
    go_on.set()
    await hearing
    await bot.app.settled()

    assert bot.channel.screen_of(OLD) + bot.channel.screen_of(NEW) == ["One."]
