"""What is so in a chat that is looked after, read from the store and from its files."""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from datetime import datetime, time
from pathlib import Path
from zoneinfo import ZoneInfo

from gateway.delivery import Delivery
from gateway.folders import workspace_of
from gateway.heartbeat import greeting
from gateway.heartbeat.check_in import Look
from gateway.heartbeat.checklist import read_checklist
from gateway.heartbeat.due import DAY, due_items
from gateway.heartbeat.gates import Facts
from gateway.store.job import DeliveryState, Firing, FiringState, Heartbeat
from gateway.store.store import Store
from gateway.texts import LANGUAGES, Language, say

_LOOKED = frozenset({FiringState.DONE, FiringState.NOTHING})


@dataclass(frozen=True)
class Lately:
    """What was done there unasked since midnight and in the last day, oldest first."""

    firings: Sequence[Firing]
    job: str
    """Of the heartbeat."""
    midnight: float
    """In the zone of the chat."""
    now: float

    @property
    def said(self) -> list[Firing]:
        """Everything that the chat was told in the last day, without what a first message says of itself."""
        found = (each for each in self.firings if each.due >= self.now - DAY and each.text and arrived(each))
        return [replace(each, text=unexplained(each.text)) for each in found]

    @property
    def today(self) -> list[Firing]:
        """Looks that nobody called for."""
        mine = (each for each in self.firings if each.job == self.job and not each.is_by_hand)
        return [each for each in mine if each.due >= self.midnight]

    @property
    def said_today(self) -> int:
        """Messages of these."""
        return sum(map(arrived, self.today))

    @property
    def looks(self) -> list[float]:
        """When there were check-ins that came to an end, and to people where there was something to say."""
        mine = (each for each in self.firings if each.job == self.job and each.due >= self.now - DAY)
        return [each.due for each in mine if each.state in _LOOKED and each.delivery is not DeliveryState.FAILED]

    @property
    def is_open(self) -> bool:
        """Whether a check-in is not over, or its message on its way."""
        mine = (each for each in self.firings if each.job == self.job)
        return any(each.state is FiringState.BEGUN or each.delivery is DeliveryState.PENDING for each in mine)


class LookingAfter:
    """Reads; changes nothing."""

    def __init__(self, store: Store, delivery: Delivery, home: Path) -> None:
        self._store = store
        self._delivery = delivery
        self._home = home

    async def lately(self, heartbeat: Heartbeat, zone: ZoneInfo, now: float) -> Lately:
        today = datetime.fromtimestamp(now, zone).date()
        midnight = datetime.combine(today, time.min, zone).timestamp()
        firings = await self._store.jobs.in_chat_since(heartbeat.chat, min(midnight, now - DAY))
        return Lately(firings, heartbeat.job, midnight, now)

    async def look(self, heartbeat: Heartbeat, zone: ZoneInfo, now: float, lately: Lately) -> Look:
        """Raises ToolFailed where a file of the chat cannot or may not be read."""
        workspace = workspace_of(self._home, heartbeat.chat)
        lines = await read_checklist(workspace)
        due = tuple(await due_items(self._store, workspace, heartbeat.chat, zone, now))
        last = max(lately.looks, default=None)
        fresh = any(last is None or item.since > last for item in due)
        return Look(lines, due, fresh=fresh, greets=await self._greets(heartbeat, zone, now, lately))

    async def facts(self, heartbeat: Heartbeat, wrote: float | None, lately: Lately, look: Look) -> Facts:
        chat = await self._store.chat(heartbeat.chat)
        is_busy = lately.is_open or await self._store.current_run(heartbeat.chat, chat.session) is not None
        return Facts(
            wrote,
            is_busy,
            lately.said_today,
            tokens_today=sum(each.tokens for each in lately.today),
            cost_today=sum(each.cost_usd for each in lately.today),
            has_something=look.has_something,
        )

    async def _greets(self, heartbeat: Heartbeat, zone: ZoneInfo, now: float, lately: Lately) -> bool:
        """Once in a silence: who does not answer is not greeted again."""
        if self._delivery.channel(heartbeat.chat).is_group(heartbeat.chat):
            return False
        wrote = await self._store.jobs.last_wrote(heartbeat.chat, heartbeat.person)
        if wrote is None or now - wrote < greeting.IDLE:
            return False
        today = datetime.fromtimestamp(now, zone).date()
        plan = greeting.planned(heartbeat.chat, today, zone, heartbeat.quiet_hours, heartbeat.most_a_day)
        if not greeting.is_due(plan, now, lately.looks):
            return False
        since = await self._store.jobs.in_chat_since(heartbeat.chat, wrote)
        return not any(each.job == heartbeat.job and each.due > wrote and arrived(each) for each in since)


def explained(text: str, language: Language) -> str:
    """The first thing that is ever said unasked, with why."""
    return "\n\n".join([text, say("heartbeat_explained", language)])


def unexplained(text: str) -> str:
    for language in LANGUAGES:
        text = text.removesuffix(explained("", language))
    return text


def arrived(firing: Firing) -> bool:
    """Whether people have read it."""
    return firing.state is FiringState.DONE and firing.delivery is DeliveryState.SENT
