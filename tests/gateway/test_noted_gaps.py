"""Chats that may have a gap are noted in the rows before anything of the platform is stored."""

import asyncio
import sqlite3
from contextlib import closing
from pathlib import Path

import pytest

from channels.base import Inbox, Menu
from channels.capabilities import Gap
from gateway.store.opening import FILE
from gateway.store.read_marks import ReadMark, ReadMarks
from tests.gateway.conftest import StartBot
from tests.gateway.remembering import RememberingChannel
from tests.gateway.test_catch_up import ANN, BOB, heard, talked
from tests.process import until


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
        return [chat for (chat,) in database.execute("SELECT chat FROM read_marks WHERE gap > 0")]


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


class Parted(RememberingChannel):
    """A platform of which only a part may lose its connection."""

    def __init__(self) -> None:
        super().__init__()
        self.gaps: asyncio.Queue[Gap] = asyncio.Queue()
        self.gaps.put_nowait(Gap())

    async def gap(self) -> Gap:
        return await self.gaps.get()


@pytest.mark.usefixtures("no_progress")
async def test_the_gap_of_a_chat_that_nobody_knew_is_read_though_another_part_s_gap_is_just_being_noted(
    start_bot: StartBot, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("gateway.app.catch_up.NOTED_WITHIN", 0.0)
    channel, newest = Parted(), ReadMarks.newest
    bot = await start_bot("Yes.", "Yes.", channel=channel)
    await talked(bot, channel)
    channel.gaps.put_nowait(Gap())
    await channel.until(lambda: channel.read == [ANN])
    asked, may_note = asyncio.Event(), asyncio.Event()

    async def slow(rows: ReadMarks, platform: str, since: float, most: int) -> list[ReadMark]:
        asked.set()
        await may_note.wait()
        return await newest(rows, platform, since, most)

    monkeypatch.setattr(ReadMarks, "newest", slow)
    channel.writes("missed", sender="bob")
    channel.gaps.put_nowait(Gap(lambda chat: str(chat) == ANN))
    await asked.wait()
    await channel.brings(channel.writes("hello", sender="bob"))
    may_note.set()
    await channel.until(lambda: len(bot.screen) == 2)
    await until(lambda: noted_gaps(tmp_path) == [])

    assert heard(bot) == ["missed", "hello"]
