"""The reasons why what people write waits for its run: all of a chat in one place, by name."""

import asyncio
import math
import time
from collections.abc import Callable, Sequence
from enum import StrEnum

from msgspec import Struct

from agent_core.background import set_within
from agent_core.clock import Clock
from channels.base import ScheduleFired
from gateway.runs.drain import Drain
from gateway.store.rows import InboxItem


class Why(StrEnum):
    """The names of the holds.

    The first four keep messages that come after them from coming in: these neither steer a run nor wait for one yet.
    All from the fourth on let no run begin.
    """

    COMMAND = "command"
    """A command is in progress. Commands pass it, and earlier messages."""
    QUESTION = "question"
    """A message may answer a question of Parley. Commands pass it, and earlier messages."""
    GAP = "gap"
    """Older messages may be unread in the platform's history. Commands, presses of buttons and reports of tasks and
    jobs pass it."""
    TAKING_BACK = "taking back"
    """A command is in progress that takes back what was said, or an edit that changes it."""
    BUDGET = "budget"
    """A run of the user waits for room in a budget: what they write meanwhile is for that run. Others pass it."""
    PACE = "pace"
    """The user has begun as many runs as the rate limit allows. Others pass it."""
    TROUBLE = "trouble"
    """An error outside a run has ended the chat's work, which begins anew after a pause."""
    PLUGIN = "plugin"
    """A plugin has said so, which is asked again at the end."""
    DRAIN = "drain"
    """The program ends."""

    @property
    def is_brief(self) -> bool:
        """True if it is over before anybody could ask why they wait."""
        return self in (Why.COMMAND, Why.QUESTION, Why.TAKING_BACK)

    @property
    def keeps_runs(self) -> bool:
        """True if runs wait; False if only messages wait, to steer a run or to wait for one."""
        return self not in (Why.COMMAND, Why.QUESTION, Why.GAP)


class Hold(Struct, frozen=True, eq=False):
    """A reason to wait."""

    why: Why
    person: str | None = None
    """The user whose messages begin no run; None if no run of the chat begins or goes on."""
    until: float = math.inf
    """When it is over, by the monotonic clock. The one who lifts an endless one wakes the chat."""
    number: int = 0
    """That of a command, in the order in which they began."""
    text: str = ""
    """The key of what people are told, if a plugin holds it."""

    @property
    def is_endless(self) -> bool:
        return math.isinf(self.until)

    def keeps(self, item: InboxItem) -> bool:
        """Return True if no run may begin with the item. Posts of jobs only wait where everything does."""
        if self.person is None:
            return True
        return item.event.sender.id == self.person and not isinstance(item.event, ScheduleFired)


class HoldUntil(Struct, frozen=True):
    """A plugin's wish that a chat's next run waits.

    Attributes:
        text: Key of one of its texts without placeholders: a sentence that says why, for people.
        until: When the plugin is asked again, in seconds since the epoch.
    """

    text: str
    until: float


def _at_once(_: Sequence[InboxItem]) -> float:
    return 0.0


_DRAINING = Hold(Why.DRAIN)


class Holds:
    """The holds of one chat."""

    def __init__(
        self,
        wait: Callable[[Sequence[InboxItem]], float] = _at_once,
        now: Callable[[], float] = time.monotonic,
        drain: Drain | None = None,
    ) -> None:
        """Create the holds of a chat.

        Args:
            wait: Returns for how many seconds the rate limit of users holds the run that messages would begin; the
                answer 0 counts as the begin of that run.
            now: Returns the time of the monotonic clock.
            drain: Tells if the program ends, after which no run begins.
        """
        self._wait = wait
        self._now = now
        self._drain = drain or Drain()
        self._set: list[Hold] = []
        self._paced_last: Hold | None = None
        """The rate limit, if the run had to wait for it that was asked about last."""
        self.changed = asyncio.Event()
        """Set when a run may begin that was held before, and when there are other messages."""

    def set(self, hold: Hold) -> Hold:
        """Hold until the time that the hold names, or until it is lifted."""
        self._set.append(hold)
        self.changed.set()
        return hold

    def lift(self, hold: Hold) -> None:
        self._set.remove(hold)
        self.changed.set()

    @property
    def on_all(self) -> Hold | None:
        """The hold that lets no run of the chat begin or go on; None if they may."""
        for hold in self._on_runs():
            if hold.person is None:
                return hold
        return _DRAINING if self._drain.is_on else None

    def on_message(self, item: InboxItem) -> Hold | None:
        """Return the hold that was set on runs that the item would begin, if there is one."""
        for hold in self._on_runs():
            if hold.person is not None and hold.keeps(item):
                return hold
        return None

    def on_run(self, items: Sequence[InboxItem]) -> Hold | None:
        """Return why the run that these messages would begin has to wait. None if it begins now, which may count."""
        held = self.on_all or next((hold for hold in self._on_runs() if any(map(hold.keeps, items))), None)
        if held is None:
            wait = self._wait(items)
            held = Hold(Why.PACE, items[0].event.sender.id, self._now() + wait) if wait else None
            self._paced_last = held
        return held

    @property
    def reasons(self) -> Sequence[Hold]:
        """The holds for which people may be waiting, except those that are over in a moment."""
        now = self._now()
        found = [*self._set, self._paced_last, _DRAINING if self._drain.is_on else None]
        return [hold for hold in found if hold is not None and hold.until > now and not hold.why.is_brief]

    def left(self, hold: Hold) -> float:
        """Return for how many seconds it goes on."""
        return hold.until - self._now()

    async def over(self, hold: Hold, clock: Clock) -> None:
        """Wait until the time that a hold names, or until anything changes."""
        self.changed.clear()
        await set_within(self.changed, hold.until - self._now(), clock)

    def _on_runs(self) -> Sequence[Hold]:
        if not self._set:
            return ()
        now = self._now()
        self._set = [hold for hold in self._set if hold.until > now]
        return [hold for hold in self._set if hold.why.keeps_runs]
