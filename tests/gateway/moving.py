"""Helpers for tests that move a store between SQLite and PostgreSQL."""

import asyncio
import random
import re
import sqlite3
from argparse import Namespace
from collections import Counter, defaultdict
from collections.abc import Iterator, Sequence
from contextlib import closing
from dataclasses import replace
from pathlib import Path

from agent_core.messages import text_of
from agent_core.models.llm import LlmRequest
from agent_core.models.scripted import ScriptedLlm, Turn, Waits, calls
from channels.base import ChannelError
from channels.memory import NO_PACE, MemoryChannel
from gateway.store.opening import FILE, migrate
from gateway.store.plugin_tables import PluginTables
from gateway.upkeep.migration import SQLITE, run
from tests.gateway.approving import acting, questions
from tests.gateway.bot import Bot, BotOptions
from tests.postgres import rows

LEFT_OUT = (
    "said",
    "search_progress",
    "schema_version",
    "sqlite_",
    "nodes",
    "chat_owners",
    "leases",
    "spending_sums",
    "page_commands",
    "page_links",
    "rewrites",
)
"""Beginnings of names of tables that a database computes from the rest, or that are about the processes that use it."""
GONE = PluginTables(
    "gone",
    (
        """
        -- Numbers its rows; the types are those of plugins.
        CREATE TABLE gone_words (
          id INTEGER PRIMARY KEY, -- a semicolon; and more
          text TEXT NOT NULL DEFAULT 'it''s; (a real one)', at REAL, raw BLOB, count INTEGER NOT NULL
        );
        CREATE UNIQUE INDEX gone_words_at ON gone_words (at, id);
        """,
        "ALTER TABLE gone_words ADD COLUMN more TEXT NOT NULL DEFAULT '';",
    ),
)
"""Tables that only the store knows of."""
TEXTS = (
    "",
    "water the cactus",
    "今天数据库备份完成了",
    "a\0b",
    "␀",
    '{"text": "\\u0000"}',
    "tab\tline\nslash\\N",
    "🌵é",
)
COMMANDS = (
    "/remind in 20m 吃披萨",
    "/remind every weekday 9:00 stand-up",
    "/budget here 5 a day",
    "/new",
    "/rename Кактус 仙人掌",
    "/language zh",
    "/invite memory:dora",
    "/heartbeat on",
)
_ALLOWED = re.compile(r"(\w+) IN \(([^)]*)\)")


def move(home: Path, to: str, **environ: str) -> None:
    """Move the store of a home, as `parley migrate --to` does."""
    assert run({"PARLEY_HOME": str(home), **environ}, home, Namespace(to=to)) == 0


def back(home: Path) -> None:
    move(home, SQLITE)


def columns_of(home: Path) -> dict[str, list[tuple[str, str]]]:
    """Return the names and types of the columns of all tables of a file."""
    found = defaultdict[str, list[tuple[str, str]]](list)
    query = (
        "SELECT tables.name, columns.name, columns.type FROM sqlite_master AS tables,"
        " pragma_table_info(tables.name) AS columns WHERE tables.type = 'table' ORDER BY tables.name, columns.cid"
    )
    with closing(sqlite3.connect(home / FILE)) as file:
        for table, name, kind in file.execute(query):
            if not table.startswith(LEFT_OUT):
                found[table].append((name, kind))
    return found


def content_of(home: Path, url: str | None) -> dict[str, Counter[tuple[object, ...]]]:
    """Return the rows of all tables. The id of a store and its count of transactions are its own."""
    return {table: Counter(_read(home, url, table)) for table in _tables(home, url)}


def _tables(home: Path, url: str | None) -> list[str]:
    if url is None:
        return [*columns_of(home)]
    names = [
        str(name) for (name,) in rows(url, "SELECT tablename FROM pg_tables WHERE schemaname = 'public' ORDER BY 1")
    ]
    return [name for name in names if not name.startswith(LEFT_OUT)]


def _read(home: Path, url: str | None, table: str) -> Iterator[tuple[object, ...]]:
    columns = "born, restored, restored_from" if table == "store" else "*"
    query = f"SELECT {columns} FROM {table}"  # noqa: S608
    if url is not None:
        yield from rows(url, query)
        return
    with closing(sqlite3.connect(home / FILE)) as file:
        for row in file.execute(query):
            yield tuple(each.replace("\0", "␀") if isinstance(each, str) else each for each in row)


