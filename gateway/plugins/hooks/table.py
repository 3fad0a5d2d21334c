"""The tables of webhooks: each with what becomes of its events, the events, and what tells repetitions apart."""

from collections.abc import Sequence
from enum import IntEnum, StrEnum
from functools import partial

from msgspec import Struct

from channels.base import ChatKey
from gateway.plugins.hooks.senders import FOR_GOOD, Key
from gateway.store.connection import Connection
from gateway.store.erasures import Forgotten
from gateway.store.table import Table, first_readable, readable

START = """
CREATE TABLE hooks (
  id INTEGER PRIMARY KEY,
  address TEXT NOT NULL UNIQUE,
  chat TEXT NOT NULL,
  name TEXT NOT NULL,
  sender TEXT NOT NULL,
  secret TEXT NOT NULL,
  person TEXT NOT NULL,
  principal TEXT NOT NULL,
  language TEXT NOT NULL,
  template TEXT NOT NULL,
  instruction TEXT NOT NULL,
  paused INTEGER NOT NULL,
  asked TEXT NOT NULL,
  UNIQUE (chat, name)
);
CREATE TABLE hooks_events (
  id INTEGER PRIMARY KEY,
  hook INTEGER NOT NULL,
  chat TEXT NOT NULL,
  at REAL NOT NULL,
  kind TEXT NOT NULL,
  size INTEGER NOT NULL,
  body TEXT NOT NULL,
  state TEXT NOT NULL,
  asks INTEGER NOT NULL
);
CREATE INDEX hooks_events_by_time ON hooks_events (hook, at);
CREATE TABLE hooks_seen (
  hook INTEGER NOT NULL,
  delivery TEXT NOT NULL,
  at REAL NOT NULL,
  PRIMARY KEY (hook, delivery)
);
"""
DAY = 86_400.0
KEPT = 7 * DAY
"""Seconds for which the words of an event are kept."""
LISTED = 30 * DAY
"""Seconds for which an event is listed. What tells repetitions apart stays."""
MOST_HOOKS = 20
"""Webhooks of one chat."""
MOST_SHOWN = 100
MOST_BYTES_A_DAY = 50 * 1024 * 1024
"""Bytes that a webhook takes in 24 hours."""


class State(StrEnum):
    """The state of an event."""

    WAITS = "waits"
    POSTED = "posted"
    ANSWERED = "answered"
    FAILED = "failed"
    NO_RIGHT = "no_right"
    """The person who set the webhook has lost the right to."""


class Asks(IntEnum):
    """True if the model is asked about an event."""

    NO = 0
    YES = 1
    LIMIT = 2
    """It was to be, and the limit of the day was reached."""


class Took(StrEnum):
    """The outcome of a request that was signed."""

    NEW = "new"
    AGAIN = "again"
    """It came before."""
    FULL = "full"
    """The limit of a day is reached."""
    GONE = "gone"
    """The webhook is paused, or was removed meanwhile."""


class Hook(Struct, frozen=True):
    """A webhook.

    Attributes:
        id: Its number, by which commands name it, too.
        address: The last part of its address.
        chat: The chat in which its events are told.
        name: Its name, which no other one has in the chat.
        sender: The kind of program that sends the events.
        secret: Signs them.
        person: The id in the chat of whoever set it.
        principal: The account of that person.
        language: The language of that person.
        template: What is told of an event; empty for what is usual for the sender.
        instruction: What an agent is to do with an event; empty if it is only told.
        paused: True if it takes none.
        asked: The id of the command that made it.
    """

    id: int
    address: str
    chat: ChatKey
    name: str
    sender: str
    secret: str
    person: str
    principal: str
    language: str
    template: str = ""
    instruction: str = ""
    paused: bool = False
    asked: str = ""


class Event(Struct, frozen=True):
    """An event that a webhook took."""

    id: int
    hook: int
    chat: ChatKey
    at: float
    kind: str
    size: int
    body: str
    state: State
    asks: Asks
    """True if the model was to be asked about it when it came."""


class Arrived(Struct, frozen=True):
    """A request that was signed, as it is stored."""

    hook: Hook
    keys: Sequence[Key]
    kind: str
    size: int
    body: str
    now: float


_HOOK = (
    "SELECT id, address, chat, name, sender, secret, person, principal, language, template, instruction, paused, asked"
    " FROM hooks"
)
_EVENT = "SELECT id, hook, chat, at, kind, size, body, state, asks FROM hooks_events"
_HookRow = tuple[int, str, str, str, str, str, str, str, str, str, str, int, str]
_EventRow = tuple[int, int, str, float, str, int, str, str, int]


