"""Reactions to unprompted messages by their buttons: done, again later, or less often.

Each is idempotent. The message, about one firing or about several numbered ones, is rewritten to show the reaction.
"""

import re
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from datetime import datetime, time, timedelta
from zoneinfo import ZoneInfo

from agent_core.clock import Clock
from agent_core.sources import union
from channels.base import Button, OutboundMessage, Sender
from gateway.schedule.jobs.firing_messages import COMMAND, Announcer
from gateway.schedule.jobs.jobs import Jobs
from gateway.schedule.times.slots import upcoming
from gateway.schedule.times.words import slot_words
from gateway.store.job import CheckIn, Firing, Heartbeat, Job, JobState, Reaction, Reminder
from gateway.store.rule import Cron, Every, Once, Rule
from gateway.store.store import Store
from gateway.texts.say import Language, say

NUMBER = "{} · "
"""Prefix of a button's label in a message about several firings."""
_NUMBERED = re.compile(r"(\d+) · ")
_MARK = "[✓💤↓⏸✗] [^*\n]*"
"""A status line. It begins with a sign, so that text of a report is not taken for one."""
_LAST = re.compile(rf"\n\n{_MARK}\Z")


def marked(message: OutboundMessage, firing: Firing, mark: str, buttons: Sequence[Button]) -> OutboundMessage:
    """Return the message with a status line and these buttons in place of the firing's own.

    `firing` is the state before the reaction: if there was one before, its line is replaced.
    """
    own = [button for row in message.buttons for button in row if _is_about(button, firing)]
    numbered = _NUMBERED.match(own[0].label) if own else None
    number = numbered[1] if numbered else ""
    rows: list[tuple[Button, ...]] = []
    left = [_numbered(button, number) for button in buttons]
    for row in message.buttons:
        others = tuple(button for button in row if not _is_about(button, firing))
        if len(others) < len(row):
            others, left = (*others, *left), []
        rows.append(others)
    text = _in_item(message.markdown, number, mark) if number else _below(message.markdown, firing, mark)
    return message.model_copy(update={"markdown": text, "buttons": tuple(row for row in rows if row)})


def _is_about(button: Button, firing: Firing) -> bool:
    return button.action.split()[2:3] == [firing.id]


def _numbered(button: Button, number: str) -> Button:
    return button.model_copy(update={"label": NUMBER.format(number) + button.label}) if number else button


def _in_item(text: str, number: str, mark: str) -> str:
    """Put the mark behind the item's number, in whichever part of the message has that item."""
    return re.sub(rf"\*\*{number}\.(?: {_MARK})?\*\*", lambda _: f"**{number}. {mark}**", text, count=1)


def _below(text: str, firing: Firing, mark: str) -> str:
    before = _LAST.sub("", text) if firing.reaction else text
    return f"{before}\n\n{mark}"


LATER = 180
"""Minutes."""
LONGEST = 7 * 24 * 60
"""Minutes."""
MORNING = time(9)
BEFORE_SLEEP = timedelta(hours=4)
"""Until this time after midnight the night counts as part of the day before."""
LEAST_A_DAY = 1
WEEK = 7 * 24 * 3600
_NEARLY_A_WEEK = 6.5 * 24 * 3600.0
"""Seconds; less than a week to allow for changes of the clock."""


@dataclass(frozen=True)
class Answer:
    """The line added to the message after a reaction, and its new buttons."""

    mark: str
    buttons: tuple[Button, ...] = ()


@dataclass(frozen=True)
class Wish:
    """A user's press of a button about a firing."""

    firing: Firing
    job: Job
    by: Sender
    language: Language

    @property
    def zone(self) -> ZoneInfo:
        return ZoneInfo(self.job.zone)

    def button(self, key: str, verb: str, *more: str) -> Button:
        return Button(label=say(key, self.language), action=" ".join([COMMAND, verb, self.firing.id, *more]))


