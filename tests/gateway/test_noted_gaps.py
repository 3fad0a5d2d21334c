"""Chats that may have a gap are noted in the rows before anything of the platform is stored."""

import sqlite3
from contextlib import closing
from pathlib import Path

from channels.base import Inbox, Menu
from gateway.store.opening import FILE
from tests.gateway.conftest import StartBot
from tests.gateway.remembering import RememberingChannel
from tests.gateway.test_catch_up import ANN, BOB, talked


class OneReceiver(RememberingChannel):
    """Notes which chats have a gap by the rows when it begins to listen."""

    def __init__(self, home: Path) -> None:
        super().__init__()
        self.limits = self.limits.model_copy(update={"one_receiver": True})
        self.noted: list[list[str]] = []
        self._home = home

    async def run(self, inbox: Inbox, menu: Menu) -> None:
        self.noted.append(noted_gaps(self._home))
        await super().run(inbox, menu)


def noted_gaps(home: Path) -> list[str]:
    """Return the chats that have a gap, as the rows say."""
    with closing(sqlite3.connect(home / FILE)) as database:
        return [chat for (chat,) in database.execute("SELECT chat FROM read_marks WHERE gap = 1")]


async def test_a_gap_is_noted_before_anything_is_heard_of_the_platform(start_bot: StartBot, tmp_path: Path) -> None:
    channel = OneReceiver(tmp_path)
    bot = await start_bot("Yes.", channel=channel)
    await talked(bot, channel)
    await bot.stop()
    await start_bot(channel=channel)

    await channel.until(lambda: len(channel.noted) == 2)
    assert channel.noted == [[], [ANN]]


async def test_the_gap_of_a_chat_that_nobody_knew_is_noted_with_its_message(
    start_bot: StartBot, tmp_path: Path
) -> None:
    channel = RememberingChannel()
    bot = await start_bot("Yes.", "Yes.", channel=channel)
    await talked(bot, channel)
    channel.reconnect()
    await channel.until(lambda: len(channel.read) == 1)
    channel.open.clear()

    await channel.brings(channel.writes("hello", sender="bob"))
    assert noted_gaps(tmp_path) == [BOB]
    channel.open.set()
    await channel.until(lambda: bot.screen == ["Yes.", "Yes."])
