"""A store with something in every table, and damage to it."""

import random
import re
import sqlite3
import struct
from contextlib import closing, suppress
from dataclasses import dataclass
from pathlib import Path

from agent_core.messages import text_of
from agent_core.models.llm import LlmRequest
from agent_core.models.scripted import ScriptedLlm, Turn, calls
from channels.base import ChannelError
from channels.memory import NO_PACE, MemoryChannel
from gateway.store.file_connection import connect_to_read
from gateway.store.opening import FILE
from tests.gateway.approving import acting, questions
from tests.gateway.bot import Bot, BotOptions

COMMANDS = (
    "/remind in 20m 吃披萨",
    "/remind every weekday 9:00 stand-up",
    "/cron add 0 9 * * * write a report",
    "/budget here 5 a day",
    "/rename Кактус 仙人掌",
    "/language en",
    "/allow memory:dora",
    "/heartbeat on",
)
BITS = 0.7
"""Share of the damages that are one bit; the others are bytes of any values."""
MOST_BYTES = 16
LEFT_OUT = ("sqlite_", "said", "search_progress", "store", "plugin_migrations")
"""Beginnings of names of tables: of SQLite, of the search index, and of those that say which store this is and of which
schema the tables of plugins are, as another one is refused."""
KNOWN = {
    "chat": "memory:here:ann",
    "person": "ann",
    "principal": "memory:ann",
    "origin": "clean",
    "zone": "Europe/Paris",
}
"""Values of columns by which rows are found."""
OBJECTS = {"payload", "event", "shelved", "settings", "data"}
"""Columns with objects of JSON."""
LISTS = {"roles", "choices", "grounds", "skills", "direct", "shared"}
"""Columns with lists of JSON."""


@dataclass(frozen=True)
class Cell:
    table: str
    column: str
    row: int
    value: str | float | int

    def __str__(self) -> str:
        return f"{self.table}.{self.column}[{self.row}]"


def options() -> BotOptions:
    return BotOptions(channel=MemoryChannel(limits=NO_PACE), tools=[acting(ran=[])], over=ScriptedLlm())


def begun(home: Path) -> Bot:
    """Return a bot whose model repeats the number of the last message, and draws when it is asked to."""
    return Bot(home, [_answer] * 1000, options())


async def used(home: Path) -> None:
    """Create a store that was used in many ways, with an open question and an unsent answer."""
    bot = begun(home)
    await bot.start()
    try:
        for command in COMMANDS:
            await bot.hears(command)
        for number, where in enumerate(({}, {"sender": "bob"}, {"sender": "bob", "group": "team"}, {})):
            await bot.hears(f"hello m{number}", **where)
        await bot.hears("who is this?", sender="eve")
        bot.channel.fails("send", ChannelError("down", retry_after=3600))
        sent = len(bot.channel.calls)
        await bot.channel.hears("what is new? m5", sender="bob")
        await bot.channel.until(lambda: any(call.kind == "send" for call in bot.channel.calls[sent:]))
        await bot.channel.hears("draw it m6")
        await bot.channel.until(lambda: bool(questions(bot)))
    finally:
        await bot.stop()
    _complete(home)


def _complete(home: Path) -> None:
    """Put a row into each table that has none."""
    with closing(sqlite3.connect(home / FILE)) as store, store:
        session, run = store.execute("SELECT session, run FROM runs WHERE state = 'done' LIMIT 1").fetchone()
        known = {**KNOWN, "session": session, "run": run}
        tables = store.execute("SELECT name, sql FROM sqlite_master WHERE type = 'table' ORDER BY name").fetchall()
        for table, made in tables:
            if table.startswith(LEFT_OUT) or store.execute(f"SELECT count(*) FROM {table}").fetchone() != (0,):  # noqa: S608
                continue
            allowed = dict(re.findall(r"(\w+) TEXT[^,]*?CHECK \(\w+ IN \('(\w+)'", made))
            columns = store.execute(f"PRAGMA table_info({table})").fetchall()
            row = [known.get(name) or allowed.get(name) or _usual(name, kind) for _, name, kind, *_ in columns]
            store.execute(f"INSERT INTO {table} VALUES ({', '.join('?' * len(row))})", row)  # noqa: S608


def _usual(name: str, kind: str) -> str | float:
    if kind == "TEXT":
        return "{}" if name in OBJECTS else "[]" if name in LISTS else f"a {name}"
    return 1.5 if kind == "REAL" else 1


def cells(home: Path) -> list[Cell]:
    """Return all values of the store that are not empty."""
    found = []
    with closing(connect_to_read(home / FILE)) as store:
        tables = [name for (name,) in store.execute("SELECT name FROM sqlite_master WHERE type = 'table'")]
        for table in tables:
            if table.startswith(LEFT_OUT):
                continue
            columns = [name for _, name, *_ in store.execute(f"PRAGMA table_info({table})")]
            for number, row in enumerate(store.execute(f"SELECT * FROM {table}")):  # noqa: S608
                found += [Cell(table, name, number, value) for name, value in zip(columns, row, strict=True) if value]
    return found


def damaged(value: str | float, chance: random.Random) -> object:
    """Return a value with one bit or a few bytes changed; a text as its bytes, which may be no text any more."""
    match value:
        case str():
            raw = bytearray(value.encode())
        case int():
            raw = bytearray(value.to_bytes(8, "big", signed=True))
        case _:
            raw = bytearray(struct.pack(">d", value))
    place = chance.randrange(len(raw))
    if chance.random() < BITS:
        raw[place] ^= 1 << chance.randrange(8)
    else:
        raw[place : place + MOST_BYTES] = chance.randbytes(len(raw[place : place + MOST_BYTES]))
    if isinstance(value, str):
        return bytes(raw)
    return int.from_bytes(raw, "big", signed=True) if isinstance(value, int) else struct.unpack(">d", raw)[0]


def damage(home: Path, cell: Cell, chance: random.Random) -> None:
    """Damage a value in the file, unless an index or a check of the table shows it."""
    mark = "CAST(? AS TEXT)" if isinstance(cell.value, str) else "?"
    place = f"(SELECT {cell.column} FROM {cell.table} LIMIT 1 OFFSET ?)"  # noqa: S608
    with closing(sqlite3.connect(home / FILE)) as store, store, suppress(sqlite3.IntegrityError):
        store.execute(
            f"UPDATE {cell.table} SET {cell.column} = {mark} WHERE {cell.column} = {place}",  # noqa: S608
            (damaged(cell.value, chance), cell.row),
        )


def _answer(request: LlmRequest) -> Turn:
    last = text_of(request.messages[-1].content)
    numbers = re.findall(r"\bm(\d+)", last) or ["0"]
    return calls(("run", {"command": ["draw", "it"]})) if "draw" in last else f"Heard m{numbers[-1]}."
