"""Events that a check-in reports although they are on no checklist."""

from datetime import datetime
from zoneinfo import ZoneInfo

import pytest

from agent_core.origin import CLEAN
from agent_core.tasks import TaskStatus
from channels.base import ChatKey
from gateway.schedule.heartbeat.chat_state import overdue, stopped_jobs, stuck_tasks
from gateway.store.job import CheckIn, Job, JobState, Pause, Report
from gateway.store.rows import Task
from gateway.store.rule import Every

PARIS = ZoneInfo("Europe/Paris")
ANN = ChatKey(platform="memory", account="here", chat="ann")
NOW = datetime(2026, 11, 23, 12, tzinfo=PARIS).timestamp()


@pytest.mark.parametrize(
    ("line", "found"),
    [
        ("- [ ] 2026-11-23 09:00 Call the bank", "reminder for 2026-11-23 09:00: Call the bank"),
        (
            "* [ ] 2026-11-23 Hand in the report (every week)",
            "reminder for 2026-11-23: Hand in the report (every week)",
        ),
        ("- [ ] 2026-11-22T09:00 给银行打电话", "reminder for 2026-11-22 09:00: 给银行打电话"),
    ],
)
def test_reminders_whose_time_has_come(line: str, found: str) -> None:
    [item] = overdue(f"# Reminders\n{line}\n", PARIS, NOW, CLEAN)
    assert item.words == found


@pytest.mark.parametrize(
    "line",
    [
        "- [ ] 2026-11-23 12:01 Call the bank",
        "- [ ] 2026-11-24 Hand in the report",
        "- [x] 2026-11-22 Buy tickets",
        "- [ ] 2026-02-31 There is no such day",
        "- [ ] 2026-11-22 25:00 There is no such hour",
        "- [ ] Call the bank",
        "2026-11-22 Call the bank",
    ],
)
def test_other_lines(line: str) -> None:
    assert list(overdue(line, PARIS, NOW, CLEAN)) == []


def a_task(status: TaskStatus, *, created: float, ended: float | None = None) -> Task:
    return Task(
        id="abc123",
        call="call",
        chat=ANN,
        asked_by="run",
        person="ann",
        language="en",
        reply_to=None,
        prompt="Dig\ndeep",
        background=True,
        origin=CLEAN,
        created=created,
        status=status,
        ended=ended,
    )


def test_a_task_that_failed_is_due_for_a_day() -> None:
    [item] = stuck_tasks([a_task(TaskStatus.FAILED, created=NOW - 7200, ended=NOW - 3600)], NOW)
    assert (item.words, item.since) == ("task abc123 failed: Dig deep", NOW - 3600)
    assert not list(stuck_tasks([a_task(TaskStatus.FAILED, created=NOW - 90_000, ended=NOW - 86_400)], NOW))
    assert not list(stuck_tasks([a_task(TaskStatus.COMPLETED, created=NOW - 7200, ended=NOW - 3600)], NOW))


def test_a_task_that_does_not_end_hangs_after_an_hour() -> None:
    [item] = stuck_tasks([a_task(TaskStatus.RUNNING, created=NOW - 7200)], NOW)
    assert (item.words, item.since) == ("task abc123 hangs: Dig deep", NOW - 3600)
    assert not list(stuck_tasks([a_task(TaskStatus.RUNNING, created=NOW - 60)], NOW))


def a_job(**how: object) -> Job:
    rule = Every(seconds=3600, since=0)
    given = {"work": Report(instructions="Count the\nfiles"), "state": JobState.PAUSED, "pause": Pause.FAILURES, **how}
    return Job("abc123", ANN, "ann", "en", "Europe/Paris", rule, origin=CLEAN, created=0.0, **given)  # type: ignore[arg-type]


def test_a_job_that_is_paused_since_it_fails_is_due() -> None:
    [item] = stopped_jobs([a_job(told_at=NOW)])
    assert (item.words, item.since) == ("job abc123 is paused, it failed: Count the files", NOW)
    others = [a_job(pause=Pause.PERSON), a_job(state=JobState.ACTIVE, pause=None), a_job(work=CheckIn())]
    assert not list(stopped_jobs(others))
