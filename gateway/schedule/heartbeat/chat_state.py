"""Reads the state of a chat for its heartbeat from the store and the workspace."""

import asyncio
import re
from collections.abc import Iterator, Sequence
from dataclasses import replace
from datetime import datetime, time
from pathlib import Path
from zoneinfo import ZoneInfo

import structlog
from msgspec import Struct

from agent_core.file_handles import raise_lack
from agent_core.origin import CLEAN, Origin
from agent_core.tasks import TaskStatus
from agent_core.tools.tool import ToolFailed
from agent_core.workspace.provenance import FileLedger
from channels.base import ChatKey
from gateway.delivery.delivery import Delivery
from gateway.permissions.workspaces import workspace_of
from gateway.schedule.heartbeat.checklist import NAME as CHECKLIST
from gateway.schedule.heartbeat.checklist import read_checklist, read_note
from gateway.schedule.heartbeat.gates import Facts
from gateway.schedule.heartbeat.greeting import IDLE, is_due, planned
from gateway.schedule.times.quiet import QuietHours
from gateway.schedule.zones import ZoneOf
from gateway.store.job import DeliveryState, Firing, FiringState, Heartbeat, Job, JobState, Pause
from gateway.store.rows import Task
from gateway.store.store import Store
from gateway.texts.say import LANGUAGES, Language, say

REMINDERS = "reminders.md"
DAY = 24 * 3600.0
HANGING = 3600.0
"""Seconds after which a running task counts as hanging."""
MOST = 10
LONGEST = 200
"""Characters of an item."""

_OPEN = re.compile(r"\s*[-*+] \[ \]\s+(\d{4}-\d{1,2}-\d{1,2})(?:[ T](\d{1,2}:\d{2}))?\s+(.*\S)\s*")
"""The form in which the skill `reminders` writes them."""

log = structlog.get_logger(__name__)


class DueItem(Struct, frozen=True):
    """An item in words for the model, and when it came up (seconds since the epoch)."""

    words: str
    since: float
    origin: Origin


async def due_items(
    store: Store, workspace: Path, chat: ChatKey, zone: ZoneInfo, now: float, of_reminders: Origin
) -> list[DueItem]:
    """Return the newest items, oldest first.

    `of_reminders`: the origin of reminders.md. Raises ToolFailed if that file cannot be read.
    """
    tasks = await store.tasks.newest(chat, None, MOST)
    jobs = await store.jobs.planned(chat)
    reminders = await read_note(workspace, REMINDERS) or ""
    found = [*stuck_tasks(tasks, now), *stopped_jobs(jobs), *overdue(reminders, zone, now, of_reminders)]
    return sorted(found, key=lambda item: item.since)[-MOST:]


def stuck_tasks(tasks: list[Task], now: float) -> Iterator[DueItem]:
    """Yield background tasks that failed within the last day or have been running for too long."""
    for task in tasks:
        failed = task.status in (TaskStatus.FAILED, TaskStatus.KILLED)
        if failed and task.ended is not None and now - task.ended < DAY:
            yield DueItem(_line(f"task {task.id} failed", task.prompt), task.ended, task.origin)
        elif not task.is_over and now - (task.started or task.created) > HANGING:
            began = task.started or task.created
            yield DueItem(_line(f"task {task.id} hangs", task.prompt), began + HANGING, task.origin)


def stopped_jobs(jobs: list[Job]) -> Iterator[DueItem]:
    """Yield jobs that are paused because they failed."""
    for job in jobs:
        if job.state is JobState.PAUSED and job.pause is Pause.FAILURES and job.words:
            since = job.told_at or job.created
            yield DueItem(_line(f"job {job.id} is paused, it failed", job.words), since, job.origin)


def overdue(text: str, zone: ZoneInfo, now: float, origin: Origin) -> Iterator[DueItem]:
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
                yield DueItem(words, at, origin)


def _moment(day: str, clock: str | None, zone: ZoneInfo) -> float:
    """Raise ValueError if the day or time does not exist."""
    year, month, number = map(int, day.split("-"))
    hour, minute = map(int, (clock or "0:00").split(":"))
    return datetime(year, month, number, hour, minute, tzinfo=zone).timestamp()


def _line(what: str, words: str) -> str:
    return f"{what}: {' '.join(words.split())}"[:LONGEST]


_LOOKED = frozenset({FiringState.DONE, FiringState.NOTHING})


class Agenda(Struct, frozen=True):
    """The things that a check-in looks at."""

    origin: Origin
    """The origin of the checklist."""
    lines: tuple[str, ...] = ()
    """Lines of the checklist."""
    due: tuple[DueItem, ...] = ()
    fresh: bool = False
    """True if a due item was not checked yet, or not within a day."""
    greets: bool = False
    """True if it is the time for a greeting."""

    @property
    def has_something(self) -> bool:
        return bool(self.lines) or self.fresh or self.greets

    @property
    def is_greeting(self) -> bool:
        """True if there is nothing but a greeting."""
        return self.greets and not self.lines and not self.due


