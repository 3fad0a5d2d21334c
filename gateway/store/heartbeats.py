"""The table of heartbeats, and the time of a user's last message."""

import sqlite3
from collections.abc import Callable, Iterable, Iterator

from channels.base import ChatKey
from gateway.store.job import Heartbeat
from gateway.store.table import readable
from gateway.store.writer import Change

COLUMNS = (
    "chat, person, job, is_on, quiet_from, quiet_to, quiet_chosen, most_a_day, snoozed_until, failures, last_look,"
    " last_outcome"
)

_Row = tuple[str, str, str, int, int | None, int | None, int, int, float, int, float | None, str]

_WROTE = (
    "SELECT json_extract(payload, '$.at') FROM inbox"
    " WHERE json_extract(payload, '$.type') IN ('message', 'command', 'button')"
    " AND json_extract(payload, '$.sender.id') = ?"
)

HeartbeatStep = Callable[[Heartbeat], Heartbeat]


def save(heartbeat: Heartbeat) -> Change[None]:
    """Insert a heartbeat or replace the chat's current one."""

    def change(connection: sqlite3.Connection) -> None:
        _save(connection, heartbeat)

    return change


def step(chat: ChatKey, take: HeartbeatStep) -> Change[Heartbeat | None]:
    """Apply a step to the chat's heartbeat; returns None if the chat has none."""

    def change(connection: sqlite3.Connection) -> Heartbeat | None:
        found = find(connection, chat)
        if found is None:
            return None
        heartbeat = take(found)
        if heartbeat != found:
            _save(connection, heartbeat)
        return heartbeat

    return change


def find(connection: sqlite3.Connection, chat: ChatKey) -> Heartbeat | None:
    query = f"SELECT {COLUMNS} FROM heartbeats WHERE chat = ?"  # noqa: S608
    return next(_heartbeats(connection.execute(query, (str(chat),))), None)


def every(connection: sqlite3.Connection) -> list[Heartbeat]:
    return list(_heartbeats(connection.execute(f"SELECT {COLUMNS} FROM heartbeats ORDER BY chat")))  # noqa: S608


def last_wrote(connection: sqlite3.Connection, chat: ChatKey, person: str) -> float | None:
    """Return the time of the user's last message in the chat or one of its threads, in seconds since the epoch."""
    threads = f"{chat}:", f"{chat};"  # ";" follows ":" in ASCII, so the keys of all threads lie between the two
    found = [
        *connection.execute(f"{_WROTE} AND chat = ? ORDER BY seq DESC LIMIT 1", (person, str(chat))),
        *connection.execute(f"{_WROTE} AND chat > ? AND chat < ? ORDER BY seq DESC LIMIT 1", (person, *threads)),
    ]
    return max((float(row[0]) for row in found), default=None)


def _heartbeats(rows: Iterable[_Row]) -> Iterator[Heartbeat]:
    return readable(rows, _heartbeat, "heartbeats")


def _save(connection: sqlite3.Connection, heartbeat: Heartbeat) -> None:
    values = (
        str(heartbeat.chat),
        heartbeat.person,
        heartbeat.job,
        heartbeat.on,
        heartbeat.quiet_from,
        heartbeat.quiet_to,
        heartbeat.quiet_chosen,
        heartbeat.most_a_day,
        heartbeat.snoozed_until,
        heartbeat.failures,
        heartbeat.last_look,
        heartbeat.last_outcome,
    )
    marks = ", ".join("?" * len(values))
    connection.execute(f"INSERT OR REPLACE INTO heartbeats ({COLUMNS}) VALUES ({marks})", values)  # noqa: S608


def _heartbeat(row: _Row) -> Heartbeat:
    return Heartbeat(
        chat=ChatKey.parse(row[0]),
        person=row[1],
        job=row[2],
        on=bool(row[3]),
        quiet_from=row[4],
        quiet_to=row[5],
        quiet_chosen=bool(row[6]),
        most_a_day=row[7],
        snoozed_until=row[8],
        failures=row[9],
        last_look=row[10],
        last_outcome=row[11],
    )
