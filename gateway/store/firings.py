"""The table of firings: each time that a job was due, with its outcome and the delivery of its message."""

import re
import sqlite3
from collections.abc import Callable, Iterable, Iterator, Sequence

from agent_core.sources import listed, read
from channels.base import ChatKey
from gateway.store import jobs, outbox
from gateway.store.job import DeliveryState, Firing, FiringState, Reaction
from gateway.store.jobs import Advance
from gateway.store.rows import Post, Run, RunEnd
from gateway.store.table import readable
from gateway.store.writer import Change

COLUMNS = (
    "job, slot, id, chat, due, state, began, ended, run, text, untrusted, error, cause, tokens, cost_usd, delivery,"
    " delivery_error, reaction, sources"
)

_Row = tuple[
    str,
    str,
    str,
    str,
    float,
    str,
    float | None,
    float | None,
    str,
    str,
    int,
    str,
    str,
    int,
    float,
    str,
    str,
    str | None,
    str,
]
_Value = str | float | None
_NAME = re.compile("job-([^-]+)-(.+)")
"""Matches the result of `firing_name`."""

FiringStep = Callable[[Firing], Firing]


def begin(firing: Firing) -> Change[Firing | None]:
    """Insert a firing unless one exists for its job and slot.

    Returns the stored firing, or None if the id is taken by another one.
    """

    def change(connection: sqlite3.Connection) -> Firing | None:
        return find(connection, firing.job, firing.slot) or (firing if _add(connection, firing) else None)

    return change


def step(
    firing_id: str, take: FiringStep, say: Callable[[Firing], Sequence[Post]], now: float
) -> Change[Firing | None]:
    """Apply a step to a firing and queue the posts that `say` returns for it; None if there is no such firing."""

    def change(connection: sqlite3.Connection) -> Firing | None:
        found = find_by_id(connection, firing_id)
        if found is None:
            return None
        firing = take(found)
        if firing != found:
            _save(connection, firing)
            outbox.insert(connection, outbox.rows_of(say(firing), now))
        return firing

    return change


def end(firings: Sequence[Firing], posts: Sequence[Post], run: RunEnd | None, now: float) -> Change[None]:
    """Save firings that have ended, queue their posts, and end their run if they have one."""
    rows = outbox.rows_of(posts, now)

    def change(connection: sqlite3.Connection) -> None:
        for firing in firings:
            _save(connection, firing)
            if run and firing.run:
                connection.execute(
                    "UPDATE runs SET state = 'done', reason = ?, error = ?, ended = ?, model = ?, tokens = ?,"
                    " cost_usd = ? WHERE run = ?",
                    (run.reason, run.error, now, run.model, run.usage.total, run.usage.cost_usd, firing.run),
                )
        outbox.insert(connection, rows)

    return change


def miss(
    moves: Sequence[Advance],
    missed: Sequence[Firing],
    say: Callable[[Sequence[Firing]], Sequence[Post]],
    now: float,
) -> Change[list[Post]]:
    """Move jobs to their next due time and record the firings that were missed.

    Firings that were already accepted or recorded are not missed. `say` turns the newly recorded ones into posts, which
    are queued and returned.
    """

    def change(connection: sqlite3.Connection) -> list[Post]:
        still = {move.job for move in moves if jobs.moved(connection, move)}
        noted = [
            firing
            for firing in missed
            if firing.job in still and not _was_taken_in(connection, firing) and _add(connection, firing)
        ]
        posts = list(say(noted)) if noted else []
        outbox.insert(connection, outbox.rows_of(posts, now))
        return posts

    return change


def unmiss(after: float) -> Change[None]:
    def change(connection: sqlite3.Connection) -> None:
        connection.execute("DELETE FROM firings WHERE state = 'missed' AND due > ?", (after,))

    return change


def start_run(run: Run) -> Change[bool]:
    """Record the start of a firing's run. Returns False if an earlier process start has recorded it."""

    def change(connection: sqlite3.Connection) -> bool:
        begun = connection.execute(
            "INSERT INTO runs (run, chat, session, person, started, reply_to, kind) VALUES (?, ?, ?, ?, ?, ?, 'task')"
            " ON CONFLICT (run) DO NOTHING",
            (run.id, str(run.chat), run.session, run.person, run.started, run.reply_to),
        )
        return begun.rowcount == 1

    return change


def find(connection: sqlite3.Connection, job: str, slot: str) -> Firing | None:
    return _one(connection, "job = ? AND slot = ?", (job, slot))


