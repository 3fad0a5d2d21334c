"""What may need a person without their having put it on a list: work that failed or hangs, reminders whose time has
come, jobs that have stopped."""

import re
from collections.abc import Iterator
from dataclasses import dataclass
from datetime import datetime
from pathlib import Path
from zoneinfo import ZoneInfo

from agent_core.tasks import TaskStatus
from channels.base import ChatKey
from gateway.heartbeat.notes import read_note
from gateway.store.job import Job, JobState, Pause, Reminder, Report
from gateway.store.rows import Task
from gateway.store.store import Store

REMINDERS = "reminders.md"
DAY = 24 * 3600.0
HANGING = 3600.0
"""Seconds after which a task that does not end is one that hangs."""
MOST = 10
LONGEST = 200
"""Characters of one."""

_OPEN = re.compile(r"\s*[-*+] \[ \]\s+(\d{4}-\d{1,2}-\d{1,2})(?:[ T](\d{1,2}:\d{2}))?\s+(.*\S)\s*")
"""The form that the skill `reminders` keeps."""


@dataclass(frozen=True)
class Due:
    """One thing, in words for the model, and since when it is so (seconds since the epoch)."""

    words: str
    since: float
    untrusted: bool = False
    """Whether others than the person may have had a word in it."""


async def due_items(store: Store, workspace: Path, chat: ChatKey, zone: ZoneInfo, now: float) -> list[Due]:
    """The newest of it, oldest first. Raises ToolFailed where the reminders cannot be read."""
    tasks = await store.newest_tasks(chat, None, MOST)
    jobs = await store.jobs.planned(chat)
    reminders = await read_note(workspace, REMINDERS) or ""
    found = [*stuck_tasks(tasks, now), *stopped_jobs(jobs), *overdue(reminders, zone, now)]
    return sorted(found, key=lambda item: item.since)[-MOST:]


def stuck_tasks(tasks: list[Task], now: float) -> Iterator[Due]:
    """Those in the background that failed within a day, or have been going on for too long."""
    for task in tasks:
        failed = task.status in (TaskStatus.FAILED, TaskStatus.KILLED)
        if failed and task.ended is not None and now - task.ended < DAY:
            yield Due(_line(f"task {task.id} failed", task.prompt), task.ended, untrusted=task.tainted)
        elif not task.is_over and now - (task.started or task.created) > HANGING:
            began = task.started or task.created
            yield Due(_line(f"task {task.id} hangs", task.prompt), began + HANGING, untrusted=task.tainted)


def stopped_jobs(jobs: list[Job]) -> Iterator[Due]:
    """Those that are paused because they failed."""
    for job in jobs:
        if job.state is JobState.PAUSED and job.pause is Pause.FAILURES:
            match job.work:
                case Reminder(text=words) | Report(instructions=words):
                    since = job.told_at or job.created
                    yield Due(_line(f"job {job.id} is paused, it failed", words), since, untrusted=job.tainted)
                case _:
                    pass


def overdue(text: str, zone: ZoneInfo, now: float) -> Iterator[Due]:
    """The open lines of reminders.md whose time has come; without a time it is due all day. Those of no form that can
    be read are left to the skill, which shows them."""
    for line in text.splitlines():
        if found := _OPEN.fullmatch(line):
            try:
                at = _moment(found[1], found[2], zone)
            except ValueError:
                continue
            if at <= now:
                yield Due(_line(f"reminder for {found[1]}{f' {found[2]}' if found[2] else ''}", found[3]), at)


def _moment(day: str, clock: str | None, zone: ZoneInfo) -> float:
    """Raises ValueError where there is no such day or time."""
    year, month, number = map(int, day.split("-"))
    hour, minute = map(int, (clock or "0:00").split(":"))
    return datetime(year, month, number, hour, minute, tzinfo=zone).timestamp()


def _line(what: str, words: str) -> str:
    return f"{what}: {' '.join(words.split())}"[:LONGEST]
