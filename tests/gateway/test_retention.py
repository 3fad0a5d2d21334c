"""Old results in ended conversations are shortened, nothing else is, and the disk space is freed."""

import json
import os
import sqlite3
import time
from contextlib import closing
from hashlib import sha256
from pathlib import Path

from agent_core.models.scripted import calls
from agent_core.tools.tool import tool
from channels.memory import NO_PACE, MemoryChannel
from gateway.store.opening import FILE
from gateway.store.retention import LONG, shortened
from gateway.upkeep.sizes import in_words
from tests.clock import OffsetClock
from tests.gateway.bot import Bot
from tests.gateway.conftest import StartBot
from tests.gateway.test_replay import told

DAY = 24 * 3600.0
REPORT = "A line of the report. " * 2_000
KEPT = ("inbox", "outbox", "transcript", "runs", "steps", "tool_calls")


@tool()
async def report(about: str) -> str:
    """Report."""
    return REPORT


def rows(home: Path, query: str) -> list[tuple[str | int, ...]]:
    with closing(sqlite3.connect(home / FILE)) as connection:
        return connection.execute(query).fetchall()


def counts(home: Path) -> list[tuple[str | int, ...]]:
    return [rows(home, f"SELECT count(*) FROM {table}")[0] for table in KEPT]  # noqa: S608


async def talked(start_bot: StartBot, clock: OffsetClock) -> Bot:
    """Return a bot with one long result in an ended conversation and one in the current conversation."""
    asks = calls(("report", {"about": "x" * 700}))
    channel = MemoryChannel(limits=NO_PACE)
    nightly: dict[str, object] = {"nightly": True, "settings": {"backups": 0}}
    bot = await start_bot(
        asks,
        "Done.",
        asks,
        "Again.",
        tools=(report,),
        clock=clock,
        channel=channel,
        **nightly,
    )
    await bot.hears("report")
    await bot.hears("/new")
    await bot.hears("report again")
    return bot


async def test_long_results_are_shortened_after_thirty_days_where_the_conversation_is_over(
    start_bot: StartBot,
) -> None:
    clock = OffsetClock()
    bot = await talked(start_bot, clock)
    before, messages = counts(bot.home), rows(bot.home, "SELECT message FROM transcript ORDER BY seq")

    clock.ahead += 29 * DAY
    await bot.made.serving.upkeep.look()
    assert rows(bot.home, "SELECT message FROM transcript ORDER BY seq") == messages

    clock.ahead += 2 * DAY
    await bot.made.serving.upkeep.look()
    after = rows(bot.home, "SELECT message FROM transcript ORDER BY seq")
    changed = [number for number, row in enumerate(after) if row != messages[number]]
    assert counts(bot.home) == before
    assert len(changed) == 1
    new, old = json.loads(str(after[changed[0]][0])), json.loads(str(messages[changed[0]][0]))
    assert (new["role"], new["id"], new["tool_call_id"]) == ("tool_result", old["id"], old["tool_call_id"])
    assert sha256(old["content"][0]["text"].encode()).hexdigest() in new["content"][0]["text"]
    first, second = rows(bot.home, "SELECT arguments, result FROM tool_calls ORDER BY seq")
    assert all(len(str(text)) <= LONG for text in first)
    assert json.loads(str(second[0])) == {"about": "x" * 700}
    whose = "run IN (SELECT run FROM runs WHERE shortened)"
    assert rows(bot.home, f"SELECT count(*) FROM steps WHERE {whose} AND length(state) > {LONG}") == [(0,)]  # noqa: S608
    assert rows(bot.home, "SELECT count(*) FROM runs WHERE shortened") == [(1,)]


async def test_a_run_that_was_shortened_is_still_told(start_bot: StartBot) -> None:
    clock = OffsetClock()
    bot = await talked(start_bot, clock)
    whole = told(bot.home, which=1)
    clock.ahead += 31 * DAY
    await bot.made.serving.upkeep.look()

    text = told(bot.home, which=1)
    assert "[shortened: " in told(bot.home, which=1, full=True)
    assert "NOT the same" not in text
    assert text.count("\n") == whole.count("\n")
    assert "rebuild the same conversation" in told(bot.home)


async def test_the_space_of_what_was_shortened_is_given_back(start_bot: StartBot) -> None:
    clock = OffsetClock()
    bot = await talked(start_bot, clock)
    assert rows(bot.home, "PRAGMA auto_vacuum") == [(2,)]
    [(before,)] = rows(bot.home, "PRAGMA page_count")
    clock.ahead += 31 * DAY
    await bot.made.serving.upkeep.look()

    assert rows(bot.home, "PRAGMA freelist_count") == [(0,)]
    [(after,)] = rows(bot.home, "PRAGMA page_count")
    assert int(after) < int(before)


async def test_copies_of_sent_files_go_after_thirty_days(start_bot: StartBot) -> None:
    bot = await talked(start_bot, OffsetClock())
    old, new = (bot.home / "outgoing" / name / "chart.png" for name in ("old", "new"))
    for file, age in ((old, 31 * DAY), (new, 29 * DAY)):
        file.parent.mkdir(parents=True)
        file.write_bytes(b"png")
        for path in (file, file.parent):
            os.utime(path, (time.time() - age,) * 2)
    (bot.home / "outgoing" / "begun").mkdir()

    await bot.made.serving.upkeep.look()

    assert not old.parent.exists()
    assert new.exists()
    assert (bot.home / "outgoing" / "begun").exists(), "a copy is about to be made there"


async def test_owners_read_in_status_what_is_kept(start_bot: StartBot) -> None:
    bot = await talked(start_bot, OffsetClock())
    await bot.hears("/status more")
    assert "**Storage:** messages " in bot.screen[-1]

    await bot.hears("/status more", sender="bob")
    assert "Storage" not in bot.screen[-1]


def test_a_text_that_is_not_long_stays() -> None:
    assert shortened("x" * LONG) == "x" * LONG
    assert len(shortened("x" * (LONG + 1))) < LONG


def test_sizes_are_told_in_words() -> None:
    assert [in_words(size) for size in (512, 20_480, 3_565_158, 5 * 2**30)] == ["0.5 kB", "20.0 kB", "3.4 MB", "5.0 GB"]
