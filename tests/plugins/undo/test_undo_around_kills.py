"""An undo that is given again after a crash is not made twice."""

import asyncio
import threading

import pytest

from agent_core.versions.undo import Undone, undo
from gateway.plugins.undo import command
from tests.gateway.bot import Bot
from tests.gateway.conftest import StartBot
from tests.plugins.undo.test_undo_command import TOOLS, forgets, workspace, write


async def test_an_undo_that_a_crash_cut_off_before_its_answer_is_not_made_twice(
    start_bot: StartBot, monkeypatch: pytest.MonkeyPatch
) -> None:
    bot = await start_bot(write("first.txt", "1"), write("second.txt", "2"), "Done.", tools=TOOLS)
    files = workspace(bot)
    await bot.hears("write them")
    over = await cut_off_after_undo(bot, monkeypatch)
    assert sorted(path.name for path in files.glob("*.txt")) == ["first.txt"]
    try:
        await bot.restart()
        await bot.app.settled()
    finally:
        over.set()

    assert sorted(path.name for path in files.glob("*.txt")) == ["first.txt"]
    assert bot.screen[-1] == "Undone:\n- second.txt is gone again"
    await bot.hears("/undo")
    assert bot.screen[-1] == "Undone:\n- first.txt is gone again"


async def test_facts_that_an_undo_had_not_yet_put_back_are_put_back_after_the_crash(
    start_bot: StartBot, monkeypatch: pytest.MonkeyPatch
) -> None:
    bot = await start_bot()
    memory = await forgets(bot)
    over = await cut_off_after_undo(bot, monkeypatch)
    assert memory.read_text() == ""
    try:
        await bot.restart()
        await bot.app.settled()
    finally:
        over.set()

    assert bot.screen[-1] == "Undone:\n- remembered again: likes tea"
    assert memory.read_text().endswith("|Ann|likes tea\n")


async def cut_off_after_undo(bot: Bot, monkeypatch: pytest.MonkeyPatch) -> threading.Event:
    """Give /undo, hold it once its change is recorded, and return the event that ends it. Later ones are not held."""
    made, over = threading.Event(), threading.Event()

    def held(*given: object, **how: object) -> Undone:
        undo(*given, **how)  # type: ignore[arg-type]
        made.set()
        over.wait(30)
        raise OSError("the process was killed")

    with monkeypatch.context() as patch:
        patch.setattr(command, "undo", held)
        await bot.channel.hears("/undo")
        assert await asyncio.to_thread(made.wait, 30)

    return over
