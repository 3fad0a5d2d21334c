"""An answer that a store of an earlier version was to speak is spoken once by this one."""

import asyncio
import sqlite3
from contextlib import closing
from pathlib import Path

from gateway.store.opening import FILE
from tests.gateway.bot import Bot, BotOptions
from tests.gateway.conftest import StartBot
from tests.gateway.spending_sequences import copy_home
from tests.plugins.voice.audio_emulator import AudioEmulator
from tests.plugins.voice.speaking import speaking
from tests.plugins.voice.test_spoken_answers import audio, sent, spoken_once

__all__ = ["audio"]
BEFORE = """
CREATE TABLE spoken_answers (run TEXT PRIMARY KEY, chat TEXT NOT NULL) STRICT, WITHOUT ROWID;
INSERT INTO spoken_answers SELECT key, chat FROM owed WHERE kind = 'speech';
DROP TABLE owed;
DROP TABLE owed_erasures;
DROP TABLE voice_recordings;
DROP TABLE job_targets;
DROP TABLE further_messages;
CREATE INDEX spending_open ON spending (id) WHERE state = 'reserved';
CREATE INDEX runs_whole ON runs (started) WHERE shortened = 0;
DELETE FROM plugin_migrations;
CREATE TABLE recordings (
  seq INTEGER, place INTEGER, words TEXT NOT NULL, seconds REAL, model TEXT NOT NULL, at REAL NOT NULL,
  PRIMARY KEY (seq, place)
);
ALTER TABLE search_progress DROP COLUMN after;
PRAGMA user_version = 52;
"""


def made_earlier(home: Path) -> None:
    """Let a store that owes speech be as the version before kept it."""
    with closing(sqlite3.connect(home / FILE)) as connection:
        connection.executescript(BEFORE)


async def test_an_answer_that_was_to_be_spoken_is_spoken_once(
    start_bot: StartBot, audio: AudioEmulator, tmp_path: Path
) -> None:
    plugin = speaking(audio)
    bot = await start_bot("It is noon.", plugins=(plugin,))
    await bot.hears("/voice on")
    audio.faults.hold("speak")
    await bot.channel.hears("what time is it?")
    await audio.wait_for(lambda: len(audio.calls) == 1)
    image = tmp_path / "image"
    await asyncio.to_thread(copy_home, bot.home, image)
    await bot.stop()
    await asyncio.to_thread(made_earlier, image)

    upgraded = Bot(image, (), BotOptions(plugins=(plugin,), channel=bot.channel))
    await upgraded.start()
    try:
        await spoken_once(upgraded)
        await upgraded.restart()
        await upgraded.app.settled()
        assert sent(upgraded) == ["answer.mp3"]
    finally:
        await upgraded.stop()
