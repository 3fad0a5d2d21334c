"""The table of jobs."""

import json
import sqlite3
from collections.abc import Callable, Collection, Iterable, Iterator, Sequence
from dataclasses import dataclass
from itertools import islice

from agent_core.sources import listed, read
from channels.base import ChatKey
from gateway.store.job import Job, JobState, Pause, work_adapter
from gateway.store.table import readable
from gateway.store.writer import Change
from gateway.timing.rule import rule_adapter

COLUMNS = (
    "id, chat, person, language, zone, rule, work, created, state, pause, grace, next_at, tainted, scripts, failures,"
    " told_cause, told_at, instead_of, given, sources"
)
_PLATFORM = "substr(chat, 1, instr(chat, ':') - 1)"

_Row = tuple[
    str,
    str,
    str,
    str,
    str,
    str,
    str,
    float,
    str,
    str | None,
    float,
    float | None,
    int,
    str,
    int,
    str,
    float | None,
    str,
    str,
    str,
]
_Value = str | float | None

JobStep = Callable[[Job], Job]


@dataclass(frozen=True)
class Advance:
    """A move of a job's due time from `seen` to `to`; None: the job is done."""

    job: str
    seen: float
    to: float | None


def add(job: Job) -> Change[bool]:
    values = _values(job)

    def change(connection: sqlite3.Connection) -> bool:
        query = f"INSERT INTO jobs ({COLUMNS}) VALUES ({_marks(values)}) ON CONFLICT (id) DO NOTHING"  # noqa: S608
        return connection.execute(query, values).rowcount == 1

    return change


def save(job: Job) -> Change[None]:
    def change(connection: sqlite3.Connection) -> None:
        _save(connection, job)

    return change


def step(job_id: str, take: JobStep) -> Change[Job | None]:
    """Apply a step to a job; returns None if there is no such job."""

    def change(connection: sqlite3.Connection) -> Job | None:
        found = find(connection, job_id)
        if found is None:
            return None
        job = take(found)
        if job != found:
            _save(connection, job)
        return job

    return change


def advance(moves: Sequence[Advance]) -> Change[list[str]]:
    """Move each job whose due time is still `seen`. Returns the ids of the jobs moved."""

    def change(connection: sqlite3.Connection) -> list[str]:
        return [move.job for move in moves if moved(connection, move)]

    return change


def moved(connection: sqlite3.Connection, move: Advance) -> bool:
    state = JobState.DONE if move.to is None else JobState.ACTIVE
    done = connection.execute(
        "UPDATE jobs SET next_at = ?, state = ? WHERE id = ? AND next_at = ? AND state = 'active'",
        (move.to, state, move.job, move.seen),
    )
    return done.rowcount == 1


_ONE_OFF = "json_extract(rule, '$.type') = 'once' AND json_extract(work, '$.type') = 'reminder' AND instead_of = ''"


def unconfirmed(connection: sqlite3.Connection, now: float) -> list[Job]:
    """Return draft one-off reminders whose time has passed without a confirmation."""
    query = (
        f"SELECT {COLUMNS} FROM jobs WHERE state = 'draft' AND {_ONE_OFF}"  # noqa: S608
        " AND json_extract(rule, '$.at') <= ? ORDER BY created"
    )
    return list(_jobs(connection.execute(query, (now,))))


def purge_drafts(before: float) -> Change[None]:
    def change(connection: sqlite3.Connection) -> None:
        connection.execute(
            f"DELETE FROM jobs WHERE state = 'draft' AND created < ? AND NOT ({_ONE_OFF})",  # noqa: S608
            (before,),
        )

    return change


def find(connection: sqlite3.Connection, job_id: str) -> Job | None:
    row = connection.execute(f"SELECT {COLUMNS} FROM jobs WHERE id = ?", (job_id,)).fetchone()  # noqa: S608
    return next(_jobs([row]), None) if row else None


def in_chat(connection: sqlite3.Connection, chat: ChatKey) -> list[Job]:
    query = f"SELECT {COLUMNS} FROM jobs WHERE chat = ? AND state != 'removed' ORDER BY created, id"  # noqa: S608
    return list(_jobs(connection.execute(query, (str(chat),))))


def planned(connection: sqlite3.Connection, chat: ChatKey) -> list[Job]:
    """Return the chat's jobs that are neither done nor removed; most jobs of a busy chat are done and are not read."""
    query = (
        f"SELECT {COLUMNS} FROM jobs WHERE chat = ? AND state NOT IN ('removed', 'done')"  # noqa: S608
        " ORDER BY created, id"
    )
    return list(_jobs(connection.execute(query, (str(chat),))))


def active_count(connection: sqlite3.Connection, chat: ChatKey) -> int:
    query = "SELECT count(*) FROM jobs WHERE chat = ? AND state = 'active'"
    return int(connection.execute(query, (str(chat),)).fetchone()[0])


def due(connection: sqlite3.Connection, now: float, most: int, platforms: Collection[str]) -> list[Job]:
    """Return due jobs, at most `most`; a row that cannot be read does not count."""
    query = (
        f"SELECT {COLUMNS} FROM jobs WHERE state = 'active' AND next_at <= ?"  # noqa: S608
        f" AND {_PLATFORM} IN (SELECT value FROM json_each(?)) ORDER BY next_at, id"
    )
    return list(islice(_jobs(connection.execute(query, (now, json.dumps([*platforms])))), most))


def next_due(connection: sqlite3.Connection, after: float) -> float | None:
    query = "SELECT min(next_at) FROM jobs WHERE state = 'active' AND next_at > ?"
    found: float | None = connection.execute(query, (after,)).fetchone()[0]
    return found


def active(connection: sqlite3.Connection) -> list[Job]:
    query = f"SELECT {COLUMNS} FROM jobs WHERE state = 'active' ORDER BY created, id"  # noqa: S608
    return list(_jobs(connection.execute(query)))


def _jobs(rows: Iterable[_Row]) -> Iterator[Job]:
    return readable(rows, _job, "jobs")


def _save(connection: sqlite3.Connection, job: Job) -> None:
    values = _values(job)
    query = f"UPDATE jobs SET ({COLUMNS}) = ({_marks(values)}) WHERE id = ?"  # noqa: S608
    connection.execute(query, (*values, job.id))


def _marks(values: Sequence[_Value]) -> str:
    return ", ".join("?" * len(values))


def _values(job: Job) -> list[_Value]:
    return [
        job.id,
        str(job.chat),
        job.person,
        job.language,
        job.zone,
        job.rule.model_dump_json(),
        job.work.model_dump_json(),
        job.created,
        job.state,
        job.pause,
        job.grace,
        job.next_at,
        job.tainted,
        json.dumps(job.scripts),
        job.failures,
        job.told_cause,
        job.told_at,
        job.instead_of,
        json.dumps(job.given),
        listed(job.sources),
    ]


def _job(row: _Row) -> Job:
    return Job(
        id=row[0],
        chat=ChatKey.parse(row[1]),
        person=row[2],
        language=row[3],
        zone=row[4],
        rule=rule_adapter.validate_json(row[5]),
        work=work_adapter.validate_json(row[6]),
        created=row[7],
        state=JobState(row[8]),
        pause=None if row[9] is None else Pause(row[9]),
        grace=row[10],
        next_at=row[11],
        tainted=bool(row[12]),
        scripts=tuple(map(str, json.loads(row[13]))),
        failures=row[14],
        told_cause=row[15],
        told_at=row[16],
        instead_of=row[17],
        given=tuple(map(str, json.loads(row[18]))),
        sources=read(row[19]) if row[19] else (),
    )
