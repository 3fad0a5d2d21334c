"""A row that cannot be read any more prevents neither the start nor an answer."""

import sqlite3
from contextlib import closing
from pathlib import Path

import pytest

from gateway.store.opening import FILE
from tests.gateway.bot import Bot

BROKEN = '{"type": "of tomorrow"}'
CHAT = "memory:here:ann"

INBOX = f"INSERT INTO inbox (event_id, chat, payload, at) VALUES ('x', '{CHAT}', '{BROKEN}', 1)"  # noqa: S608
OUTBOX = f"INSERT INTO outbox (key, run, chat, body, at) VALUES ('x', 'x', '{CHAT}', '{BROKEN}', 1)"  # noqa: S608
RUN = "INSERT INTO runs (run, chat, session, person, started) VALUES ('x', 'no key', 's', 'ann', 1)"


def change(home: Path, statement: str) -> None:
    with closing(sqlite3.connect(home / FILE)) as store, store:
        store.execute(statement)


def count(home: Path, table: str) -> int:
    with closing(sqlite3.connect(home / FILE)) as store:
        return int(store.execute(f"SELECT count(*) FROM {table}").fetchone()[0])  # noqa: S608


@pytest.mark.usefixtures("no_progress")
@pytest.mark.parametrize(("table", "statement"), [("inbox", INBOX), ("outbox", OUTBOX), ("runs", RUN)])
async def test_it_starts_and_answers_and_the_row_stays(tmp_path: Path, table: str, statement: str) -> None:
    bot = await between(tmp_path, statement)
    kept = count(tmp_path, table)

    await bot.app.settled()
    await bot.hears("and now?")
    shown = await bot.made.base.store.outbox.screen(bot.channel.heard[0].chat)
    await bot.stop()

    assert bot.screen == ["One.", "Two."]
    assert len(shown) == 4
    assert count(tmp_path, table) >= kept


async def test_a_conversation_goes_on_without_words_that_cannot_be_read(tmp_path: Path) -> None:
    bot = await between(tmp_path, f"UPDATE transcript SET message = '{BROKEN}' WHERE seq = 1")  # noqa: S608

    await bot.hears("and now?")
    await bot.stop()

    assert bot.screen == ["One.", "Two."]


async def between(home: Path, statement: str) -> Bot:
    """Return a bot that has answered once, and whose store was changed before its restart."""
    bot = Bot(home, ("One.", "Two."))
    await bot.start()
    await bot.hears("hello")
    await bot.stop()
    change(home, statement)
    await bot.restart()
    return bot