def filled(home: Path, seed: int, most: int = 40) -> None:
    """Create a store with rows of any values in each table, also in those of a plugin that is there no more."""
    chance = random.Random(seed)  # noqa: S311
    with closing(sqlite3.connect(home / FILE, isolation_level=None)) as file:
        migrate(file, home / FILE, (GONE,))
        schema = dict(file.execute("SELECT name, sql FROM sqlite_master WHERE type = 'table'"))
        for table, columns in columns_of(home).items():
            allowed = {name: re.findall("'([^']*)'", values) for name, values in _ALLOWED.findall(schema[table])}
            if table == "store":
                file.execute("UPDATE store SET restored = ?, restored_from = 1.5", (chance.random() * 2e9,))
                continue
            if table == "plugin_migrations":
                continue  # its rows tell how the others are made
            marks = ", ".join("?" * len(columns))
            for number in range(1 if table == "pairing" else chance.randint(1, most)):
                row = [_value(chance, name, kind, allowed.get(name, ()), number) for name, kind in columns]
                file.execute(f"INSERT INTO {table} VALUES ({marks})", row)  # noqa: S608


def _value(chance: random.Random, name: str, kind: str, allowed: Sequence[str], number: int) -> object:
    if allowed:
        return chance.choice(allowed)
    match kind:
        case "TEXT":
            return f"{number} {chance.choice(TEXTS)}"
        case "REAL":
            return chance.choice((0.0, -1.5, 1e300, 0.1 + 0.2, chance.random() * 2e9))
        case "BLOB":
            return chance.randbytes(4)
        case _:
            return number + 1


class Use:
    """A Parley that is used at random, with a store that moves from one database to the other at any moment."""

    def __init__(self, home: Path, url: str, seed: int) -> None:
        self.chance = random.Random(seed)  # noqa: S311
        self.said: list[str] = []
        self.ran: list[list[str]] = []
        self.holds = False
        """True while the model does not answer."""
        self._home, self._url = home, url
        self._database: str | None = None
        self._options = BotOptions(
            channel=MemoryChannel(limits=NO_PACE), tools=[acting(ran=self.ran)], over=ScriptedLlm()
        )
        self.bot = Bot(home, [self._answer] * 500, self._options)

    async def play(self) -> None:
        """Use it in each of these ways, and then in three of them again."""
        uses = [self.talk, self.command, self.leave_open, self.leave_unsent, self.leave_a_question]
        self.chance.shuffle(uses)
        await self.bot.start()
        try:
            for use in [*uses, *self.chance.choices(uses, k=3)]:
                await use()
            await self.bot.app.settled()
        finally:
            await self.bot.stop()

    async def moves(self) -> None:
        """Stop, move the store, compare it, and start."""
        await self.bot.stop()
        self.holds = False
        before = content_of(self._home, self._database)
        move(self._home, self._url if self._database is None else SQLITE)
        rows(self._url, "DROP SCHEMA public CASCADE; CREATE SCHEMA public") if self._database else None
        self._database = self._url if self._database is None else None
        assert content_of(self._home, self._database) == before
        self.bot = Bot(self._home, [], replace(self._options, database=self._database))
        await self.bot.start()

    async def talk(self) -> None:
        where = self.chance.choice(({"sender": "ann"}, {"sender": "bob"}, {"sender": "bob", "group": "team"}))
        await self.bot.hears(self._words(self.chance.choice(TEXTS)), **where)
        assert f"Heard {self.said[-1]}." in self.bot.screen

    async def command(self) -> None:
        for line in self.chance.sample(COMMANDS, 3):
            await self.bot.hears(line)
        await self.moves()

    async def leave_open(self) -> None:
        self.holds, asked = True, len(self.bot.llm.requests)
        await self.bot.channel.hears(self._words("are you there?"))
        await self.bot.channel.until(lambda: len(self.bot.llm.requests) > asked)
        await self.moves()
        await self.bot.app.settled()

    async def leave_unsent(self) -> None:
        sent = len(self.bot.channel.calls)
        self.bot.channel.fails("send", ChannelError("down", retry_after=3600))
        await self.bot.channel.hears(self._words("what is new?"))
        await self.bot.channel.until(lambda: any(call.kind == "send" for call in self.bot.channel.calls[sent:]))
        await self.moves()
        await self.bot.app.settled()

    async def leave_a_question(self) -> None:
        await self.bot.channel.hears(self._words("draw it"))
        await self.bot.channel.until(lambda: bool(questions(self.bot)))
        await self.moves()
        await self.bot.channel.presses(questions(self.bot)[-1].buttons[0][0].action)
        await self.bot.app.settled()

    def _words(self, text: str) -> str:
        self.said.append(f"m{len(self.said)}")
        return f"{text} {self.said[-1]}"

    def _answer(self, request: LlmRequest) -> Turn:
        if self.holds:
            return Waits(asyncio.Event(), "never said")
        last = text_of(request.messages[-1].content)
        heard = (text_of(each.content) for each in request.messages if each.role == "user")
        numbers = re.findall(r"\bm\d+", " ".join(heard))
        if "draw" in last:
            return calls(("run", {"command": ["draw", numbers[-1]]}))
        return f"Heard {numbers[-1]}."
