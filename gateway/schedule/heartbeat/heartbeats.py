"""The heartbeat: periodic check-ins on chats.

If any step fails, the chat is left alone. No model is called if there is nothing to check.
"""

from dataclasses import replace

import structlog
from msgspec import Struct

from agent_core.clock import Clock
from channels.base import ChatKey
from gateway.schedule.heartbeat import gates
from gateway.schedule.heartbeat.chat_state import ChatState, ChatStates, arrived, explained
from gateway.schedule.heartbeat.check_in import brief, is_repeated, says_nothing
from gateway.schedule.heartbeat.greeting import shortened
from gateway.schedule.heartbeat.settings import EVERY, LATE, HeartbeatSettings, began
from gateway.schedule.jobs.job_runs import CheckInBrief
from gateway.settings.current import CurrentSettings
from gateway.store.job import Firing, FiringState, Heartbeat, Job, JobState, Pause
from gateway.store.store import Store
from gateway.texts.say import language_of, say

FIRST_OF = 500
"""Check-ins that are searched for one that sent a message."""

_OUTCOMES = {
    FiringState.DONE: "heartbeat_spoke",
    FiringState.NOTHING: "heartbeat_all_well",
    FiringState.FAILED: "heartbeat_failed",
}
log = structlog.get_logger(__name__)


class Standing(Struct, frozen=True):
    """The status of a chat's heartbeat."""

    heartbeat: Heartbeat
    job: Job
    state: ChatState

    @property
    def is_on(self) -> bool:
        """True if the heartbeat is on and its job is active, not paused because the chat cannot be reached, say."""
        return self.heartbeat.on and self.job.state is JobState.ACTIVE

    @property
    def next_check_in(self) -> float | None:
        """The next check-in after quiet hours and snoozes; None if there is none."""
        at = self.job.next_at if self.is_on else None
        return None if at is None else gates.next_check_in(self.heartbeat, at, EVERY, self.state.zone)


class Heartbeats:
    """Satisfies `CheckIns` for the firings of heartbeat jobs."""

    def __init__(
        self, store: Store, clock: Clock, current: CurrentSettings, settings: HeartbeatSettings, states: ChatStates
    ) -> None:
        self.settings = settings
        self._store = store
        self._clock = clock
        self._current = current
        self._states = states

    # For the scheduler

    async def tick(self, job: Job, now: float) -> bool:
        """Return True if a check-in should run now; otherwise record the reason."""
        heartbeat = await self._store.heartbeats.find(job.chat)
        if heartbeat is None or heartbeat.job != job.id:
            return False
        zone = self._states.zone_of(job.chat, heartbeat.person)
        if job.zone != zone.key:  # the chat has moved, and other code uses the job's zone
            await self._store.jobs.change(job.id, lambda found: replace(found, zone=zone.key))
        reason = gates.by_the_clock(heartbeat, now, zone)
        wrote = None if reason else await self._store.heartbeats.last_wrote(job.chat, heartbeat.person)
        if not reason and gates.is_forgotten(wrote, began(job), now):
            await self.settings.stop(job, Pause.SILENCE)
            return False
        reason = reason or await self._reason(heartbeat, now, wrote)
        if reason:
            log.debug("heartbeat is quiet", chat=str(job.chat), reason=reason)
            await self._store.heartbeats.change(
                job.chat, lambda found: replace(found, last_look=now, last_outcome=reason)
            )
        return reason is None

    async def _reason(self, heartbeat: Heartbeat, now: float, wrote: float | None) -> str | None:
        state = await self._states.of(heartbeat, now)
        if state.agenda is None:
            return "heartbeat_unreadable"
        return gates.by_the_chat(heartbeat, now, await self._states.facts(heartbeat, wrote, state.recent, state.agenda))

    # For firings

    async def brief(self, job: Job, firing: Firing) -> CheckInBrief | None:
        heartbeat = await self._store.heartbeats.find(job.chat)
        if heartbeat is None:
            return None
        now = self._clock.time()
        state = await self._states.of(heartbeat, now, firing.due)
        is_stale = now - firing.due > LATE or gates.by_the_clock(heartbeat, now, state.zone)
        if state.agenda is None or (is_stale and not firing.is_by_hand):  # Parley was not running in between
            return None
        if not (state.agenda.has_something or (firing.is_by_hand and state.agenda.due)):
            return None
        language = language_of(job.language, self._current.language)
        return brief(state.agenda, state.recent.said, now, state.zone, language)

    async def words(self, job: Job, firing: Firing, text: str) -> str | None:
        language = language_of(job.language, self._current.language)
        if not text.strip() or says_nothing(text):
            return say("heartbeat_nothing_found", language) if firing.is_by_hand else None
        if firing.is_by_hand:
            return text
        heartbeat = await self._store.heartbeats.find(job.chat)
        if heartbeat is None or not heartbeat.on:
            return None
        state = await self._states.of(heartbeat, self._clock.time(), firing.due)
        if state.agenda is None or is_repeated(text, state.recent.said):
            return None
        said = shortened(text) if state.agenda.is_greeting else text
        return said if await self._has_spoken(job) else explained(said, language)

    async def record_outcome(self, job: Job, firing: Firing) -> None:
        outcome = _OUTCOMES.get(firing.state)
        if outcome is None:
            return
        failures = await self._failures(job)
        await self._store.heartbeats.change(
            job.chat,
            lambda found: replace(found, last_look=firing.due, last_outcome=outcome, failures=failures),
        )
        if failures >= gates.MOST_FAILURES:
            await self.settings.stop(job, Pause.FAILURES)

    # For users

    async def standing(self, chat: ChatKey) -> Standing | None:
        """Return the heartbeat's status, or None if the chat has none."""
        heartbeat = await self._store.heartbeats.find(chat)
        job = await self._store.jobs.find(heartbeat.job) if heartbeat else None
        if heartbeat is None or job is None:
            return None
        return Standing(heartbeat, job, await self._states.of(heartbeat, self._clock.time()))

    async def _failures(self, job: Job) -> int:
        """Count consecutive failures since it was switched on, ignoring check-ins started by hand."""
        count = 0
        for firing in await self._store.firings.history(job.id, 3 * gates.MOST_FAILURES):
            if firing.due < began(job):
                break
            if firing.is_by_hand or firing.state not in _OUTCOMES:
                continue
            if firing.state is not FiringState.FAILED:
                break
            count += 1
        return count

    async def _has_spoken(self, job: Job) -> bool:
        return any(arrived(firing) for firing in await self._store.firings.history(job.id, FIRST_OF))