class Recent(Struct, frozen=True):
    """Unprompted messages and check-ins in a chat since midnight and in the last day, oldest first."""

    firings: Sequence[Firing]
    job: str
    """The id of the heartbeat's job."""
    midnight: float
    """In the chat's time zone."""
    now: float

    @property
    def said(self) -> list[Firing]:
        """Messages of the last day, without the explanation that the first one carries."""
        found = (each for each in self.firings if each.due >= self.now - DAY and each.text and arrived(each))
        return [replace(each, text=unexplained(each.text)) for each in found]

    @property
    def today(self) -> list[Firing]:
        """Scheduled check-ins since midnight."""
        mine = (each for each in self.firings if each.job == self.job and not each.is_by_hand)
        return [each for each in mine if each.due >= self.midnight]

    @property
    def said_today(self) -> int:
        """The number of messages they sent."""
        return sum(map(arrived, self.today))

    @property
    def check_ins(self) -> list[float]:
        """The times of check-ins of the last day that completed and whose message, if any, did not fail."""
        mine = (each for each in self.firings if each.job == self.job and each.due >= self.now - DAY)
        return [each.due for each in mine if each.state in _LOOKED and each.delivery is not DeliveryState.FAILED]

    @property
    def is_open(self) -> bool:
        """True if a check-in is running or its message is being sent."""
        mine = (each for each in self.firings if each.job == self.job)
        return any(each.state is FiringState.BEGUN or each.delivery is DeliveryState.PENDING for each in mine)


class ChatState(Struct, frozen=True):
    """The facts that a check-in is based on."""

    zone: ZoneInfo
    recent: Recent
    agenda: Agenda | None
    """None if the checklist or the reminders cannot be read."""


class ChatStates:
    """Reads the state of chats; changes nothing."""

    def __init__(
        self,
        store: Store,
        delivery: Delivery,
        home: Path,
        ledger: FileLedger,
        zone_of: ZoneOf,
    ) -> None:
        """`ledger` records the sources of untrusted input in files; `zone_of` returns a chat's time zone."""
        self._store = store
        self._ledger = ledger
        self._delivery = delivery
        self._home = home
        self.zone_of = zone_of

    async def of(self, heartbeat: Heartbeat, now: float, at: float | None = None) -> ChatState:
        """Return the state of a heartbeat's chat, with what there is to check at `at`, or now."""
        zone = self.zone_of(heartbeat.chat, heartbeat.person)
        recent = await self._recent(heartbeat, zone, now)
        try:
            agenda = await self._agenda(heartbeat, zone, now if at is None else at, recent)
        except ToolFailed as error:
            raise_lack(error)
            log.warning("the checklist or the reminders were not read", chat=str(heartbeat.chat), reason=error.fact)
            agenda = None
        return ChatState(zone, recent, agenda)

    async def facts(self, heartbeat: Heartbeat, wrote: float | None, recent: Recent, agenda: Agenda) -> Facts:
        chat = await self._store.chats.get(heartbeat.chat)
        is_busy = recent.is_open or await self._store.runs.current(heartbeat.chat, chat.session) is not None
        return Facts(
            wrote,
            is_busy,
            recent.said_today,
            tokens_today=sum(each.tokens for each in recent.today),
            cost_today=sum(each.cost_usd for each in recent.today),
            has_something=agenda.has_something,
        )

    async def _recent(self, heartbeat: Heartbeat, zone: ZoneInfo, now: float) -> Recent:
        today = datetime.fromtimestamp(now, zone).date()
        midnight = datetime.combine(today, time.min, zone).timestamp()
        firings = await self._store.firings.in_chat_since(heartbeat.chat, min(midnight, now - DAY))
        return Recent(firings, heartbeat.job, midnight, now)

    async def _agenda(self, heartbeat: Heartbeat, zone: ZoneInfo, now: float, recent: Recent) -> Agenda:
        """Return what there is to check. Raises ToolFailed if a file of the chat cannot or may not be read."""
        workspace = workspace_of(self._home, heartbeat.chat)
        before, _ = await asyncio.to_thread(self._origins, workspace)
        lines = await read_checklist(workspace)
        of_list, of_reminders = await asyncio.to_thread(self._origins, workspace)
        of_list |= before
        due = tuple(await due_items(self._store, workspace, heartbeat.chat, zone, now, of_reminders))
        last = max(recent.check_ins, default=None)
        fresh = any(last is None or item.since > last for item in due)
        greets = await self._greets(heartbeat, zone, now, recent)
        return Agenda(of_list if lines else CLEAN, lines, due, fresh=fresh, greets=greets)

    def _origins(self, workspace: Path) -> tuple[Origin, Origin]:
        """Return the origins of the checklist and of the reminders."""
        files = self._ledger.of(workspace)
        return files.of([CHECKLIST]), files.of([REMINDERS])

    async def _greets(self, heartbeat: Heartbeat, zone: ZoneInfo, now: float, recent: Recent) -> bool:
        """Return True if a greeting is due; a user who does not answer is greeted only once."""
        if self._delivery.channel(heartbeat.chat).is_group(heartbeat.chat):
            return False
        wrote = await self._store.heartbeats.last_wrote(heartbeat.chat, heartbeat.person)
        if wrote is None or now - wrote < IDLE:
            return False
        today = datetime.fromtimestamp(now, zone).date()
        plan = planned(heartbeat.chat, today, zone, QuietHours.of(heartbeat), heartbeat.most_a_day)
        if not is_due(plan, now, recent.check_ins):
            return False
        since = await self._store.firings.in_chat_since(heartbeat.chat, wrote)
        return not any(each.job == heartbeat.job and each.due > wrote and arrived(each) for each in since)


def explained(text: str, language: Language) -> str:
    """Add the explanation that accompanies the first unprompted message."""
    return "\n\n".join([text, say("heartbeat_explained", language)])


def unexplained(text: str) -> str:
    for language in LANGUAGES:
        text = text.removesuffix(explained("", language))
    return text


def arrived(firing: Firing) -> bool:
    """Return True if the firing's message was delivered."""
    return firing.state is FiringState.DONE and firing.delivery is DeliveryState.SENT
