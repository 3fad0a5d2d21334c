"""The command behind the buttons of unprompted messages: /proactive. It is not meant to be typed.

Each reaction is idempotent. The message, about one firing or about several numbered ones, is rewritten to show it.
"""

import re
from collections.abc import Awaitable, Callable, Mapping
from dataclasses import replace
from datetime import datetime, time, timedelta
from zoneinfo import ZoneInfo

from msgspec import Struct

from agent_core.clock import Clock
from channels.base import Button, OutboundMessage
from gateway.chat.replies import Answer, Rewritten
from gateway.commands.command import Command, Invocation, reply
from gateway.delivery.delivery import Delivery
from gateway.permissions.rights import JOB, OTHERWISE, TALK, Rights
from gateway.schedule.jobs.firing_messages import COMMAND, FiringMessages
from gateway.schedule.jobs.job_changes import removed
from gateway.schedule.jobs.jobs import JobRefused, Jobs
from gateway.schedule.times.slots import upcoming
from gateway.schedule.times.words import slot_words
from gateway.store.job import CheckIn, Firing, Heartbeat, Job, JobState, Reaction, Reminder
from gateway.store.rule import BadRule, Cron, Every, Once, Rule
from gateway.store.store import Store
from gateway.texts.say import Language, say

LONGEST_NUMBER = 9
"""Digits; limits the number that a typed command may contain."""
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
_NUMBERED = re.compile(r"(\d+) · ")
_MARK = "[✓💤↓⏸✗] [^*\n]*"
"""A status line. It begins with a sign, so that text of a report is not taken for one."""
_LAST = re.compile(rf"\n\n{_MARK}\Z")


class Press(Struct, frozen=True):
    """A press of a button about a firing."""

    given: Invocation
    firing: Firing
    job: Job
    more: str
    """Further arguments of the button."""

    @property
    def language(self) -> Language:
        return self.given.language

    @property
    def zone(self) -> ZoneInfo:
        return ZoneInfo(self.job.zone)

    def button(self, key: str, verb: str, *more: str) -> Button:
        return Button(label=say(key, self.language), action=" ".join([COMMAND, verb, self.firing.id, *more]))


class Reacted(Struct, frozen=True):
    """The line added to the message after a reaction, and its new buttons."""

    mark: str
    buttons: tuple[Button, ...] = ()


