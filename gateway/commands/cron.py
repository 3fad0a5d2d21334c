"""The command for all jobs of a chat: /cron."""

import re
from collections.abc import Awaitable, Callable, Iterable, Mapping, Sequence
from zoneinfo import ZoneInfo

from msgspec.structs import replace

from agent_core.messages import user
from channels.base import Button, ChannelError, OutboundMessage
from channels.commands import Suggestion
from channels.text import literal
from gateway.chat.replies import Answer, Quoting, Rewritten
from gateway.chat.run_pace import Pace
from gateway.commands.command import Command, Invocation, Unfinished, reply, rewritten, too_soon
from gateway.commands.job_targets import JobTargetActs
from gateway.commands.planning import Page, Planning, refused
from gateway.commands.suggested import suggested_jobs
from gateway.delivery.delivery import Delivery
from gateway.permissions.addresses import given_in
from gateway.permissions.question_text import one_line
from gateway.permissions.request import typed_id
from gateway.permissions.rights import END_JOB, JOB, LOOK_AT_JOBS, OTHERWISE, Rights
from gateway.permissions.roles import Role
from gateway.schedule.jobs.elsewhere import Elsewhere
from gateway.schedule.jobs.firings import Firings
from gateway.schedule.jobs.job_changes import Draft, Reshaping, is_restorable, reshaped
from gateway.schedule.jobs.jobs import JobRefused, Jobs
from gateway.schedule.jobs.notices import spent_words
from gateway.schedule.jobs.preview import (
    cancelled_line,
    in_short,
    next_of,
    rule_of,
    set_line,
    undone_line,
)
from gateway.schedule.times.grammar import parse_when
from gateway.schedule.times.words import slot_words
from gateway.schedule.times.zone_names import shown_zone
from gateway.settings.zone import is_zone
from gateway.store.job import CheckIn, DeliveryState, Firing, FiringState, Job, JobState, Report
from gateway.store.rule import BadRule
from gateway.texts.say import Language, say

Act = Callable[[Invocation, str, str], Awaitable[Answer]]
"""A subcommand, called with the job id and the rest of the arguments."""


MOST_FIRINGS = 10
DAYS = 7
MOST_ERROR = 100
"""Characters."""
MOST_NAME = 40
_DAY = 86_400
_ONLY_TEXT = re.compile(r"(?:text|内容)\s*[:：]", re.IGNORECASE)
"""Begins the arguments of a change that leaves the time as it is."""

RIGHTS = Rights(
    {
        **dict.fromkeys(["", "list", "history", "show"], LOOK_AT_JOBS),
        **dict.fromkeys(["pause", "rm", "remove", "delete", "cancel", "undo", "refuse", "stop"], END_JOB),
        OTHERWISE: JOB,
    }
)

_STATES = {
    FiringState.BEGUN: "past_begun",
    FiringState.DONE: "past_done",
    FiringState.NOTHING: "past_nothing",
    FiringState.FAILED: "past_failed",
    FiringState.OVERLAPPED: "past_overlapped",
    FiringState.MISSED: "past_missed",
}
_DELIVERIES = {
    DeliveryState.PENDING: "delivery_pending",
    DeliveryState.SENT: "delivery_sent",
    DeliveryState.HELD: "delivery_held",
    DeliveryState.FAILED: "delivery_failed",
}


