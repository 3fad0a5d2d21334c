"""Finds what may need the user's attention: failed or hanging tasks, overdue reminders and failed jobs."""

import re
from collections.abc import Iterator
from dataclasses import dataclass
from datetime import datetime
from pathlib import Path
from zoneinfo import ZoneInfo

from agent_core.sources import Sources
from agent_core.tasks import TaskStatus
from channels.base import ChatKey
from gateway.schedule.heartbeat.notes import read_note
from gateway.store.job import Job, JobState, Pause, Reminder, Report
from gateway.store.rows import Task
from gateway.store.store import Store

REMINDERS = "reminders.md"
DAY = 24 * 3600.0
HANGING = 3600.0
"""Seconds after which a running task counts as hanging."""
MOST = 10
LONGEST = 200
"""Characters of an item."""

_OPEN = re.compile(r"\s*[-*+] \[ \]\s+(\d{4}-\d{1,2}-\d{1,2})(?:[ T](\d{1,2}:\d{2}))?\s+(.*\S)\s*")
"""The form in which the skill `reminders` writes them."""


@dataclass(frozen=True)
class Due:
    """An item in words for the model, and when it came up (seconds since the epoch)."""

    words: str
    since: float
    sources: Sources = ()
    """The sources of untrusted input in it."""


async def due_items(
    store: Store, workspace: Path, chat: ChatKey, zone: ZoneInfo, now: float, of_reminders: Sources
) -> list[Due]:
    """Return the newest items, oldest first.

    `of_reminders`: the sources of untrusted input in reminders.md. Raises ToolFailed if that file cannot be read.
    """
    tasks = await store.tasks.newest(chat, None, MOST)
    jobs = await store.jobs.planned(chat)
    reminders = await read_note(workspace, REMINDERS) or ""
    found = [*stuck_tasks(tasks, now), *stopped_jobs(jobs), *overdue(reminders, zone, now, of_reminders)]
    return sorted(found, key=lambda item: item.since)[-MOST:]


def stuck_tasks(tasks: list[Task], now: float) -> Iterator[Due]:
    """Yield background tasks that failed within the last day or have been running for too long."""
    for task in tasks:
        failed = task.status in (TaskStatus.FAILED, TaskStatus.KILLED)
        if failed and task.ended is not None and now - task.ended < DAY:
            yield Due(_line(f"task {task.id} failed", task.prompt), task.ended, sources=task.sources)
        elif not task.is_over and now - (task.started or task.created) > HANGING:
            began = task.started or task.created
            yield Due(_line(f"task {task.id} hangs", task.prompt), began + HANGING, sources=task.sources)


def stopped_jobs(jobs: list[Job]) -> Iterator[Due]:
    """Yield jobs that are paused because they failed."""
    for job in jobs:
        if job.state is JobState.PAUSED and job.pause is Pause.FAILURES:
            match job.work:
                case Reminder(text=words) | Report(instructions=words):
                    since = job.told_at or job.created
                    yield Due(_line(f"job {job.id} is paused, it failed", words), since, sources=job.after)
                case _:
                    pass


def overdue(text: str, zone: ZoneInfo, now: float, sources: Sources = ()) -> Iterator[Due]:
    """Yield open reminders whose time has come; without a time they are due all day.

    Lines in another form are skipped; the skill shows them.
    """
    for line in text.splitlines():
        if found := _OPEN.fullmatch(line):
            try:
                at = _moment(found[1], found[2], zone)
            except ValueError:
                continue
            if at <= now:
                words = _line(f"reminder for {found[1]}{f' {found[2]}' if found[2] else ''}", found[3])
                yield Due(words, at, sources)


def _moment(day: str, clock: str | None, zone: ZoneInfo) -> float:
    """Raise ValueError if the day or time does not exist."""
    year, month, number = map(int, day.split("-"))
    hour, minute = map(int, (clock or "0:00").split(":"))
    return datetime(year, month, number, hour, minute, tzinfo=zone).timestamp()


def _line(what: str, words: str) -> str:
    return f"{what}: {' '.join(words.split())}"[:LONGEST]