def find_by_id(connection: sqlite3.Connection, firing_id: str) -> Firing | None:
    return _one(connection, "id = ?", (firing_id,))


def find_named(connection: sqlite3.Connection, name: str) -> Firing | None:
    found = _NAME.fullmatch(name)
    known = (
        _all(connection, "job = ? AND replace(replace(slot, ':', ''), '-', '') = ?", found.groups()) if found else ()
    )
    return next(iter(known), None)


def history(connection: sqlite3.Connection, job: str, most: int) -> list[Firing]:
    return _all(connection, "job = ? ORDER BY due DESC, slot DESC LIMIT ?", (job, most))


def in_chat_since(connection: sqlite3.Connection, chat: ChatKey, since: float) -> list[Firing]:
    return _all(connection, "chat = ? AND due >= ? ORDER BY due, slot", (str(chat), since))


def held(connection: sqlite3.Connection, chat: ChatKey) -> list[Firing]:
    return _all(connection, "chat = ? AND delivery = 'held' ORDER BY due, slot", (str(chat),))


def on_the_way(connection: sqlite3.Connection) -> list[Firing]:
    return _all(connection, "delivery = 'pending' ORDER BY chat, due, slot", ())


def chats_with_held(connection: sqlite3.Connection) -> list[ChatKey]:
    rows = connection.execute("SELECT DISTINCT chat FROM firings WHERE delivery = 'held' ORDER BY chat")
    return list(readable(rows, lambda row: ChatKey.parse(row[0]), "firings"))


def _was_taken_in(connection: sqlite3.Connection, firing: Firing) -> bool:
    """Return True if the firing's event was accepted: then it has run or will run, even if it has no row yet."""
    query = "SELECT 1 FROM inbox WHERE event_id = ?"
    return connection.execute(query, (event_id(firing.job, firing.slot),)).fetchone() is not None


def event_id(job: str, slot: str) -> str:
    """Return the id of a firing's inbound event, which makes accepting it twice impossible."""
    return f"sched:{job}:{slot}"


def _one(connection: sqlite3.Connection, where: str, values: Sequence[_Value]) -> Firing | None:
    return next(iter(_all(connection, where, values)), None)


def _all(connection: sqlite3.Connection, where: str, values: Sequence[_Value]) -> list[Firing]:
    query = f"SELECT {COLUMNS} FROM firings WHERE {where}"  # noqa: S608
    return list(_firings(connection.execute(query, values)))


def _firings(rows: Iterable[_Row]) -> Iterator[Firing]:
    return readable(rows, _firing, "firings")


def _add(connection: sqlite3.Connection, firing: Firing) -> bool:
    values = _values(firing)
    marks = ", ".join("?" * len(values))
    query = f"INSERT INTO firings ({COLUMNS}) VALUES ({marks}) ON CONFLICT DO NOTHING"  # noqa: S608
    return connection.execute(query, values).rowcount == 1


def _save(connection: sqlite3.Connection, firing: Firing) -> None:
    values = _values(firing)
    marks = ", ".join("?" * len(values))
    query = f"UPDATE firings SET ({COLUMNS}) = ({marks}) WHERE job = ? AND slot = ?"  # noqa: S608
    connection.execute(query, (*values, firing.job, firing.slot))


def _values(firing: Firing) -> list[_Value]:
    return [
        firing.job,
        firing.slot,
        firing.id,
        str(firing.chat),
        firing.due,
        firing.state,
        firing.began,
        firing.ended,
        firing.run,
        firing.text,
        firing.untrusted,
        firing.error,
        firing.cause,
        firing.tokens,
        firing.cost_usd,
        firing.delivery,
        firing.delivery_error,
        firing.reaction,
        listed(firing.sources),
    ]


def _firing(row: _Row) -> Firing:
    return Firing(
        job=row[0],
        slot=row[1],
        id=row[2],
        chat=ChatKey.parse(row[3]),
        due=row[4],
        state=FiringState(row[5]),
        began=row[6],
        ended=row[7],
        run=row[8],
        text=row[9],
        untrusted=bool(row[10]),
        error=row[11],
        cause=row[12],
        tokens=row[13],
        cost_usd=row[14],
        delivery=DeliveryState(row[15]),
        delivery_error=row[16],
        reaction=None if row[17] is None else Reaction(row[17]),
        sources=read(row[18]) if row[18] else (),
    )