class Hooks(Table):
    """Reads and changes webhooks."""

    async def at(self, address: str) -> Hook | None:
        """Return the webhook with this address."""
        return await self._one("address = ?", address)

    async def with_id(self, number: int) -> Hook | None:
        """Return the webhook with this number."""
        return await self._one("id = ?", number)

    async def named(self, chat: ChatKey, name: str) -> Hook | None:
        """Return the webhook of a chat with this name."""
        return next((each for each in await self.of(chat) if each.name == name), None)

    async def of(self, chat: ChatKey) -> list[Hook]:
        """Return the webhooks of a chat, by name."""
        return await self._found("WHERE chat = ? ORDER BY name", str(chat))

    async def all(self) -> list[Hook]:
        """Return all webhooks, by chat and name."""
        return await self._found("WHERE id > ? ORDER BY chat, name", 0)

    async def event(self, number: int) -> Event | None:
        """Return the event with this number."""

        def read(connection: Connection) -> Event | None:
            rows = connection.execute(f"{_EVENT} WHERE id = ?", (number,))
            return first_readable(rows, _event, "hooks_events")

        return await self.read(read)

    async def came_before(self, arrived: Arrived) -> bool:
        """Return True for the repetition of a request that was taken."""
        return await self.read(partial(_came_before, arrived=arrived))

    async def newest(self, hooks: Sequence[int], most: int = MOST_SHOWN) -> list[Event]:
        """Return the newest events of these webhooks, newest first."""
        marks = ", ".join("?" for _ in hooks) or "0"
        query = f"{_EVENT} WHERE hook IN ({marks}) ORDER BY at DESC, id DESC LIMIT ?"

        def read(connection: Connection) -> list[Event]:
            return list(readable(connection.execute(query, (*hooks, most)).fetchall(), _event, "hooks_events"))

        return await self.read(read)

    async def told_before(self, event: Event, most: int) -> list[int]:
        """Return the numbers of the last events that a webhook has told before this one, newest first."""
        query = (
            "SELECT id FROM hooks_events WHERE hook = ? AND id < ? AND state IN ('posted', 'answered', 'failed')"
            " ORDER BY id DESC LIMIT ?"
        )

        def read(connection: Connection) -> list[int]:
            return [int(number) for (number,) in connection.execute(query, (event.hook, event.id, most)).fetchall()]

        return await self.read(read)

    async def became(self, number: int, state: State) -> None:
        """Record what became of an event."""

        def change(connection: Connection) -> None:
            connection.execute("UPDATE hooks_events SET state = ? WHERE id = ?", (state.value, number))

        await self.write(change)

    async def change(self, hook: Hook, **values: str | int) -> None:
        """Change columns of a webhook."""
        columns = ", ".join(f"{name} = ?" for name in sorted(values))
        row = (*(values[name] for name in sorted(values)), hook.id)

        def change(connection: Connection) -> None:
            connection.execute(f"UPDATE hooks SET {columns} WHERE id = ?", row)  # noqa: S608 - names of columns

        await self.write(change)

    async def remove(self, hook: Hook) -> None:
        """Remove a webhook with its events."""

        def change(connection: Connection) -> None:
            _remove(connection, "id = ?", hook.id)

        await self.write(change)

    async def tidy(self, now: float) -> None:
        """Drop the words of old events, then the events."""

        def change(connection: Connection) -> None:
            connection.execute("UPDATE hooks_events SET body = '' WHERE at < ? AND body <> ''", (now - KEPT,))
            connection.execute("DELETE FROM hooks_events WHERE at < ?", (now - LISTED,))

        await self.write(change)

    async def _one(self, condition: str, value: str | int) -> Hook | None:
        return next(iter(await self._found(f"WHERE {condition}", value)), None)

    async def _found(self, rest: str, value: str | int) -> list[Hook]:
        def read(connection: Connection) -> list[Hook]:
            return list(readable(connection.execute(f"{_HOOK} {rest}", (value,)).fetchall(), _hook, "hooks"))

        return await self.read(read)


