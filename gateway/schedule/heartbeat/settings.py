"""The user's settings of a chat's heartbeat (on, off, snooze, quiet hours), its own notices, and the offer of one."""

from collections.abc import Callable, Sequence
from dataclasses import replace
from functools import partial
from zoneinfo import ZoneInfo

import structlog

from agent_core.clock import Clock
from agent_core.origin import CLEAN
from channels.base import Button, ChatKey, OutboundMessage, Sender
from gateway.delivery.delivery import Delivery
from gateway.permissions.access import Access
from gateway.runs.owed import Kinds
from gateway.schedule.heartbeat import gates
from gateway.schedule.heartbeat.chat_state import DAY
from gateway.schedule.times.quiet import QuietHours
from gateway.settings.current import CurrentSettings
from gateway.store.connection import Connection
from gateway.store.job import CheckIn, Heartbeat, Job, JobState, Pause
from gateway.store.owed import Owed
from gateway.store.rows import Post, Run, RunEnd
from gateway.store.rule import Every
from gateway.store.runs import runs_over
from gateway.store.store import Store
from gateway.texts.say import Language, language_of, say

EVERY = 1800
"""Seconds between two check-ins."""
LATE = 1800.0
"""Seconds after which a missed check-in is skipped in favour of the next one."""

_STOPS = {
    Pause.FAILURES: ("heartbeat_stopped_failing", "heartbeat_gave_up"),
    Pause.SILENCE: ("heartbeat_stopped_silence", "heartbeat_was_forgotten"),
}
"""Keys of the notice when the heartbeat stops, and of the explanation in its status."""

log = structlog.get_logger(__name__)


class HeartbeatSettings:
    """Changes the heartbeat's row (settings) and its job (schedule) together."""

    def __init__(
        self,
        store: Store,
        delivery: Delivery,
        clock: Clock,
        current: CurrentSettings,
        new_id: Callable[[], str],
        changed: Callable[[], None],
    ) -> None:
        """`new_id` returns ids that users can type; `changed` is called when the job's due time has changed."""
        self._store = store
        self._delivery = delivery
        self._clock = clock
        self._current = current
        self._new_id = new_id
        self._changed = changed

    async def on(self, chat: ChatKey, by: Sender, language: Language, zone: ZoneInfo) -> Job:
        """Switch the heartbeat on for this user, keeping its quiet hours. Returns its job with the first due time."""
        now = self._clock.time()
        found = await self._store.heartbeats.find(chat)
        rule = Every(seconds=EVERY, since=now)
        job = await self._store.jobs.find(found.job) if found else None
        job = job or self._job(chat, by, language, zone)
        job = replace(job, person=by.id, language=language, zone=zone.key, rule=rule, next_at=now + EVERY)
        job = await self._kept(replace(job, state=JobState.ACTIVE, pause=None, failures=0))
        heartbeat = replace(found or Heartbeat(chat, by.id, job.id), person=by.id, job=job.id)
        if not heartbeat.on:  # after being off, a reduced daily limit is reset
            heartbeat = replace(heartbeat, most_a_day=Heartbeat.most_a_day)
        new = replace(heartbeat, on=True, snoozed_until=0.0, failures=0, last_look=None, last_outcome="")
        await self._store.heartbeats.save(new)
        self._changed()
        return job

    async def off(self, chat: ChatKey, why: Pause = Pause.PERSON, outcome: str | None = None) -> bool:
        """Switch the heartbeat off. Returns False if it is not on. `outcome`: the reason shown in its status."""

        def step(found: Heartbeat) -> Heartbeat:
            return replace(found, on=False, last_outcome=found.last_outcome if outcome is None else outcome)

        before = await self._store.heartbeats.find(chat)
        if before is None or not before.on:
            return False
        await self._store.heartbeats.change(chat, step)
        await self._store.jobs.change(
            before.job, lambda job: replace(job, state=JobState.PAUSED, pause=why, next_at=None)
        )
        self._changed()
        return True

    async def ready(self, chat: ChatKey, by: Sender, language: Language, zone: ZoneInfo) -> None:
        """Create a heartbeat that is off, unless the chat has one."""
        if await self._store.heartbeats.find(chat) is None:
            job = await self._kept(self._job(chat, by, language, zone))
            await self._store.heartbeats.save(Heartbeat(chat, by.id, job.id, on=False))

    async def snooze(self, chat: ChatKey, seconds: float) -> float | None:
        """Pause unprompted messages. Returns when the pause ends, or None if the chat has no heartbeat."""
        until = self._clock.time() + seconds
        found = await self._store.heartbeats.change(chat, lambda found: replace(found, snoozed_until=until))
        return until if found else None

    async def keep_quiet(self, chat: ChatKey, quiet: QuietHours | None) -> None:
        """Set quiet hours, which delay every unprompted message, even while the heartbeat is off."""
        start, end, zone = (quiet.start, quiet.end, quiet.zone) if quiet else (None, None, None)
        await self._store.heartbeats.change(
            chat, lambda found: replace(found, quiet_from=start, quiet_to=end, quiet_zone=zone, quiet_chosen=True)
        )

    async def announce(self, name: str, chat: ChatKey, message: OutboundMessage) -> None:
        """Send a notice in the background, unless one of this name was queued before.

        Then it was sent, or will be at the next start.
        """
        run = f"heartbeat-{name}"
        post = Post(f"{run}:proactive:0", run, chat, message, CLEAN)
        if await self._store.outbox.find(post.key) is None:
            await self._store.outbox.add([post])
            self._delivery.deliver_soon(chat, [post])

    async def stop(self, job: Job, why: Pause) -> None:
        """Switch the heartbeat off and say so once; does nothing if it is off."""
        heartbeat = await self._store.heartbeats.find(job.chat)
        if heartbeat is None or not heartbeat.on:
            return
        key, outcome = _STOPS[why]
        language = language_of(job.language, self._current.language)
        slash = self._delivery.channel(job.chat).limits.slash
        text = say(key, language, slash=slash, count=gates.MOST_FAILURES, days=round(gates.LONG_SILENCE / DAY))
        log.info("heartbeat stopped", chat=str(job.chat), why=why.value)
        await self.announce(f"{job.id}-{why.value}-{began(job):.0f}", job.chat, OutboundMessage(markdown=text))
        await self.off(job.chat, why, outcome)

    def _job(self, chat: ChatKey, by: Sender, language: Language, zone: ZoneInfo) -> Job:
        """Return a new, paused job for a chat's heartbeat."""
        now = self._clock.time()
        rule = Every(seconds=EVERY, since=now)
        job = Job(self._new_id(), chat, by.id, language, zone.key, rule, CheckIn(), CLEAN, created=now, grace=LATE)
        return replace(job, state=JobState.PAUSED, pause=Pause.PERSON)

    async def _kept(self, job: Job) -> Job:
        """Store the job in place of its earlier version. If its id belongs to another job, it gets a new one."""
        while not await self._store.jobs.add(job):
            kept = await self._store.jobs.change(job.id, partial(_in_place, job))
            if kept == job:
                break
            job = replace(job, id=self._new_id())
        return job


