"""The model's tools for jobs. Whatever the model was talked into: it proposes, and a person's yes sets it."""

import asyncio
from dataclasses import dataclass, replace
from typing import Literal
from zoneinfo import ZoneInfo

from agent_core.tool_result import ToolResult
from agent_core.tools import Tool, ToolContext, ToolFailed, tool
from agent_core.untrusted import is_tainted
from channels.base import ChatKey, Sender
from gateway.addresses import given_in
from gateway.delivery import Delivery
from gateway.jobs.jobs import Draft, JobRefused, Jobs
from gateway.jobs.preview import next_of, rule_of, words_of
from gateway.jobs.steps import still_given
from gateway.jobs.times import Times
from gateway.store.job import Job, JobState, Reminder, Report
from gateway.store.rows import Post, PostState
from gateway.store.store import Store
from gateway.texts import Language, language_of, say
from gateway.timing.check import BadRule
from gateway.zone import check_zone
from gateway.zones import find_zone

PROPOSED = (
    "The preview is in the chat, with buttons to confirm, change or cancel it; its id is {id}. Nothing is set before "
    "the person confirms. Say only that the preview is there."
)
_MOST_WORDS = 200
"""Characters of what a job is about, in the model's list."""


@dataclass(frozen=True)
class _Asked:
    kind: Literal["reminder", "report"]
    what: str
    times: Times
    zone: str
    skill: str
    change: str


