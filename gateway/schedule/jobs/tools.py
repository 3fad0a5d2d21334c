"""The model's tools for jobs. The model proposes, and a user's confirmation sets a job.

A reminder is set without a question only if its time and text are literally in the user's own message.
"""

import asyncio
import re
from collections.abc import Sequence
from datetime import datetime
from typing import Literal
from zoneinfo import ZoneInfo

from msgspec import Struct
from msgspec.structs import replace

from agent_core.messages import UserMessage, text_of
from agent_core.origin import CLEAN, NOT_KNOWN, Origin, joined
from agent_core.tool_result import ToolResult
from agent_core.tools.stated_facts import is_same, sentences
from agent_core.tools.tool import Tool, ToolContext, ToolFailed, tool
from agent_core.untrusted import origin_of
from channels.base import ChatKey, Sender
from gateway.delivery.delivery import Delivery
from gateway.permissions.addresses import given_in
from gateway.runs.cards import card_result
from gateway.schedule.jobs.destinations import Destinations, GroupsNamed
from gateway.schedule.jobs.job_changes import Draft
from gateway.schedule.jobs.jobs import JobRefused, Jobs
from gateway.schedule.jobs.preview import next_of, rule_of, set_message
from gateway.schedule.jobs.zone_news import ZoneNews
from gateway.schedule.times.changes import local, moment
from gateway.schedule.times.grammar import When, certain_once, read_when
from gateway.schedule.times.recurrence import by_rrule
from gateway.schedule.times.zone_names import find_zone
from gateway.settings.current import CurrentSettings
from gateway.settings.zone import check_zone
from gateway.store.job import Job, JobState, Reminder, Report
from gateway.store.rows import Post, PostState
from gateway.store.rule import BadRule, Once, Recurrence
from gateway.store.store import Store
from gateway.texts.say import language_of, say

PROPOSED = (
    "The preview is in the chat, with buttons to confirm, change or cancel it; its id is {id}. Nothing is set before "
    "the person confirms. It is your answer: if nothing else was asked, say only that the preview is there."
)
SET = (
    "It is set, and the chat says so, with the time and buttons to undo or change it; its id is {id}. That is your "
    "answer: do not repeat the time; if nothing else was asked, say only that you will."
)
_ABOUT, _UNDO = "/cron ", "/cron undo "
_SAME = 120.0
"""Seconds by which the model's time may differ from the one in the user's message."""
_LATELY = 3600.0
"""Seconds for which an `in 20 minutes` counts from the time of the message."""
_DATE = len("2026-12-24")
_RRULE = re.compile(r"(?:RRULE|DTSTART|FREQ)[:=]", re.IGNORECASE)
_MOST_WORDS = 200
"""Characters of a job's text in the list for the model."""


class _Asked(Struct, frozen=True):
    kind: Literal["reminder", "report"]
    what: str
    when: str
    zone: str
    skill: str
    change: str


