"""Reads the state of a chat for its heartbeat from the store and the workspace."""

import asyncio
from collections.abc import Sequence
from dataclasses import dataclass, replace
from datetime import datetime, time
from pathlib import Path
from zoneinfo import ZoneInfo

from agent_core.sources import Sources
from agent_core.workspace.provenance import FileLedger
from gateway.delivery.delivery import Delivery
from gateway.permissions.workspaces import workspace_of
from gateway.schedule.heartbeat import greeting
from gateway.schedule.heartbeat.check_in import Look
from gateway.schedule.heartbeat.checklist import NAME as CHECKLIST
from gateway.schedule.heartbeat.checklist import read_checklist
from gateway.schedule.heartbeat.due import DAY, REMINDERS, due_items
from gateway.schedule.heartbeat.gates import Facts
from gateway.store.job import DeliveryState, Firing, FiringState, Heartbeat
from gateway.store.store import Store
from gateway.texts.say import LANGUAGES, Language, say

_LOOKED = frozenset({FiringState.DONE, FiringState.NOTHING})


@dataclass(frozen=True)
class Lately:
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
    def looks(self) -> list[float]:
        """The times of check-ins of the last day that completed and whose message, if any, did not fail."""
        mine = (each for each in self.firings if each.job == self.job and each.due >= self.now - DAY)
        return [each.due for each in mine if each.state in _LOOKED and each.delivery is not DeliveryState.FAILED]

    @property
    def is_open(self) -> bool:
        """True if a check-in is running or its message is being sent."""
        mine = (each for each in self.firings if each.job == self.job)
        return any(each.state is FiringState.BEGUN or each.delivery is DeliveryState.PENDING for each in mine)


class LookingAfter:
    """Reads the state of chats; changes nothing."""

    def __init__(self, store: Store, delivery: Delivery, home: Path, ledger: FileLedger) -> None:
        """`ledger` records the sources of untrusted input in files."""
        self._store = store
        self._ledger = ledger
        self._delivery = delivery
        self._home = home

    async def lately(self, heartbeat: Heartbeat, zone: ZoneInfo, now: float) -> Lately:
        today = datetime.fromtimestamp(now, zone).date()
        midnight = datetime.combine(today, time.min, zone).timestamp()
        firings = await self._store.firings.in_chat_since(heartbeat.chat, min(midnight, now - DAY))
        return Lately(firings, heartbeat.job, midnight, now)

    async def look(self, heartbeat: Heartbeat, zone: ZoneInfo, now: float, lately: Lately) -> Look:
        """Return what there is to check. Raises ToolFailed if a file of the chat cannot or may not be read."""
        workspace = workspace_of(self._home, heartbeat.chat)
        lines = await read_checklist(workspace)
        of_list, of_reminders = await asyncio.to_thread(self._sources, workspace)
        due = tuple(await due_items(self._store, workspace, heartbeat.chat, zone, now, of_reminders))
        last = max(lately.looks, default=None)
        fresh = any(last is None or item.since > last for item in due)
        greets = await self._greets(heartbeat, zone, now, lately)
        return Look(lines, due, fresh=fresh, greets=greets, sources=of_list if lines else ())

    def _sources(self, workspace: Path) -> tuple[Sources, Sources]:
        """Return the sources of untrusted input in the checklist and in the reminders."""
        files = self._ledger.of(workspace)
        return files.of([CHECKLIST]), files.of([REMINDERS])

    async def facts(self, heartbeat: Heartbeat, wrote: float | None, lately: Lately, look: Look) -> Facts:
        chat = await self._store.chats.get(heartbeat.chat)
        is_busy = lately.is_open or await self._store.runs.current(heartbeat.chat, chat.session) is not None
        return Facts(
            wrote,
            is_busy,
            lately.said_today,
            tokens_today=sum(each.tokens for each in lately.today),
            cost_today=sum(each.cost_usd for each in lately.today),
            has_something=look.has_something,
        )

    async def _greets(self, heartbeat: Heartbeat, zone: ZoneInfo, now: float, lately: Lately) -> bool:
        """Return True if a greeting is due; a user who does not answer is greeted only once."""
        if self._delivery.channel(heartbeat.chat).is_group(heartbeat.chat):
            return False
        wrote = await self._store.heartbeats.last_wrote(heartbeat.chat, heartbeat.person)
        if wrote is None or now - wrote < greeting.IDLE:
            return False
        today = datetime.fromtimestamp(now, zone).date()
        plan = greeting.planned(heartbeat.chat, today, zone, heartbeat.quiet_hours, heartbeat.most_a_day)
        if not greeting.is_due(plan, now, lately.looks):
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
