"""A message behind a gap, in a chat on which another node works: that node hears of it after those before it."""

from pathlib import Path

from agent_core.background import Background
from agent_core.clock import SystemClock
from channels.base import ChatKey
from channels.memory import MemoryChannel
from gateway.app.handler import ChannelMessageHandler
from gateway.app.peers import LocalDispatching
from gateway.chat.gaps import Gaps
from gateway.store.rows import InboxItem
from tests.gateway.bot import Bot, BotOptions
from tests.gateway.test_store import message
from tests.process import until


class Elsewhere(LocalDispatching):
    """Works on no chat, and notes what it would tell the node that does."""

    def __init__(self) -> None:
        self.told: list[str] = []

    def is_here(self, chat: ChatKey) -> bool:
        return False

    def dispatch(self, item: InboxItem, *, is_live: bool) -> None:
        self.told.append(item.event.event_id)


async def test_it_is_told_after_what_is_read_from_the_history(tmp_path: Path) -> None:
    bot = Bot(tmp_path, (), BotOptions(channel=MemoryChannel()))
    await bot.start()
    chat, before, after = bot.channel.chat("ann"), message(1), message(2)
    before, after = (each.model_copy(update={"chat": chat}) for each in (before, after))
    gaps, background, elsewhere = Gaps(SystemClock(), ()), Background("failed"), Elsewhere()
    handler = ChannelMessageHandler(bot.made.admission, elsewhere, gaps, background)
    gaps.open(chat)

    await handler.accept(after)
    assert elsewhere.told == []
    await handler.accept(before, is_live=False)
    gaps.close(chat)

    await until(lambda: elsewhere.told == [before.event_id, after.event_id])
    await background.stop()
    await bot.stop()