class CronCommands:
    """The command /cron."""

    def __init__(
        self,
        planning: Planning,
        jobs: Jobs,
        firings: Firings,
        elsewhere: Elsewhere,
        *,
        delivery: Delivery,
        pace: Pace,
    ) -> None:
        self._planning = planning
        self._jobs = jobs
        self._clock = jobs.clock
        self._firings = firings
        self._elsewhere = elsewhere
        self._store = jobs.store
        self._delivery = delivery
        self._pace = pace
        self._acts: Mapping[str, Act] = {
            "pause": self._pause,
            "resume": self._resume,
            "run": self._run,
            "test": self._test,
            "history": self._history,
            "rm": self._remove,
            "remove": self._remove,
            "delete": self._remove,
            "change": self._change,
            "confirm": self._confirm,
            "cancel": self._cancel,
            "undo": self._undo,
            "restore": self._restore,
            "show": self._show,
            "reshape": self._reshape,
            **JobTargetActs(elsewhere).acts,
        }

    async def cron(self, given: Invocation) -> Answer:
        verb, _, rest = given.arguments.strip().partition(" ")
        try:
            if verb in ("", "list"):
                return await self._listed(given, rest.strip())
            if verb == "add":
                return await self._add(given, rest)
            act = self._acts.get(verb.lower())
            named, _, more = rest.strip().partition(" ")
            if act is None or not (named or verb == "history"):
                return reply(say("cron_how", given.language, slash=given.slash))
            return await act(given, typed_id(named), more.strip())
        except (BadRule, JobRefused) as error:
            return refused(given, error)

    async def _listed(self, given: Invocation, page: str) -> Answer:
        """List the jobs, from the page that a button names."""
        found = await self._planning.listed(given, Page.named(page))
        return Rewritten(found) if found else reply(say("cron_none", given.language, slash=given.slash))

    async def _add(self, given: Invocation, text: str) -> Answer:
        """Propose a report; the text after the time is the agent's instructions."""
        zone = self._jobs.zone_of(given.chat, given.sender.id)
        wish = await self._planning.wish(given, text)
        try:
            when = parse_when(wish.rest, zone, self._clock.time())
        except BadRule as error:
            return self._planning.refused(given, error, say("cron_wish", given.language, words=text))
        return await self._planning.asked(given, when, Report(instructions=when.rest, as_file=wish.as_file), wish.chats)

    async def _show(self, given: Invocation, job_id: str, _: str) -> Answer:
        job = await self._jobs.draft(job_id, given.chat, given.sender)
        return await self._jobs.question(job, given.slash)

    async def _confirm(self, given: Invocation, job_id: str, _: str) -> Answer:
        """Set a draft. A repeated press, for instance after a crash, finds it set and shows the same text."""
        jobs, chat = self._jobs, given.chat
        try:
            draft = await jobs.draft(job_id, chat, given.sender)
        except JobRefused as error:
            if error.key != "job_was_set" or not given.pressed:
                raise
            job, is_change = await jobs.was_set(job_id, chat, given.sender)
            return await self._set(job, is_change=is_change)
        if renewed := await jobs.by_clock_of_now(draft, given.sender):
            question = await jobs.question(renewed, given.slash)
            note = say("job_by_new_clock", given.language, zone=shown_zone(renewed.zone))
            told = question.model_copy(update={"markdown": f"{note}\n\n{question.markdown}"})
            return Quoting(Rewritten(told), renewed.origin)
        await self._elsewhere.check(draft, self._clock.time())
        job = await jobs.confirm(job_id, chat, given.sender)
        return await self._set(job, is_change=bool(draft.instead_of))

    async def _set(self, job: Job, *, is_change: bool) -> Answer:
        """Ask the other chats in which a job posts, and return the text about it."""
        await self._elsewhere.ask(job)
        lines = set_line(job, self._clock.time(), is_change=is_change), await self._jobs.places_of(job)
        return rewritten("\n\n".join(filter(None, lines)))

    async def _cancel(self, given: Invocation, job_id: str, _: str) -> Answer:
        job = await self._jobs.cancel(job_id, given.chat, given.sender)
        return rewritten(cancelled_line(job) if _may_read(given, job) else _removed_line(given, job))

    async def _undo(self, given: Invocation, job_id: str, _: str) -> Answer:
        """Remove a job that was set without a question."""
        job = await self._jobs.remove(job_id, given.chat, given.sender)
        return rewritten(undone_line(job) if _may_read(given, job) else _removed_line(given, job))

    async def _change(self, given: Invocation, job_id: str, text: str) -> Answer:
        """Show the draft with buttons for changes or, if a new time is given, the changed draft."""
        jobs, chat = self._jobs, given.chat
        job = await jobs.known(job_id, chat, given.sender)
        seen, text = _seen(text)
        if seen and seen != job.version:
            facts = {"id": job.id, "rule": rule_of(job, given.language), "what": in_short(job)}
            raise JobRefused("job_changed_since", **facts)
        if job.state is not JobState.DRAFT or text:
            job = await jobs.propose(self._changed(given, job, text), given.sender)
        return Quoting(Rewritten(await jobs.question(job, given.slash, changing=not text)), job.origin)

    def _changed(self, given: Invocation, job: Job, text: str) -> Draft:
        """Return a draft for a job; a time or text that is not given stays as it is."""
        zone, rule, words, is_own = ZoneInfo(job.zone), job.rule, "", job.is_by_own_clock
        if found := _ONLY_TEXT.match(text):
            words = text[found.end() :].strip()
        elif text:
            when = parse_when(text, zone, self._clock.time())
            zone, rule, words = when.zone or zone, when.rule, when.rest
            is_own = is_own and when.is_by_own_clock
        draft = Draft.of(job, given.language, zone, rule, words=words, origin=given.origin)
        addresses = (*draft.given, *given_in(text, [user(text, origin=given.origin)]))
        return replace(draft, given=addresses, is_by_own_clock=is_own)

    async def _reshape(self, given: Invocation, job_id: str, way: str) -> Answer:
        """Change a draft as its button says, and update the question."""
        jobs, chat = self._jobs, given.chat
        job = await jobs.draft(job_id, chat, given.sender)
        rule = reshaped(job.rule, Reshaping(way)) if way in list(Reshaping) else None
        if rule is None:
            raise JobRefused("job_cannot_shift", id=job.id)
        job = await jobs.reshape(job_id, chat, given.sender, rule)
        return Rewritten(await jobs.question(job, given.slash, changing=True))

    async def _pause(self, given: Invocation, job_id: str, page: str) -> Answer:
        job = await self._jobs.pause(job_id, given.chat, given.sender)
        return await self._done(given, say("job_paused", given.language, id=job.id), page)

    async def _resume(self, given: Invocation, job_id: str, page: str) -> Answer:
        job = await self._jobs.resume(job_id, given.chat, given.sender)
        following = next_of(job, given.language, self._clock.time())
        return await self._done(given, say("job_resumed", given.language, id=job.id, next=following), page)

    async def _remove(self, given: Invocation, job_id: str, page: str) -> Answer:
        job = await self._jobs.remove(job_id, given.chat, given.sender)
        sentence = _removed_line(given, job)
        if given.pressed or not is_restorable(job):
            return await self._done(given, sentence, page)
        undo = Button(label=say("job_undo_button", given.language), action=f"/cron restore {job.id}")
        return OutboundMessage(markdown=sentence, buttons=((undo,),))

    async def _restore(self, given: Invocation, job_id: str, _: str) -> Answer:
        """Undo the removal of a job."""
        job = await self._jobs.restore(job_id, given.chat, given.sender)
        following = next_of(job, given.language, self._clock.time())
        return rewritten(say("job_restored", given.language, id=job.id, what=in_short(job), next=following))

    async def _done(self, given: Invocation, sentence: str, page: str) -> Answer:
        """Reply with a sentence; if a list's button was pressed, update that list instead."""
        if not given.pressed:
            return reply(sentence)
        return Rewritten(await self._planning.listed(given, Page.named(page), sentence) or reply(sentence))

    async def _run(self, given: Invocation, job_id: str, _: str) -> Answer:
        job = await self._jobs.runnable(job_id, given.chat, given.sender)
        if isinstance(job.work, Report) and (refusal := too_soon(self._pace, given)):
            return refusal
        await self._firings.run_now(job, given.asked)
        return reply(say("job_runs", given.language, id=job.id))

    async def _test(self, given: Invocation, job_id: str, _: str) -> Answer:
        """Run a job as a rehearsal in the user's private chat."""
        job = await self._jobs.runnable(job_id, given.chat, given.sender, may_be_draft=True)
        try:
            alone = await self._delivery.private_chat(given.chat, given.sender.id)
        except ChannelError as error:
            raise JobRefused("job_not_alone") from error
        if alone is None:
            raise JobRefused("job_not_alone")
        if isinstance(job.work, Report) and (refusal := too_soon(self._pace, given)):
            return refusal
        await self._firings.run_now(job, given.asked, for_author=alone)
        return reply(say("job_tested", given.language, id=job.id))

    async def _history(self, given: Invocation, job_id: str, _: str) -> Answer:
        """List the firings of one job, or all firings in the chat in the last days."""
        language, chat, now = given.language, given.chat, self._clock.time()
        if job_id:
            job = await self._jobs.of(job_id, chat, given.sender)
            title = say("history_title", language, id=job.id, rule=rule_of(job, language))
            found = await self._store.firings.history(job.id, MOST_FIRINGS)
            zone = ZoneInfo(job.zone) if is_zone(job.zone) else self._jobs.zone_of(chat)
        else:
            title = say("history_title_all", language)
            lately = await self._store.firings.in_chat_since(chat, now - DAYS * _DAY)
            found, zone = lately[::-1][:MOST_FIRINGS], self._jobs.zone_of(chat)
        if not found:
            return reply(say("history_none", language))
        names = {} if job_id else {firing.job: await self._name(firing.job, language) for firing in found}
        lines = [_line(firing, names.get(firing.job, ""), zone, language, now) for firing in found]
        return reply("\n".join([title, "", *lines]))

    async def _name(self, job_id: str, language: Language) -> str:
        """Return a name for a firing's job, with its text, because an id alone means little to a reader."""
        job = await self._store.jobs.find(job_id)
        if job is None:
            return f"`{job_id}` "
        if isinstance(job.work, CheckIn):
            return f"{say('history_look', language)}: "
        return f"`{job_id}` {in_short(job, MOST_NAME)}: "

    async def _ids(self, typing: Unfinished) -> Iterable[Suggestion]:
        return await suggested_jobs(self._jobs, typing)

    @property
    def commands(self) -> tuple[Command, ...]:
        return (
            Command(
                "cron",
                {"en": "List and change the jobs of this chat", "zh": "查看和管理这里的日程"},
                self.cron,
                rights=RIGHTS,
                suggest=self._ids,
                arguments="[list|add|pause|resume|run|test|history|rm ID]",
                example="pause 3",
                offered_to=Role.MEMBER,
            ),
        )


