"""A stored value that is damaged keeps Parley neither from its start nor from an answer, a command or a backup."""

import asyncio
import random
import shutil
import sqlite3
from contextlib import closing
from functools import partial
from pathlib import Path

import pytest

from agent_core.models.scripted import Waits
from gateway.permissions.roles import Role
from gateway.store.opening import FILE
from gateway.store.soundness import damaged_in
from gateway.upkeep.backup import Wanted, make
from gateway.upkeep.doctor.home import look_at_home
from tests.examples import examples
from tests.gateway.bot import Bot
from tests.gateway.conftest import StartBot
from tests.gateway.damaging import LEFT_OUT, begun, cells, damage, used
from tests.gateway.peopled import Platform
from tests.gateway.tasking import IN_BACKGROUND, Cast, begins, in_background, rows, states
from tests.postgres import execute

DAMAGES = 3
DEEP = 100_000
OTHER_FORMS = {
    "cut off": '{"a',
    "null": "null",
    "a number": "7",
    "a long number": "9" * 5_000,
    "a number beyond all": "1e400",
    "a text": '"words"',
    "a list of nothing": "[null]",
    "an object": '{"a": 1}',
    "lists too deep": "[" * DEEP + "]" * DEEP,
    "objects too deep": '{"a":' * DEEP + "1" + "}" * DEEP,
}
"""What may stand in place of the JSON of a column."""
JSON = {
    "approvals": ("choices", "grounds"),
    "chat_skills": ("shelved",),
    "code_outcomes": ("event",),
    "inbox": ("payload",),
    "jobs": ("given", "rule", "scripts", "work"),
    "nodes": ("settings", "skills"),
    "outbox": ("body",),
    "owed": ("data",),
    "owed_erasures": ("direct", "shared"),
    "page_commands": ("event",),
    "rewinds": ("event",),
    "runs": ("deaths", "skills"),
    "standings": ("roles",),
    "steps": ("event", "state"),
    "strangers": ("event",),
    "transcript": ("message",),
}
"""Columns with JSON, by table."""
BROKEN = "'~' || substr(message, 2)"