class ProactiveCommands:
    """The command /proactive."""

    def __init__(self, store: Store, delivery: Delivery, messages: FiringMessages, jobs: Jobs, clock: Clock) -> None:
        self._store = store
        self._delivery = delivery
        self._messages = messages
        self._jobs = jobs
        self._clock = clock
        self._reactions: Mapping[str, Callable[[Press], Awaitable[Reacted]]] = {
            "done": self._done,
            "snooze": self._snooze,
            "less": self._less,
            "keep": self._keep,
            "pause": self._pause,
            "remove": self._remove,
            "weekly": self._weekly,
        }

    async def proactive(self, given: Invocation) -> Answer:
        verb, _, rest = given.arguments.strip().partition(" ")
        firing_id, _, more = rest.strip().partition(" ")
        firing = await self._store.firings.by_id(firing_id)
        job = await self._store.jobs.find(firing.job) if firing and firing.chat == given.chat else None
        if firing is None or job is None:
            return reply(say("proactive_unknown", given.language))
        action = f"{COMMAND} {given.arguments}"
        shown = await self._store.outbox.pressed(given.chat, given.pressed, action) if given.pressed else None
        if shown is not None and not shown.has_button(action):
            return None  # pressed twice
        try:
            reacted = await self._reactions.get(verb.lower(), self._done)(Press(given, firing, job, more))
        except (JobRefused, BadRule) as error:
            return reply(say(error.key, given.language, **{"slash": given.slash, **error.facts}))
        if shown is None:
            return reply(reacted.mark)
        message = marked(shown.message, firing, reacted)
        # no room for another line; the buttons show the result as well
        if len(self._delivery.masked_channel(given.chat).split(message)) > 1:
            message = message.model_copy(update={"markdown": shown.message.markdown})
        return Rewritten(message)

    async def _done(self, press: Press) -> Reacted:
        await self._check_again(press)
        await self._react(press, Reaction.DONE)
        await self._store.jobs.change(_again(press.firing), removed)
        return Reacted(say("proactive_done", press.language))

    async def _snooze(self, press: Press) -> Reacted:
        """Send the message again once, after the given minutes or, without a number, tomorrow morning."""
        minutes = int(press.more[:LONGEST_NUMBER]) if press.more.isdecimal() else None
        now = self._clock.time()
        until = next_morning(now, press.zone) if minutes is None else now + 60 * min(minutes, LONGEST)
        await self._check_again(press)
        if isinstance(press.job.work, CheckIn):
            _check_theirs(press, press.job)
        again = self._reminder(press, until)
        comes = await self._store.jobs.find(again.id)
        if comes is None or comes.state is not JobState.ACTIVE:
            await self._jobs.check_active(again.chat, again.person)
        if not await self._store.jobs.add(again):
            await self._store.jobs.change(again.id, lambda _: again)
        if isinstance(press.job.work, CheckIn):
            await self._store.heartbeats.change(press.job.chat, lambda found: replace(found, snoozed_until=until))
        await self._react(press, Reaction.SNOOZED)
        self._jobs.changed()
        others = [
            press.button("proactive_later_button", "snooze", str(LATER)) if minutes != LATER else None,
            press.button("proactive_morning_button", "snooze", "morning") if minutes is not None else None,
            press.button("proactive_done_button", "done"),
        ]
        when = slot_words(until, press.zone, press.language, now)
        return Reacted(say("proactive_snoozed", press.language, when=when), tuple(filter(None, others)))

    async def _less(self, press: Press) -> Reacted:
        """Reduce the check-ins a day; for a job, offer ways to run it less often."""
        is_new = press.firing.reaction is not Reaction.LESS
        job = press.job
        if isinstance(job.work, CheckIn):
            _check_theirs(press, job)
        await self._react(press, Reaction.LESS)
        if isinstance(job.work, CheckIn):
            return await self._fewer(press, is_new=is_new)
        if isinstance(job.rule, Once) or job.state is not JobState.ACTIVE:
            return Reacted(say("proactive_was_once", press.language))
        is_rare = weekly(job.rule, press.zone, press.firing.due) is None
        ways = [
            press.button("proactive_pause_button", "pause"),
            None if is_rare else press.button("proactive_weekly_button", "weekly"),
            press.button("proactive_remove_button", "remove"),
            press.button("proactive_keep_button", "keep"),
        ]
        return Reacted(say("proactive_rarer", press.language), tuple(filter(None, ways)))

    async def _check_again(self, press: Press) -> None:
        """Raise JobRefused if the message is to come again for somebody else."""
        again = await self._store.jobs.find(_again(press.firing))
        if again is not None and again.state is JobState.ACTIVE:
            _check_theirs(press, again)

    async def _fewer(self, press: Press, *, is_new: bool) -> Reacted:
        before = await self._store.heartbeats.find(press.job.chat)
        after = await self._store.heartbeats.change(press.job.chat, _less_often) if is_new else before
        if after is None or before is None:
            return Reacted(say("proactive_was_once", press.language))
        if is_new and before.most_a_day <= LEAST_A_DAY:
            off = Button(label=say("proactive_off_button", press.language), action="/heartbeat off")
            return Reacted(say("proactive_least", press.language), (off,))
        return Reacted(say("proactive_less", press.language, most=after.most_a_day))

    async def _keep(self, press: Press) -> Reacted:
        return Reacted(say("proactive_kept", press.language))

    async def _pause(self, press: Press) -> Reacted:
        job = await self._jobs.pause(press.job.id, press.job.chat, press.given.sender)
        return Reacted(say("proactive_paused", press.language, id=job.id))

    async def _remove(self, press: Press) -> Reacted:
        job = await self._jobs.remove(press.job.id, press.job.chat, press.given.sender)
        return Reacted(say("proactive_removed", press.language, id=job.id))

    async def _weekly(self, press: Press) -> Reacted:
        """Run the job weekly, on the weekday of this firing."""
        job = press.job
        rule = weekly(job.rule, press.zone, press.firing.due)
        if rule is not None:
            job = await self._jobs.retime(job.id, job.chat, press.given.sender, rule)
        when = slot_words(job.next_at, press.zone, press.language, self._clock.time()) if job.next_at else "-"
        return Reacted(say("proactive_weekly", press.language, when=when))

    async def _react(self, press: Press, reaction: Reaction) -> None:
        await self._store.firings.change(press.firing.id, lambda firing: replace(firing, reaction=reaction))

    def _reminder(self, press: Press, until: float) -> Job:
        """Return the job that sends the message again."""
        job, firing = press.job, press.firing
        text = job.work.text if isinstance(job.work, Reminder) else self._messages.words(job, firing)
        return Job(
            id=_again(firing),
            chat=firing.chat,
            person=press.given.sender.id,
            language=press.language,
            zone=job.zone,
            rule=Once(at=until),
            work=Reminder(text=text),
            created=self._clock.time(),
            state=JobState.ACTIVE,
            next_at=until,
            origin=job.origin | firing.origin,
        )

    @property
    def commands(self) -> tuple[Command, ...]:
        return (
            Command(
                "proactive",
                {"en": "Answer what I said by myself", "zh": "回应我主动发的消息"},
                self.proactive,
                rights=Rights({**dict.fromkeys(["snooze", "less", "weekly"], JOB), OTHERWISE: TALK}),
                hidden=True,
            ),
        )


