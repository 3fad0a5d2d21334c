"""What a store of an earlier version has left to do after answers is done once by this one."""

import asyncio
import sqlite3
from contextlib import closing
from pathlib import Path

import pytest

from agent_core.models.audio import AudioServer
from gateway.store import postgres_opening
from gateway.store.opening import FILE, migrations
from tests.emulators.audio import AudioEmulator
from tests.gateway.bot import Bot, BotOptions
from tests.gateway.conftest import StartBot
from tests.gateway.spending_sequences import copy_home
from tests.gateway.test_speech import audio, sent, spoken_once
from tests.postgres import UrlOf, rows

__all__ = ["audio"]
OWED = 53
"""The number of the migration that made the table."""
BEFORE = """
CREATE TABLE spoken_answers (run TEXT PRIMARY KEY, chat TEXT NOT NULL) STRICT, WITHOUT ROWID;
INSERT INTO spoken_answers SELECT key, chat FROM owed WHERE kind = 'speech';
DROP TABLE owed;
PRAGMA user_version = 52;
"""


def made_earlier(home: Path) -> None:
    """Let a store that owes speech be as the version before kept it."""
    with closing(sqlite3.connect(home / FILE)) as connection:
        connection.executescript(BEFORE)


async def test_an_answer_that_was_to_be_spoken_is_spoken_once(
    start_bot: StartBot, audio: AudioEmulator, tmp_path: Path
) -> None:
    server = AudioServer(audio.base_url, "tts-1")
    bot = await start_bot("It is noon.", speech=server)
    await bot.hears("/voice on")
    audio.faults.hold("speak")
    await bot.channel.hears("what time is it?")
    await audio.wait_for(lambda: len(audio.calls) == 1)
    image = tmp_path / "image"
    await asyncio.to_thread(copy_home, bot.home, image)
    await bot.stop()
    await asyncio.to_thread(made_earlier, image)

    upgraded = Bot(image, (), BotOptions(speech=server, channel=bot.channel))
    await upgraded.start()
    try:
        await spoken_once(upgraded)
        await upgraded.restart()
        await upgraded.app.settled()
        assert sent(upgraded) == ["answer.mp3"]
    finally:
        await upgraded.stop()


async def test_on_postgres_too_an_answer_that_was_to_be_spoken_is_still_owed(
    tmp_path: Path, bare_url_of: UrlOf, monkeypatch: pytest.MonkeyPatch
) -> None:
    url, known = bare_url_of(tmp_path), postgres_opening.migrations()
    with monkeypatch.context() as before:
        before.setattr(
            postgres_opening,
            "migrations",
            lambda: [each for each in known if postgres_opening.number_of(each) < OWED],
        )
        await postgres_opening.migrated(url)
    rows(url, "INSERT INTO spoken_answers VALUES ('run-1', 'memory:here:ann')")

    await postgres_opening.migrated(url)

    assert rows(url, "SELECT kind, key, chat, data, run, due, attempts FROM owed") == [
        ("speech", "run-1", "memory:here:ann", "{}", "run-1", 0.0, 0)
    ]


def test_the_table_came_with_this_migration() -> None:
    assert migrations()[OWED - 1].name == f"{OWED:04}_owed.sql"