def _in_place(job: Job, found: Job) -> Job:
    return job if found.chat == job.chat and isinstance(found.work, CheckIn) else found


def began(job: Job) -> float:
    """Return when the heartbeat was switched on."""
    return job.rule.since if isinstance(job.rule, Every) else job.created


KIND = "heartbeat offer"
"""That of what is owed for the offer of a heartbeat."""
KEY = "heartbeat-offer:proactive:0"
"""That of its message, and of what is owed: it is made once."""
ANSWERS = 5
"""Answers that an owner has had in the chat before the heartbeat is offered there."""
BUTTONS = (("on", "heartbeat_accept_button"), ("cancel", "heartbeat_decline_button"))


class Offer:
    """Made once per store, unless an owner has used the heartbeat before. It switches nothing on."""

    def __init__(self, store: Store, delivery: Delivery, access: Access, current: CurrentSettings) -> None:
        self._store = store
        self._delivery = delivery
        self._access = access
        self._current = current
        self._is_over = False

    @property
    def owed(self) -> Kinds:
        """Return the offer that is owed with the fifth answer to an owner in a private chat on a remote platform."""
        return Kinds("heartbeat", {KIND: self._make}, self._ended)

    def _ended(self, run: Run, _: RunEnd, connection: Connection) -> Sequence[Owed]:
        if self._is_over or not self._current.now.heartbeat or not self._is_owners_own(run.chat, run.person):
            return []
        is_time = runs_over(connection, run.chat, run.person, ANSWERS) >= ANSWERS
        return [Owed(KIND, KEY, run.chat, {"person": run.person})] if is_time else []

    async def _make(self, item: Owed) -> Sequence[Post]:
        self._is_over = True
        if await self._is_known() or await self._store.outbox.find(KEY) is not None:
            return []
        tag = await self._store.chats.language_of(item.chat, str(item.data["person"]))
        message = _offer(language_of(tag, self._current.language))
        return [Post(KEY, KEY.partition(":")[0], item.chat, message, CLEAN)]

    async def _is_known(self) -> bool:
        """Return True if an owner has a heartbeat anywhere, even one that is off."""
        found = await self._store.heartbeats.all()
        return any(self._access.is_owner(each.chat, Sender(id=each.person, name="")) for each in found)

    def _is_owners_own(self, chat: ChatKey, person: str) -> bool:
        channel = self._delivery.on(chat.platform)
        own = channel is not None and not channel.limits.is_local and not channel.is_group(chat) and chat.thread is None
        return own and self._access.is_owner(chat, Sender(id=person, name=""))


def _offer(language: Language) -> OutboundMessage:
    text = say("heartbeat_offer", language, minutes=EVERY // 60, most=Heartbeat.most_a_day)
    row = tuple(Button(label=say(key, language), action=f"/heartbeat {verb}") for verb, key in BUTTONS)
    return OutboundMessage(markdown=text, buttons=(row,))