def _check_theirs(press: Press, job: Job) -> None:
    """Raise JobRefused for somebody else than the job's person, owners and admins."""
    if job.person != press.given.sender.id and not press.given.is_admin:
        raise JobRefused("job_not_yours")


def marked(message: OutboundMessage, firing: Firing, reacted: Reacted) -> OutboundMessage:
    """Return the message with the status line and the new buttons in place of the firing's own.

    `firing` is the state before the reaction: if there was one before, its line is replaced.
    """
    own = [button for row in message.buttons for button in row if _is_about(button, firing)]
    numbered = _NUMBERED.match(own[0].label) if own else None
    prefix, number = (numbered[0], numbered[1]) if numbered else ("", "")
    left = [button.model_copy(update={"label": prefix + button.label}) for button in reacted.buttons]
    rows: list[tuple[Button, ...]] = []
    for row in message.buttons:
        others = tuple(button for button in row if not _is_about(button, firing))
        if len(others) < len(row):
            others, left = (*others, *left), []
        rows.append(others)
    text, mark = message.markdown, reacted.mark
    if number:  # behind the item's number, in whichever part of the message has that item
        text = re.sub(rf"\*\*{number}\.(?: {_MARK})?\*\*", lambda _: f"**{number}. {mark}**", text, count=1)
    else:
        text = f"{_LAST.sub('', text) if firing.reaction else text}\n\n{mark}"
    return message.model_copy(update={"markdown": text, "buttons": tuple(row for row in rows if row)})


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


def _is_about(button: Button, firing: Firing) -> bool:
    return button.action.split()[2:3] == [firing.id]


def _again(firing: Firing) -> str:
    """Return the id of the job that sends a snoozed message again: one per firing."""
    return f"z{firing.id}"


def _less_often(heartbeat: Heartbeat) -> Heartbeat:
    return replace(heartbeat, most_a_day=max(LEAST_A_DAY, heartbeat.most_a_day - 1))