@dataclass(frozen=True)
class JobTools:
    """Makes them for the agents of chats."""

    jobs: Jobs
    store: Store
    delivery: Delivery
    language: Language

    def both(self) -> tuple[Tool, Tool]:
        return self._schedule(), self._jobs()

    def _schedule(self) -> Tool:
        @tool(idempotent=True, timeout_s=None, acts="write", label="Proposing: {what}")
        async def schedule(
            kind: Literal["reminder", "report"],
            what: str = "",
            *,
            at: str = "",
            in_minutes: int = 0,
            every_minutes: int = 0,
            cron: str = "",
            zone: str = "",
            skill: str = "",
            change: str = "",
            context: ToolContext,
        ) -> str:
            """Propose a reminder (what: its words), a report (what: how to make it), or to change a job by its id."""
            chat, by = _who(context)
            key = f"{context.session_id}:schedule:{context.answer_id}:{context.call_id}"
            post = await self.store.find_post(key)
            if post is None:
                asked = _Asked(kind, what.strip(), Times(at, in_minutes, every_minutes, cron), zone, skill, change)
                try:
                    post = await self._proposed(asked, chat, by, key, context)
                except (BadRule, JobRefused) as error:
                    raise self._failed(error, chat) from error
            await self._show(post)
            return PROPOSED.format(id=_id_in(post))

        return schedule

    def _jobs(self) -> Tool:
        @tool(idempotent=True, acts="write", label="Jobs: {action} {id}")
        async def jobs(
            action: Literal["list", "pause", "resume", "remove"] = "list",
            id: str = "",  # noqa: A002
            *,
            context: ToolContext,
        ) -> ToolResult:
            """Look at what is planned in this chat, or change it."""
            chat, by = _who(context)
            if action == "list":
                return await self._listed(chat)
            if is_tainted(context.messages):
                raise ToolFailed(
                    "strangers had a word in this conversation, so only people change jobs",
                    f"tell the person to say {self._slash(chat)}cron",
                )
            act = {"pause": self.jobs.pause, "resume": self.jobs.resume, "remove": self.jobs.remove}[action]
            try:
                done = await act(id, chat, by)
            except JobRefused as error:
                raise self._failed(error, chat) from error
            return ToolResult.of(self._line(done))

        return jobs

    # How a proposal comes about

    async def _proposed(self, asked: _Asked, chat: ChatKey, by: Sender, key: str, context: ToolContext) -> Post:
        """The message about a new draft. Raises ToolFailed, BadRule, JobRefused."""
        draft = await (self._changed if asked.change else self._new)(asked, chat, by, context)
        job = await self.jobs.propose(draft, by)
        run = await self.store.current_run(chat, context.session_id)
        message = await self.jobs.question(job, self._slash(chat))
        return Post(key, "", chat, message.model_copy(update={"reply_to": run.reply_to if run else None}))

    async def _new(self, asked: _Asked, chat: ChatKey, by: Sender, context: ToolContext) -> Draft:
        zone = await _zone(asked.zone) or await self.jobs.zone_of(chat)
        is_reminder = asked.kind == "reminder"
        return Draft(
            chat=chat,
            person=by.id,
            language=language_of(await self.store.language_of(chat, by.id), self.language),
            zone=zone,
            rule=asked.times.given(zone, self.jobs.clock.time()),
            work=Reminder(text=asked.what) if is_reminder else _report(asked.what, asked.skill, context),
            tainted=is_tainted(context.messages),
            given=given_in(asked.what, context.messages),
        )

    async def _changed(self, asked: _Asked, chat: ChatKey, by: Sender, context: ToolContext) -> Draft:
        """What is not said stays as it is."""
        job = await self.jobs.known(asked.change, chat, by)
        zone = await _zone(asked.zone) or ZoneInfo(job.zone)
        words, now = asked.what or words_of(job), job.work
        skill = asked.skill or (now.skill if isinstance(now, Report) else None) or ""
        return Draft(
            chat=chat,
            person=job.person,
            language=language_of(job.language, self.language),
            zone=zone,
            rule=asked.times.rule(zone, self.jobs.clock.time()) or job.rule,
            work=_report(words, skill, context) if isinstance(now, Report) else Reminder(text=words),
            tainted=job.tainted or is_tainted(context.messages),
            given=(*still_given(job, words), *given_in(words, context.messages)),
            instead_of=job.id,
        )

    async def _show(self, post: Post) -> None:
        """Raises ToolFailed where people do not see it."""
        if post.state is PostState.SENT:
            return
        await self.store.post([replace(post, state=PostState.PENDING)])
        await self.delivery.deliver(post.chat, [post])
        settled = await self.store.find_post(post.key)
        if settled is None or settled.state is not PostState.SENT:
            raise ToolFailed("the preview could not be sent, so nothing is set", "tell the person")

    # What is there

    async def _listed(self, chat: ChatKey) -> ToolResult:
        found = await self.jobs.shown(chat)
        text = "\n".join(map(self._line, found)) or "Nothing is planned here."
        return ToolResult.of(text).model_copy(update={"untrusted": any(job.tainted for job in found)})

    def _line(self, job: Job) -> str:
        state = "waits for a yes" if job.state is JobState.DRAFT else job.state.value
        following = next_of(job, "en", self.jobs.clock.time())
        parts = [
            job.id,
            state,
            f"{job.work.type}: {words_of(job)[:_MOST_WORDS]}",
            f"{rule_of(job, 'en')} ({job.zone})",
            *([f"next {following}"] if following else []),
        ]
        return "; ".join(parts)

    def _failed(self, error: BadRule | JobRefused, chat: ChatKey) -> ToolFailed:
        facts = {"slash": self._slash(chat), **error.facts}
        return ToolFailed(say(error.key, "en", **facts), "say it otherwise, or ask the person")

    def _slash(self, chat: ChatKey) -> str:
        return self.delivery.channel(chat).limits.slash


def _who(context: ToolContext) -> tuple[ChatKey, Sender]:
    if context.chat_id is None or context.user_id is None:
        raise ToolFailed("there is no chat that it would be for")
    return ChatKey.parse(context.chat_id), Sender(id=context.user_id, name="")


async def _zone(name: str) -> ZoneInfo | None:
    """As people write it, too: `Tokyo`, `UTC+8`."""
    if not name:
        return None
    try:
        return await asyncio.to_thread(find_zone, name) or ZoneInfo(check_zone(name))
    except ValueError as error:
        raise ToolFailed(f"zone {error}") from error


def _report(instructions: str, skill: str, context: ToolContext) -> Report:
    known = {entry.name for entry in context.skills.entries()} if skill and context.skills else {skill}
    if skill not in known:
        raise ToolFailed(f"there is no skill {skill[:60]!r}", "leave skill out, or look at list_skills")
    return Report(instructions=instructions, skill=skill or None)


def _id_in(post: Post) -> str:
    """Its buttons name it."""
    return post.message.buttons[-1][-1].action.split()[-1]
