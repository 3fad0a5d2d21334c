"""Very many jobs are due on one minute, and people write meanwhile."""

from datetime import timedelta

from channels.base import Limits
from channels.memory import MemoryChannel
from tests.gateway.jobs.conftest import StartTimedBot
from tests.gateway.jobs.kit import ANN, a_job

SLOWLY = Limits(max_text=4_000, edit_every=timedelta(0), calls_per_second=2)


async def test_who_writes_while_many_reminders_are_sent_is_answered_before_them(start_bot: StartTimedBot) -> None:
    bot = await start_bot("Hello, Bob.", channel=MemoryChannel(limits=SLOWLY))
    chats = [ANN.model_copy(update={"chat": f"ann{number}"}) for number in range(60)]
    await bot.has(*(a_job("make tea", name=f"job{number:03}", chat=chat) for number, chat in enumerate(chats)))

    bot.at("2026-11-23 09:00")
    await bot.house.wakes.look()
    await bot.channel.until(lambda: len(bot.screen) >= SLOWLY.calls_per_second)
    await bot.channel.hears("hello", sender="bob")
    await bot.channel.until(lambda: "Hello, Bob." in bot.screen, within=30)

    assert len(bot.screen) < 30, "half a second each"