def add(connection: Connection, hook: Hook) -> Hook | None:
    """Add a webhook, whose number does not count. Returns the one that is there if the same command made it before.

    Returns None if the chat has another one of this name, or as many as it may have.
    """
    rows = connection.execute(f"{_HOOK} WHERE chat = ?", (str(hook.chat),)).fetchall()
    there = list(readable(rows, _hook, "hooks"))
    if (same := next((each for each in there if each.name == hook.name), None)) is not None:
        return same if same.asked == hook.asked else None
    if len(there) >= MOST_HOOKS:
        return None
    values = (
        hook.address,
        str(hook.chat),
        hook.name,
        hook.sender,
        hook.secret,
        hook.person,
        hook.principal,
        hook.language,
        hook.template,
        hook.instruction,
        int(hook.paused),
        hook.asked,
    )
    [row] = connection.execute(
        "INSERT INTO hooks (address, chat, name, sender, secret, person, principal, language, template, instruction,"
        " paused, asked) VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?) RETURNING id",
        values,
    ).fetchall()
    return _hook((row[0], *values))


def take(connection: Connection, arrived: Arrived, a_day: int, runs_a_day: int) -> tuple[Took, int]:
    """Record a request as an event, once. Returns what became of it, and the number of the new event."""
    hook, now = arrived.hook, arrived.now
    there = connection.execute("SELECT paused, instruction FROM hooks WHERE id = ?", (hook.id,)).fetchone()
    if there is None or there[0]:
        return Took.GONE, 0
    if _came_before(connection, arrived):
        return Took.AGAIN, 0
    count = (
        "SELECT count(*), coalesce(sum(CASE asks WHEN 1 THEN 1 ELSE 0 END), 0), coalesce(sum(size), 0)"
        " FROM hooks_events WHERE hook = ? AND at > ?"
    )
    taken, asked, size = connection.execute(count, (hook.id, now - DAY)).fetchone()
    if taken >= a_day or size + arrived.size > MOST_BYTES_A_DAY:
        return Took.FULL, 0  # it is new when it is sent again
    if not all(_note(connection, hook.id, key, now) for key in arrived.keys):
        return Took.AGAIN, 0  # another node has taken it meanwhile
    asks = Asks.NO if not there[1] else Asks.YES if asked < runs_a_day else Asks.LIMIT
    values = hook.id, str(hook.chat), now, arrived.kind, arrived.size, arrived.body, State.WAITS.value, int(asks)
    [row] = connection.execute(
        "INSERT INTO hooks_events (hook, chat, at, kind, size, body, state, asks) VALUES (?, ?, ?, ?, ?, ?, ?, ?)"
        " RETURNING id",
        values,
    ).fetchall()
    return Took.NEW, int(row[0])


def erase(connection: Connection, forgotten: Forgotten) -> None:
    """Erase the webhooks that a person set, and all of their direct chats."""
    _remove(connection, "principal = ?", forgotten.principal)
    for chat in forgotten.direct:
        _remove(connection, "chat = ?", str(chat))


def _came_before(connection: Connection, arrived: Arrived) -> bool:
    for key in arrived.keys:
        query = "SELECT 1 FROM hooks_seen WHERE hook = ? AND delivery = ? AND at >= ?"
        if connection.execute(query, (arrived.hook.id, key.name, _since(key, arrived.now))).fetchone():
            return True
    return False


def _since(key: Key, now: float) -> float:
    return 0.0 if key.seconds == FOR_GOOD else now - key.seconds


def _note(connection: Connection, hook: int, key: Key, now: float) -> bool:
    """Note a delivery. Returns False for one that is noted already."""
    noted = connection.execute(
        "INSERT INTO hooks_seen (hook, delivery, at) VALUES (?, ?, ?)"
        " ON CONFLICT (hook, delivery) DO UPDATE SET at = excluded.at WHERE hooks_seen.at < ?",
        (hook, key.name, now, _since(key, now)),
    )
    return noted.rowcount == 1


def _remove(connection: Connection, condition: str, value: str | int) -> None:
    for table in ("hooks_seen", "hooks_events"):
        query = f"DELETE FROM {table} WHERE hook IN (SELECT id FROM hooks WHERE {condition})"  # noqa: S608 - our words
        connection.execute(query, (value,))
    connection.execute(f"DELETE FROM hooks WHERE {condition}", (value,))  # noqa: S608 - our words


def _hook(row: _HookRow) -> Hook:
    number, address, chat, name, sender, secret, person, principal, language, template, instruction, paused, asked = row
    who = person, principal, language
    return Hook(
        number, address, ChatKey.parse(chat), name, sender, secret, *who, template, instruction, bool(paused), asked
    )


def _event(row: _EventRow) -> Event:
    number, hook, chat, at, kind, size, body, state, asks = row
    return Event(number, hook, ChatKey.parse(chat), at, kind, size, body, State(state), Asks(asks))