def _may_read(given: Invocation, job: Job) -> bool:
    """Return True if somebody may read a job's words, which is more than to end it from the page."""
    return job.person == given.sender.id or given.may(LOOK_AT_JOBS)


def _removed_line(given: Invocation, job: Job) -> str:
    if not _may_read(given, job):
        return say("job_removed_unread", given.language, id=job.id)
    return say("job_removed", given.language, id=job.id, what=in_short(job))


def _line(firing: Firing, name: str, zone: ZoneInfo, language: Language, now: float) -> str:
    when = slot_words(firing.due, zone, language, now)
    return f"- {name}{when} – {', '.join(outcome_words(firing, language))}"


def _seen(text: str) -> tuple[str, str]:
    """Return the version of a job that somebody saw who changes it, written `@version`, and the rest."""
    first, _, rest = text.partition(" ")
    return (first[1:], rest.strip()) if first.startswith("@") else ("", text)


def outcome_words(firing: Firing, language: Language) -> Sequence[str]:
    """Return the outcome of the firing, and that of its message."""
    parts = [say(_STATES[firing.state], language)]
    if firing.error:
        parts[0] += f" ({literal(one_line(firing.error, MOST_ERROR))})"
    if firing.delivery in _DELIVERIES:
        sent = say(_DELIVERIES[firing.delivery], language)
        why = f" ({literal(one_line(firing.delivery_error, MOST_ERROR))})" if firing.delivery_error else ""
        parts.append(f"{sent}{why}")
    if firing.is_by_hand:
        parts.append(say("rehearsal" if firing.is_rehearsal else "by_hand", language))
    if firing.began is not None and firing.ended is not None and firing.tokens:
        minutes, seconds = divmod(round(firing.ended - firing.began), 60)
        parts.append(f"{minutes}:{seconds:02}")
    return [*parts, *spent_words(firing.tokens, firing.cost_usd, language)]