@pytest.fixture(scope="module")
def ready(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A store that was used in many ways."""
    home = tmp_path_factory.mktemp("ready")
    asyncio.run(used(home))
    return home


def _is_shown(bot: Bot, words: str) -> bool:
    return any(words in text for text in bot.screen)


def _that_look(bot: Bot) -> list[str]:
    """Return the commands that change nothing without arguments, or with the word `cactus` if they need one."""
    offered = bot.made.commands.table.offered(Role.OWNER)
    found = []
    for command in offered:
        arguments = " cactus" if any(option.required for option in command.spec.options) else ""
        if command.rights.of(arguments.strip()).acts == "read":
            found.append(f"/{command.name}{arguments}")
    return found


def _has_more(bot: Bot, shown: int) -> bool:
    return len(bot.screen) > shown


async def starts_answers_and_obeys(home: Path) -> None:
    bot = begun(home)
    await bot.start()
    try:
        for number, (sender, group) in enumerate((("ann", None), ("bob", None), ("bob", "team"), ("carl", None)), 20):
            await bot.channel.hears(f"and now? m{number}", sender=sender, group=group)
            await bot.channel.until(partial(_is_shown, bot, f"Heard m{number}."))
        for command in _that_look(bot):
            shown = len(bot.screen)
            await bot.channel.hears(command)
            await bot.channel.until(partial(_has_more, bot, shown))
        assert [text for text in bot.screen if "went wrong" in text or "could not do that" in text] == []
    finally:
        await bot.stop()


@pytest.mark.parametrize("seed", range(examples(60)))
async def test_whatever_is_damaged_it_starts_answers_obeys_and_is_backed_up(
    ready: Path, tmp_path: Path, seed: int
) -> None:
    home, chance = tmp_path / "home", random.Random(seed)  # noqa: S311
    shutil.copytree(ready, home)
    for cell in chance.sample(cells(home), DAMAGES):
        damage(home, cell, chance)

    await starts_answers_and_obeys(home)
    assert make(home, tmp_path / "all.zip", "0", Wanted(), lambda _: False).size > 0


@pytest.mark.parametrize("seed", range(examples(48)))
async def test_json_of_another_form_keeps_parley_neither_from_its_start_nor_from_an_answer_nor_a_command(
    ready: Path, tmp_path: Path, seed: int
) -> None:
    home, chance = tmp_path / "home", random.Random(seed)  # noqa: S311
    shutil.copytree(ready, home)
    table = [*JSON][seed % len(JSON)]
    form = "lists too deep" if seed < len(JSON) else chance.choice([*OTHER_FORMS])
    with closing(sqlite3.connect(home / FILE)) as store, store:
        store.execute(f"UPDATE {table} SET {chance.choice(JSON[table])} = ?", (OTHER_FORMS[form],))  # noqa: S608

    await starts_answers_and_obeys(home)


async def test_words_are_no_yes_to_an_approval_that_looks_like_a_question_of_the_model(
    ready: Path, tmp_path: Path
) -> None:
    home = tmp_path / "home"
    shutil.copytree(ready, home)
    with closing(sqlite3.connect(home / FILE)) as store, store:
        store.execute("UPDATE approvals SET choices = '[\"Paris\"]'")

    await starts_answers_and_obeys(home)

    with closing(sqlite3.connect(home / FILE)) as store:
        assert [each for (each,) in store.execute("SELECT DISTINCT state FROM approvals WHERE tool = 'run'")] == [
            "withdrawn"
        ]


def test_each_column_with_json_is_known(ready: Path) -> None:
    found = {(each.table, each.column) for each in cells(ready) if str(each.value).startswith(("[", "{"))}

    assert found <= {(table, column) for table, columns in JSON.items() for column in columns}


def test_each_table_has_something_that_can_be_damaged(ready: Path) -> None:
    names = {str(name) for (name,) in rows(ready, "SELECT name FROM sqlite_master WHERE type = 'table'")}

    assert {cell.table for cell in cells(ready)} == {name for name in names if not name.startswith(LEFT_OUT)}


@pytest.mark.parametrize("form", ["cut off", "null", "a number", "a text", "objects too deep"])
@pytest.mark.parametrize(
    ("table", "column"),
    [
        *(("transcript", "message"), ("inbox", "payload"), ("outbox", "body"), ("jobs", "rule"), ("jobs", "work")),
        *(("strangers", "event"), ("chat_skills", "shelved"), ("standings", "roles"), ("runs", "deaths")),
        *(("approvals", "choices"), ("approvals", "grounds"), ("owed", "data"), ("jobs", "given")),
        *(("owed_erasures", "direct"), ("owed_erasures", "shared"), ("jobs", "scripts")),
    ],
)
def test_what_is_no_json_any_more_or_of_another_form_is_named(
    ready: Path, tmp_path: Path, table: str, column: str, form: str
) -> None:
    home = tmp_path / "home"
    shutil.copytree(ready, home)
    with closing(sqlite3.connect(home / FILE)) as store, store:
        assert list(damaged_in(store)) == []
        store.execute(f"UPDATE {table} SET {column} = ?", (OTHER_FORMS[form],))  # noqa: S608
        assert {each.table for each in damaged_in(store)} == {table}


def test_one_damage_changes_one_value(ready: Path, tmp_path: Path) -> None:
    home, chance = tmp_path / "home", random.Random(1)  # noqa: S311
    shutil.copytree(ready, home)
    before = cells(home)
    damage(home, next(each for each in before if (each.table, each.column) == ("transcript", "message")), chance)

    assert sum(old != new for old, new in zip(before, cells(home), strict=True)) == 1


async def test_a_newest_message_that_cannot_be_read_is_named_and_its_chat_told_what_to_do(
    start_bot: StartBot, database: str | None
) -> None:
    bot = await start_bot("One.", "Two.", "Three.", channel=Platform(), database=database)
    await bot.hears("hello")
    await bot.stop()
    newest = "seq = (SELECT max(seq) FROM transcript)"
    execute(bot.home, database, f"UPDATE transcript SET message = {BROKEN} WHERE {newest} RETURNING seq")  # noqa: S608

    await bot.restart()
    await bot.channel.until(lambda: any("/new begins a new conversation" in text for text in bot.screen))
    await bot.channel.until(lambda: any("1 stored rows can no longer be read" in text for text in bot.screen))
    await bot.hears("and now?")
    assert bot.screen[-1] == "Two."

    await bot.restart()
    await bot.hears("still there?")
    assert bot.screen[-1] == "Three."
    assert sum("/new begins a new conversation" in text for text in bot.screen) == 1
    await bot.stop()
    if database is None:
        findings = [each.what for each in look_at_home(bot.home)]
        assert "1 rows of parley.db can no longer be read (transcript (1))" in findings


async def test_a_price_that_is_out_of_all_bounds_counts_for_nothing(ready: Path, tmp_path: Path) -> None:
    home = tmp_path / "home"
    shutil.copytree(ready, home)
    with closing(sqlite3.connect(home / FILE)) as store, store:
        store.execute("UPDATE spending SET cost = ?, tokens = ?", (2**63 - 1, 2**63 - 1))

    bot = begun(home)
    await bot.start()
    try:
        await bot.channel.hears("/budget")
        await bot.channel.until(partial(_has_more, bot, 0))
        assert [text for text in bot.screen if "went wrong" in text or "could not do that" in text] == []
    finally:
        await bot.stop()


async def test_an_interrupted_run_that_has_lost_its_words_says_so(ready: Path, tmp_path: Path) -> None:
    home = tmp_path / "home"
    shutil.copytree(ready, home)
    ((run,),) = rows(home, "SELECT run FROM runs WHERE state = 'running' AND person = 'ann'")
    with closing(sqlite3.connect(home / FILE)) as store, store:
        store.execute(f"UPDATE transcript SET message = {BROKEN} WHERE run = ?", (run,))  # noqa: S608

    bot = begun(home)
    await bot.start()
    try:
        await bot.channel.until(lambda: any("Please ask again" in text for text in bot.screen))
    finally:
        await bot.stop()


async def test_a_task_whose_messages_cannot_be_read_any_more_ends_and_does_not_begin_anew(start_bot: StartBot) -> None:
    thinking = Waits(asyncio.Event(), "never said")
    cast = Cast(begins("count"), IN_BACKGROUND, tasks={"count": [thinking]})
    bot = await start_bot(*cast.turns)
    await bot.channel.hears("count in the background")
    await thinking.reached.wait()
    await in_background(bot)
    await bot.stop()
    with closing(sqlite3.connect(bot.home / FILE)) as store, store:
        store.execute("UPDATE transcript SET message = 'damaged' WHERE session LIKE 'task-%'")

    await bot.restart()
    await bot.app.settled()

    assert cast.asked == {"count": 1}
    assert states(bot.home) == ["failed"]
    assert "what it had done so far cannot be read any more" in cast.told[0]