class JobTools(Struct, frozen=True):
    """Creates the tools for the chats' agents."""

    jobs: Jobs
    store: Store
    delivery: Delivery
    news: ZoneNews
    current: CurrentSettings
    destinations: Destinations

    def both(self) -> tuple[Tool, Tool]:
        return self._schedule(), self._jobs()

    def _schedule(self) -> Tool:
        @tool(idempotent=True, timeout_s=None, acts="write", label="Proposing: {what}", labels={"zh": "拟定：{what}"})
        async def schedule(
            kind: Literal["reminder", "report"],
            what: str = "",
            *,
            when: str = "",
            zone: str = "",
            skill: str = "",
            change: str = "",
            context: ToolContext,
        ) -> ToolResult:
            """Set or propose a reminder (what: its words, as the person said them, after "#name" for that chat),
            propose a report (what: how to make it, ending in "to #name" for that chat), or change a job by its id.
            when: plain words (in 20 minutes, every monday at 9:00), an ISO time, a cron line, or an RRULE with BYHOUR
            and BYMINUTE."""
            chat, by = _who(context)
            key = f"{context.session_id}:schedule:{context.answer_id}:{context.call_id}"
            post = await self.store.outbox.find(key)
            if post is None:
                asked = _Asked(kind, what.strip(), when.strip(), zone, skill, change)
                try:
                    post = await self._proposed(asked, chat, by, key, context)
                except (BadRule, JobRefused) as error:
                    raise self._failed(error, chat) from error
            await self._show(post)
            return card_result((SET if _is_set(post) else PROPOSED).format(id=_id_in(post)), post.key)

        return schedule

    def _jobs(self) -> Tool:
        @tool(idempotent=True, acts="write", label="Jobs: {action} {id}", labels={"zh": "日程：{action} {id}"})
        async def jobs(
            action: Literal["list", "pause", "resume", "remove"] = "list",
            id: str = "",  # noqa: A002
            *,
            context: ToolContext,
        ) -> ToolResult:
            """See what is planned in this chat, or change it."""
            chat, by = _who(context)
            if action == "list":
                return await self._listed(chat)
            if origin_of(context.messages).is_tainted:
                raise ToolFailed(
                    "this conversation contains untrusted input, so only users change jobs",
                    f"tell the person to say {self._slash(chat)}cron",
                )
            act = {"pause": self.jobs.pause, "resume": self.jobs.resume, "remove": self.jobs.remove}[action]
            try:
                done = await act(id, chat, by)
            except JobRefused as error:
                raise self._failed(error, chat) from error
            return self._told([done])

        return jobs

    # Proposals

    async def _proposed(self, asked: _Asked, chat: ChatKey, by: Sender, key: str, context: ToolContext) -> Post:
        """Return the message about a new draft or job. Raises ToolFailed, BadRule and JobRefused."""
        draft = await (self._changed if asked.change else self._new)(asked, chat, by, context)
        if certain := self._certain(asked, draft, context):
            job = await self.jobs.set_now(certain, by, key)
            message = set_message(job, self.jobs.clock.time())
        else:
            job = await self.jobs.propose(draft, by)
            message = await self.jobs.question(job, self._slash(chat))
        message = await self.news.added(message, job)
        run = await self.store.runs.current(chat, context.session_id)
        return Post(key, "", chat, message.model_copy(update={"reply_to": run.reply_to if run else None}), job.origin)

    def _certain(self, asked: _Asked, draft: Draft, context: ToolContext) -> Draft | None:
        """Return the draft if its time and text are literally in the user's newest message, else None.

        A certain draft needs no question, because it does not depend on the model's reading. Where untrusted input may
        have chosen a part of what the user said, only a whole sentence of theirs is certain.
        """
        said = next((each for each in reversed(context.messages) if isinstance(each, UserMessage)), None)
        if said is None or asked.change or asked.zone or not isinstance(draft.work, Reminder):
            return None
        if draft.origin.is_tainted or draft.posts_in:
            return None
        now = self.jobs.clock.time()
        since = said.created_at if 0 <= now - said.created_at <= _LATELY else now
        found = certain_once(text_of(said.content), draft.zone, since)
        if found is None or not isinstance(draft.rule, Once):
            return None
        rule, _ = found
        is_same = abs(rule.at - draft.rule.at) <= _SAME and rule.at > now
        if not is_same or not _stands_in(draft.work.text, text_of(said.content)):
            return None
        return replace(draft, rule=rule, given=())

    async def _new(self, asked: _Asked, chat: ChatKey, by: Sender, context: ToolContext) -> Draft:
        own, now = self.jobs.zone_of(chat, by.id), self.jobs.clock.time()
        zone = await _zone(asked.zone) or own
        if not asked.when:
            raise ToolFailed("no time was given", "give one in when, such as 'tomorrow 9:00'")
        found = _time(asked.when, zone, now)
        what = found.rest if asked.what in ("", asked.when) else asked.what
        is_reminder, language = asked.kind == "reminder", language_of(None, self.current.language)
        read = self.destinations.leading if is_reminder else self.destinations.read
        wish = await read(what, chat, by, language)
        what = wish.rest
        return Draft(
            chat=chat,
            person=by.id,
            language=language_of(await self.store.chats.language_of(chat, by.id), self.current.language),
            zone=found.zone or zone,
            rule=found.rule,
            work=Reminder(text=what) if is_reminder else _report(what, asked.skill, context, as_file=wish.as_file),
            posts_in=wish.chats,
            origin=_origin(what, asked.skill, context, zone, now),
            given=given_in(what, context.messages),
            is_by_own_clock=zone == own and found.is_by_own_clock,
        )

    async def _changed(self, asked: _Asked, chat: ChatKey, by: Sender, context: ToolContext) -> Draft:
        """Return a draft for an existing job; fields that are not given stay as they are."""
        job = await self.jobs.known(asked.change, chat, by)
        zone = await _zone(asked.zone) or ZoneInfo(job.zone)
        found = _time(asked.when, zone, self.jobs.clock.time()) if asked.when else When(job.rule, "")
        zone = found.zone or zone
        origin = _origin(asked.what or job.words, asked.skill, context, zone, self.jobs.clock.time())
        draft = Draft.of(job, self.current.language, zone, found.rule, words=asked.what, origin=origin)
        if isinstance(draft.work, Report) and not draft.work.made_by:
            skill, as_file = asked.skill or job.skill or "", draft.work.as_file
            work = _report(draft.work.instructions, skill, context, as_file=as_file)
            draft = replace(draft, work=work)
        given = (*draft.given, *given_in(asked.what or job.words, context.messages))
        is_own = job.is_by_own_clock and zone.key == job.zone and found.is_by_own_clock
        return replace(draft, given=given, is_by_own_clock=is_own)

    async def _show(self, post: Post) -> None:
        """Send the preview. Raises ToolFailed if it does not arrive."""
        if post.state is PostState.SENT:
            return
        await self.store.outbox.add([replace(post, state=PostState.PENDING)])
        self.jobs.access.spoke(post.chat)  # a user may answer before the delivery is recorded
        await self.delivery.deliver(post.chat, [post])
        settled = await self.store.outbox.find(post.key)
        if settled is None or settled.state is not PostState.SENT:
            raise ToolFailed("the preview could not be sent, so nothing is set", "tell the person")

    # Lists

    async def _listed(self, chat: ChatKey) -> ToolResult:
        return self._told(await self.jobs.shown(chat))

    def _told(self, found: Sequence[Job]) -> ToolResult:
        """Return the jobs, one a line, of their origin."""
        text = "\n".join(map(self._line, found)) or "Nothing is planned here."
        return ToolResult.of(text, joined(job.origin for job in found))

    def _line(self, job: Job) -> str:
        state = "waits for a yes" if job.state is JobState.DRAFT else job.state.value
        following = next_of(job, "en", self.jobs.clock.time())
        parts = [
            job.id,
            state,
            f"{job.work.type}: {job.words[:_MOST_WORDS]}",
            f"{rule_of(job, 'en')} ({job.zone})",
            *([f"next {following}"] if following else []),
        ]
        return "; ".join(parts)

    def _failed(self, error: BadRule | JobRefused, chat: ChatKey) -> ToolFailed:
        facts = {"slash": self._slash(chat), **error.facts}
        failed = ToolFailed(say(error.key, "en", **facts), "say it otherwise, or ask the person")
        failed.origin = NOT_KNOWN if isinstance(error, GroupsNamed) else CLEAN
        return failed

    def _slash(self, chat: ChatKey) -> str:
        return self.delivery.channel(chat).limits.slash