@dataclass(frozen=True)
class Feedback:
    """Carries out reactions to firings."""

    store: Store
    announcer: Announcer
    jobs: Jobs
    clock: Clock

    async def done(self, wish: Wish) -> Answer:
        await self._react(wish, Reaction.DONE)
        await self.store.jobs.change(_again(wish.firing), _removed)
        return Answer(say("proactive_done", wish.language))

    async def snooze(self, wish: Wish, minutes: int | None) -> Answer:
        """Send the message again once, after `minutes` or, if None, tomorrow morning."""
        now = self.clock.time()
        until = next_morning(now, wish.zone) if minutes is None else now + 60 * min(minutes, LONGEST)
        again = self._again(wish, until)
        if not await self.store.jobs.add(again):
            await self.store.jobs.change(again.id, lambda _: again)
        if isinstance(wish.job.work, CheckIn):
            await self.store.heartbeats.change(wish.job.chat, lambda found: replace(found, snoozed_until=until))
        await self._react(wish, Reaction.SNOOZED)
        self.jobs.changed()
        others = [
            wish.button("proactive_later_button", "snooze", str(LATER)) if minutes != LATER else None,
            wish.button("proactive_morning_button", "snooze", "morning") if minutes is not None else None,
            wish.button("proactive_done_button", "done"),
        ]
        when = slot_words(until, wish.zone, wish.language, now)
        return Answer(say("proactive_snoozed", wish.language, when=when), tuple(filter(None, others)))

    async def less(self, wish: Wish) -> Answer:
        """Reduce the check-ins a day; for a job, offer ways to run it less often."""
        is_new = wish.firing.reaction is not Reaction.LESS
        await self._react(wish, Reaction.LESS)
        if isinstance(wish.job.work, CheckIn):
            return await self._fewer(wish, is_new=is_new)
        if isinstance(wish.job.rule, Once) or wish.job.state is not JobState.ACTIVE:
            return Answer(say("proactive_was_once", wish.language))
        is_rare = weekly(wish.job.rule, wish.zone, wish.firing.due) is None
        ways = [
            wish.button("proactive_pause_button", "pause"),
            None if is_rare else wish.button("proactive_weekly_button", "weekly"),
            wish.button("proactive_remove_button", "remove"),
            wish.button("proactive_keep_button", "keep"),
        ]
        return Answer(say("proactive_rarer", wish.language), tuple(filter(None, ways)))

    async def keep(self, wish: Wish) -> Answer:
        return Answer(say("proactive_kept", wish.language))

    async def pause(self, wish: Wish) -> Answer:
        """Pause the job. Raises JobRefused."""
        job = await self.jobs.pause(wish.job.id, wish.job.chat, wish.by)
        return Answer(say("proactive_paused", wish.language, id=job.id))

    async def remove(self, wish: Wish) -> Answer:
        """Remove the job. Raises JobRefused."""
        job = await self.jobs.remove(wish.job.id, wish.job.chat, wish.by)
        return Answer(say("proactive_removed", wish.language, id=job.id))

    async def weekly(self, wish: Wish) -> Answer:
        """Run the job weekly, on the weekday of this firing. Raises JobRefused and BadRule."""
        job = wish.job
        rule = weekly(job.rule, wish.zone, wish.firing.due)
        if rule is not None:
            job = await self.jobs.retime(job.id, job.chat, wish.by, rule)
        when = slot_words(job.next_at, wish.zone, wish.language, self.clock.time()) if job.next_at else "-"
        return Answer(say("proactive_weekly", wish.language, when=when))

    async def _fewer(self, wish: Wish, *, is_new: bool) -> Answer:
        before = await self.store.heartbeats.find(wish.job.chat)
        after = await self.store.heartbeats.change(wish.job.chat, _fewer) if is_new else before
        if after is None or before is None:
            return Answer(say("proactive_was_once", wish.language))
        if is_new and before.most_a_day <= LEAST_A_DAY:
            off = Button(label=say("proactive_off_button", wish.language), action="/heartbeat off")
            return Answer(say("proactive_least", wish.language), (off,))
        return Answer(say("proactive_less", wish.language, most=after.most_a_day))

    async def _react(self, wish: Wish, reaction: Reaction) -> None:
        await self.store.firings.change(wish.firing.id, _reacting(reaction))

    def _again(self, wish: Wish, until: float) -> Job:
        job, firing = wish.job, wish.firing
        text = job.work.text if isinstance(job.work, Reminder) else self.announcer.words(job, firing)
        return Job(
            id=_again(firing),
            chat=firing.chat,
            person=wish.by.id,
            language=wish.language,
            zone=job.zone,
            rule=Once(at=until),
            work=Reminder(text=text),
            created=self.clock.time(),
            state=JobState.ACTIVE,
            next_at=until,
            tainted=job.tainted or firing.untrusted,
            sources=union(job.after, firing.after),
        )


def next_morning(now: float, zone: ZoneInfo) -> float:
    """Return the next morning; in the hours after midnight that is the same day's."""
    today = (datetime.fromtimestamp(now, zone) - BEFORE_SLEEP).date()
    return datetime.combine(today + timedelta(days=1), MORNING, zone).timestamp()


def weekly(rule: Rule, zone: ZoneInfo, due: float) -> Rule | None:
    """Return a weekly rule with the day and time of `due`, or None if the rule already runs that rarely."""
    match upcoming(rule, zone, due, 2):
        case [first, second] if second.at - first.at < _NEARLY_A_WEEK:
            pass
        case _:
            return None
    if isinstance(rule, Every):
        return Every(seconds=WEEK, since=due)
    local = datetime.fromtimestamp(due, zone)
    return Cron(expression=f"{local.minute} {local.hour} * * {local.isoweekday() % 7}")


def _again(firing: Firing) -> str:
    """Return the id of the job that sends a snoozed message again: one per firing."""
    return f"z{firing.id}"


def _removed(job: Job) -> Job:
    return replace(job, state=JobState.REMOVED, next_at=None)


def _fewer(heartbeat: Heartbeat) -> Heartbeat:
    return replace(heartbeat, most_a_day=max(LEAST_A_DAY, heartbeat.most_a_day - 1))


def _reacting(reaction: Reaction) -> Callable[[Firing], Firing]:
    return lambda firing: replace(firing, reaction=reaction)
