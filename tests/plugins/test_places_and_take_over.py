"""Plugins are told where each message is, which chats this process works on, and that Parley ends."""

import asyncio
from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import ClassVar

import pytest

from agent_core.models.scripted import Waits
from channels.base import ChatKey, MessageReceived
from gateway.chat.places import Place
from gateway.plugin import Plugin
from gateway.store.connection import Connection
from gateway.store.owed import Owed
from gateway.store.rows import InboxItem, Run, RunEnd
from tests.gateway.cluster.nodes import Nodes
from tests.gateway.conftest import StartBot
from tests.gateway.test_steering import asked
from tests.plugins.packages import Packages
from tests.postgres import UrlOf, rows
from tests.process import until

WAITS, STEERS, BEGINS, OUT = Place.WAITS, Place.STEERS, Place.BEGINS, Place.OUT


class Watches(Plugin):
    """Notes what it is told, and has a list of chats in which something is unfinished."""

    name = "watches"
    migrations = ("CREATE TABLE watches_left (chat TEXT PRIMARY KEY);",)
    unfinished = "watches_left"
    noted: ClassVar[list[tuple[str, object]]]

    def moved(self, item: InboxItem, place: Place) -> None:
        assert isinstance(item.event, MessageReceived)
        self.noted.append((item.event.text, place))

    def ended(self, run: Run, how: RunEnd, tx: Connection) -> Iterable[Owed]:
        self.noted.append(("ended", how.items))
        return ()

    async def taken_over(self, chat: ChatKey | None) -> None:
        self.noted.append(("taken over", chat))

    async def closed(self) -> None:
        self.noted.append(("closed", None))


@pytest.fixture
def watches() -> type[Watches]:
    return type("Fresh", (Watches,), {"noted": []})


def places(watches: type[Watches], text: str) -> Sequence[object]:
    return [place for said, place in watches.noted if said == text]


async def test_a_message_waits_and_a_run_begins_with_it(start_bot: StartBot, watches: type[Watches]) -> None:
    bot = await start_bot("Hello.", plugins=(watches,))

    await bot.hears("hi")

    assert places(watches, "hi") == [WAITS, BEGINS]


async def test_another_steers_the_run_and_one_of_somebody_else_waits(
    start_bot: StartBot, watches: type[Watches]
) -> None:
    said = asyncio.Event()
    bot = await start_bot(Waits(said, "Oslo."), "Bergen.", "Rome.", plugins=(watches,))
    await bot.channel.hears("to Oslo", group="team")
    await asked(bot, 1)
    await bot.channel.hears("no, Bergen", group="team")
    await bot.channel.hears("to Rome", sender="bob", group="team")
    await bot.channel.until(lambda: STEERS in places(watches, "no, Bergen"))
    await bot.channel.until(lambda: WAITS in places(watches, "to Rome"))
    assert BEGINS not in places(watches, "to Rome")
    said.set()
    await bot.app.settled()

    assert places(watches, "no, Bergen")[-1] is STEERS
    assert places(watches, "to Rome")[-1] is BEGINS


async def test_a_message_that_is_dropped_is_out(start_bot: StartBot, watches: type[Watches]) -> None:
    bot = await start_bot(Waits(asyncio.Event()), plugins=(watches,))
    await bot.channel.hears("to Oslo", group="team")
    await asked(bot, 1)
    await bot.channel.hears("no, Bergen", group="team")
    await bot.channel.until(lambda: STEERS in places(watches, "no, Bergen"))

    await bot.hears("/stop", group="team")

    assert places(watches, "no, Bergen")[-1] is OUT


async def test_what_still_waits_is_told_again_after_a_restart_behind_the_take_over(
    start_bot: StartBot, watches: type[Watches]
) -> None:
    bot = await start_bot(Waits(asyncio.Event()), "Oslo.", "Rome.", plugins=(watches,))
    await bot.channel.hears("to Oslo", group="team")
    await asked(bot, 1)
    await bot.channel.hears("to Rome", sender="bob", group="team")
    await bot.channel.until(lambda: WAITS in places(watches, "to Rome"))
    watches.noted.clear()

    await bot.restart()
    await bot.app.settled()

    assert watches.noted[:3] == [("closed", None), ("taken over", None), ("to Rome", WAITS)]
    assert places(watches, "to Rome")[-1] is BEGINS


async def test_the_end_of_a_run_names_the_messages_that_it_has_read(
    start_bot: StartBot, watches: type[Watches]
) -> None:
    said = asyncio.Event()
    bot = await start_bot(Waits(said, "Oslo."), "Bergen.", plugins=(watches,))
    await bot.channel.hears("to Oslo")
    await asked(bot, 1)
    await bot.channel.hears("no, Bergen")
    await bot.channel.until(lambda: STEERS in places(watches, "no, Bergen"))
    said.set()
    await bot.app.settled()

    assert places(watches, "ended") == [(1, 2)]


async def test_so_does_that_of_one_that_fails_before_its_message_is_kept(
    start_bot: StartBot, watches: type[Watches], monkeypatch: pytest.MonkeyPatch
) -> None:
    bot = await start_bot("Hello.", plugins=(watches,))

    def fails(*_: object) -> None:
        raise LookupError("it broke")

    monkeypatch.setattr(bot.made.base.store.runs, "begin", fails)
    await bot.hears("hi")

    assert places(watches, "hi") == [WAITS, BEGINS]
    assert places(watches, "ended") == [(1,)]


# Chats with something unfinished


async def test_a_chat_in_which_only_a_plugin_left_something_is_taken_over_from_a_dead_node(
    tmp_path: Path, url_of: UrlOf, watches: type[Watches]
) -> None:
    nodes = Nodes(tmp_path, url_of(tmp_path))
    async with nodes.life:
        await nodes.start("Hello.", plugins=(watches,))
        chat = nodes.platform.chat()
        rows(nodes.url, f"INSERT INTO watches_left VALUES ('{chat}')")  # noqa: S608 (a key of the test)

        await until(lambda: ("taken over", chat) in watches.noted)


async def test_it_is_told_of_a_chat_that_is_claimed_for_a_new_message_only_if_something_is_left_there(
    tmp_path: Path, url_of: UrlOf, watches: type[Watches]
) -> None:
    nodes = Nodes(tmp_path, url_of(tmp_path))
    async with nodes.life:
        bot = await nodes.start("Hello.", plugins=(watches,))

        await bot.hears("hi")

        assert watches.noted == [("hi", WAITS), ("hi", BEGINS), ("ended", (1,))]


@pytest.mark.parametrize("named", ["inbox", "none", 5])
def test_a_table_that_is_not_its_own_is_refused(packages: Packages, named: object) -> None:
    packages.install(f"class P(Plugin):\n    name = 'dice'\n    unfinished = {named!r}\n", name="dice")

    chosen = packages.chosen(["dice"])

    assert "which is no table of its own with a column chat" in chosen.left_out["dice"]