def _who(context: ToolContext) -> tuple[ChatKey, Sender]:
    if context.chat_id is None or context.user_id is None:
        raise ToolFailed("there is no chat that it would be for")
    return ChatKey.parse(context.chat_id), Sender(id=context.user_id, name="")


def _time(text: str, zone: ZoneInfo, now: float) -> When:
    """Read a time in any of the forms that `schedule` takes. Raises BadRule."""
    if _RRULE.match(text):
        return When(Recurrence(text=by_rrule(text, local(zone, now).date()).text), "")
    try:
        named = datetime.fromisoformat(text)
    except ValueError:
        return read_when(text, zone, now)
    if len(text) <= _DATE:
        raise BadRule("rule_no_time")
    if named.tzinfo:
        return When(Once(at=named.timestamp()), "", is_relative=True)
    return When(Once(at=float(moment(zone, named))), "")


async def _zone(name: str) -> ZoneInfo | None:
    """Find a zone by IANA name or informal name, such as `Tokyo` or `UTC+8`."""
    if not name:
        return None
    try:
        return await asyncio.to_thread(find_zone, name) or ZoneInfo(check_zone(name))
    except ValueError as error:
        raise ToolFailed(f"zone {error}") from error


def _report(instructions: str, skill: str, context: ToolContext, *, as_file: bool = False) -> Report:
    known = {entry.name for entry in context.skills.entries()} if skill and context.skills else {skill}
    if skill not in known:
        raise ToolFailed(f"there is no skill {skill[:60]!r}", "leave skill out, or look at list_skills")
    return Report(instructions=instructions, skill=skill or None, as_file=as_file)


def _origin(words: str, skill: str, context: ToolContext, zone: ZoneInfo, now: float) -> Origin:
    """Return the origin of a proposal, which is clean if these words are a whole sentence of the user, beside a time.

    The time itself is not considered: the user sees it in the preview.
    """
    said = any(
        is_same(words, each, speaker)
        for sentence, speaker in sentences(context.messages)
        for each in (sentence, _without_time(sentence, zone, now))
    )
    people = (each for each in context.messages if isinstance(each, UserMessage) and each.is_trusted)
    is_named = not skill or any(_stands_in(skill, text_of(each.content)) for each in people)
    return CLEAN if said and is_named else origin_of(context.messages)


def _without_time(sentence: str, zone: ZoneInfo, now: float) -> str:
    try:
        return read_when(sentence, zone, now).rest
    except BadRule:
        return ""


def _stands_in(words: str, text: str) -> bool:
    """Return True if `words` occur literally in `text`, ignoring case and white space."""
    wanted, whole = (" ".join(each.casefold().split()) for each in (words, text))
    return bool(wanted) and re.search(rf"(?<![a-z0-9]){re.escape(wanted)}(?![a-z0-9])", whole) is not None


def _is_set(post: Post) -> bool:
    return any(button.action.startswith(_UNDO) for row in post.message.buttons for button in row)


def _id_in(post: Post) -> str:
    """Return the job id, from the post's buttons."""
    actions = (button.action for row in post.message.buttons for button in row)
    return next(action.split()[-1] for action in actions if action.startswith(_ABOUT))
