"""Posts reports and reminders in other chats than the one in which their job was set, and asks those chats once.

A report is made in the chat of its job, with the rights that its author has there. What it says is posted by a firing
of its own in each chat that agreed, where it counts as untrusted input. It comes back if it does not arrive there.
"""

import asyncio
from collections.abc import Sequence
from dataclasses import replace
from functools import partial

import structlog
from msgspec import Struct

from agent_core.messages import JsonObject
from agent_core.origin import CLEAN, NOT_KNOWN, Origin, named
from agent_core.sources import sent
from channels.base import Button, ChannelError, ChatKey, OutboundMessage, ScheduleFired, Sender
from channels.text import literal
from gateway.delivery.delivery import Delivery
from gateway.permissions.access import Access
from gateway.runs.owed import Kinds, OwedWork
from gateway.schedule.jobs.job_rights import JobRights
from gateway.schedule.jobs.jobs import JobRefused
from gateway.schedule.jobs.outcome import Outcome
from gateway.schedule.jobs.places import author_of, plain, where
from gateway.schedule.jobs.preview import in_short, kind_inside, rule_of, spoken
from gateway.schedule.times.zone_names import shown_zone
from gateway.store.connection import Connection
from gateway.store.firings import event_id
from gateway.store.job import BACK, ELSEWHERE, Firing, FiringState, Job, JobState, Reminder
from gateway.store.job_targets import JobTarget, TargetState, changed
from gateway.store.jobs import locked
from gateway.store.owed import Owed
from gateway.store.rows import InboxItem, Post, PostState
from gateway.store.store import Store
from gateway.texts.say import say

ASK, TELL = "job_target_ask", "job_target_tell"
"""Kinds of what is owed: a question to the other chat, and its answer to the author's."""
MOST_WORDS = 300
"""Characters of a job's text in the question."""
_OPEN = frozenset({JobState.ACTIVE, JobState.PAUSED, JobState.DONE})

log = structlog.get_logger(__name__)


class Elsewhere(Struct, frozen=True):
    """The other chats in which jobs post."""

    store: Store
    delivery: Delivery
    rights: JobRights
    work: OwedWork
    stored: "asyncio.Queue[InboxItem]"
    """Takes the events by which other chats get their messages."""

    @property
    def access(self) -> Access:
        return self.rights.access

    @property
    def owed(self) -> Kinds:
        return Kinds("job targets", {ASK: self._ask, TELL: self._tell})

    # Questions to other chats

    async def check(self, draft: Job, now: float) -> None:
        """Raise JobRefused if a chat in which a draft is to post has many questions to answer."""
        chats = [each.chat for each in await self.store.job_targets.of(draft.id) if each.chat != draft.chat]
        if (much := await self.rights.asked_much(chats, now)) is not None:
            raise JobRefused("target_asked_much", where=where(self.access, much, spoken(draft)))

    async def ask(self, job: Job) -> None:
        """Ask the chats that were not asked yet; a private chat of the author needs no question. Asks them once."""
        author = Sender(id=job.person, name="")

        def step(target: JobTarget) -> JobTarget:
            is_own = self.access.is_own_chat(target.chat, job.chat, author) or target.chat == job.chat
            return replace(target, state=TargetState.OPEN if is_own else TargetState.ASKED)

        def change(connection: Connection) -> Sequence[Owed]:
            asked = changed(connection, "job = :job AND state = 'wanted'", {"job": job.id}, step)
            return [Owed(ASK, _asking(each, job), each.chat) for each in asked if each.state is TargetState.ASKED]

        await self.work.add(change)

    async def answer(
        self, job_id: str, chat: ChatKey, by: Sender, asked: str, state: TargetState, seen: str = ""
    ) -> tuple[Job, bool] | None:
        """Let a chat take a job's posts, or not any more, and tell the author. None if it was never asked.

        Returns the job as it is now, and False if the chat has agreed to another version of it; then nothing happens.
        `asked` is the id of the event, for which the author is told once; `seen` is the version below which a button
        was pressed, empty for a typed command.
        """
        job, target = await self.store.jobs.find(job_id), await self.store.job_targets.in_chat(job_id, chat)
        if job is None or target is None or job.state not in _OPEN or target.state is TargetState.WANTED:
            return None
        agrees, version, of_now = state is TargetState.OPEN, seen or job.version, [job]
        if agrees:
            key = "target_allowed"
        else:
            key = "target_refused" if target.state is TargetState.ASKED else "target_stopped"
        values = {"job": job_id, "chat": str(chat)}

        def change(connection: Connection) -> Sequence[Owed]:
            of_now[0] = locked(connection, job_id) or job
            if agrees and of_now[0].version != version:
                return ()
            step = partial(replace, state=state, why="")
            now = changed(connection, "job = :job AND chat = :chat", values, step)
            return [_news(job, each, key, f"{each.id}:{asked}", by.name) for each in now]

        await self.work.add(change)
        if agrees and of_now[0].version != version:
            return of_now[0], False
        log.info("another chat has answered about a job", job=job.id, chat=str(chat), state=state.value, by=by.id)
        return of_now[0], True

    def question(self, job: Job) -> OutboundMessage:
        """Return the question to another chat. Its answer is for the job as it is now."""
        language = spoken(job)
        text = say(
            "target_asks_reminder" if isinstance(job.work, Reminder) else "target_asks",
            language,
            who=plain(author_of(self.access, job)),
            words=in_short(job, MOST_WORDS),
            rule=rule_of(job, language),
            zone=shown_zone(job.zone),
        )
        buttons = (
            Button(label=say("target_allow_button", language), action=allowing(job), style="primary"),
            Button(label=say("target_refuse_button", language), action=f"/cron refuse {job.id}", style="quiet"),
        )
        return OutboundMessage(markdown=text, buttons=(buttons,))

    # Posts in other chats

    async def copies(self, job: Job, firing: Firing, text: str) -> list[ScheduleFired]:
        """Return the events by which the chats that agreed get what a firing has made."""
        if firing.is_copy or firing.is_rehearsal or firing.state is not FiringState.DONE or not text:
            return []
        targets = [each for each in await self.store.job_targets.of(job.id) if each.state is TargetState.OPEN]
        copies = []
        for target in targets:
            if target.chat == job.chat:
                continue
            poster = await self.rights.poster_now(job.chat, job.person, target.chat)
            if poster is None:
                await self._end(job, target, TargetState.REFUSED, "target_no_right", "")
            else:
                copies.append(_event(job, f"{ELSEWHERE}{target.id}:{firing.slot}", target.chat, poster, firing.due))
        return copies

    async def is_also_here(self, job: Job) -> bool:
        """Return True if the author wanted the posts in the job's own chat, too."""
        return await self.store.job_targets.in_chat(job.id, job.chat) is not None

    def begin(self, items: Sequence[InboxItem]) -> None:
        """Let what was stored be posted."""
        for item in items:
            self.stored.put_nowait(item)

    async def outcome(self, job: Job, copy: Firing) -> Outcome:
        """Return what a firing posts that another one has made."""
        made = await self.store.firings.find(job.id, copy.made_at)
        target = await self.store.job_targets.find(copy.target)
        if made is None or not made.text:
            return Outcome(FiringState.MISSED, CLEAN)  # it was erased
        if not copy.is_elsewhere:
            words = f"{made.text}\n\n{self._came_back(job, target)}"
            return Outcome(FiringState.DONE, made.origin | NOT_KNOWN, words)  # anybody may have named the chat
        is_open = target is not None and target.state is TargetState.OPEN
        if not is_open or self.rights.poster(job.chat, job.person, copy.chat) is None:
            await self.come_back(job, copy, None)
            return Outcome(FiringState.MISSED, CLEAN)
        return Outcome(FiringState.DONE, made.origin | self._by_author(job), made.text)

    async def come_back(self, job: Job, copy: Firing, error: ChannelError | None) -> None:
        """Let what did not arrive in another chat be posted in the job's own, once, with the reason.

        A chat that takes no messages any more is not tried again.
        """
        is_gone = error is not None and error.permanent
        why = self.store.secrets.mask(error.reason) if error else ""

        def step(target: JobTarget) -> JobTarget:
            return replace(target, why=why, state=TargetState.GONE if is_gone else target.state)

        await self.store.job_targets.change(copy.target, step)
        sender = Sender(id=job.person, name="", language=job.language)
        event = _event(job, f"{BACK}{copy.target}:{copy.made_at}", job.chat, sender, copy.due)
        seq = await self.store.inbox.accept(event)
        log.warning("a report did not arrive in another chat", job=job.id, chat=str(copy.chat), reason=why)
        if seq is not None:
            self.begin([InboxItem(seq, event)])

    # Internals

    async def _ask(self, item: Owed) -> Sequence[Post]:
        """Post the question in another chat. If that takes no messages, tell the author."""
        target = await self.store.job_targets.find(item.key.partition(":")[0])
        job = await self.store.jobs.find(target.job) if target else None
        if target is None or job is None or target.state is not TargetState.ASKED or job.state not in _OPEN:
            return ()
        run = f"ask-{item.key.replace(':', '-')}"
        origin = job.origin | self._by_author(job)
        post = Post(f"{run}:proactive:0", run, target.chat, self.question(job), origin)
        known = await self.store.outbox.find(post.key)
        if known is None:
            await self.store.outbox.add([post])
        error = await self.delivery.attempt(target.chat, [known.of_earlier_start() if known else post])
        settled = await self.store.outbox.find(post.key)
        if settled is not None and settled.state is PostState.FAILED:
            await self._end(job, target, TargetState.GONE, "target_gone", error.reason if error else "")
        return ()

    async def _tell(self, item: Owed) -> Sequence[Post]:
        """Tell the author what became of another chat."""
        job = await self.store.jobs.find(str(item.data["job"]))
        if job is None:
            return ()
        language, there = spoken(job), ChatKey.parse(str(item.data["there"]))
        text = say(
            str(item.data["says"]),
            language,
            where=where(self.access, there, language),
            who=plain(str(item.data["who"])),
            why=literal(str(item.data["why"])),
            id=job.id,
            kind=kind_inside(job, language),
        )
        run = f"target-{item.key.replace(':', '-')}"
        # anybody may have named the chat, or be called as they like
        return [Post(f"{run}:proactive:0", run, item.chat, OutboundMessage(markdown=text), NOT_KNOWN)]

    def _by_author(self, job: Job) -> Origin:
        """Return the origin of a job's words and of its author's name in another chat."""
        return named(sent(author_of(self.access, job), f"report {job.id}"))

    async def _end(self, job: Job, target: JobTarget, state: TargetState, says: str, why: str) -> None:
        """Let a chat take no posts any more, and tell the author once."""
        safe = self.store.secrets.mask(why)

        def change(connection: Connection) -> Sequence[Owed]:
            now = changed(connection, "id = :id", {"id": target.id}, lambda each: replace(each, state=state, why=safe))
            return [_news(job, each, says, f"{each.id}:{says}", "", safe) for each in now]

        await self.work.add(change)

    def _came_back(self, job: Job, target: JobTarget | None) -> str:
        language = spoken(job)
        if target is None:
            return say("target_came_back_gone", language)
        place = where(self.access, target.chat, language)
        if not target.why:
            return say("target_came_back", language, where=place)
        return say("target_came_back_why", language, where=place, why=literal(target.why))


def allowing(job: Job) -> str:
    """Return the command of a button that agrees to a job as it is now."""
    return f"/cron allow {job.id} @{job.version}"


def _asking(target: JobTarget, job: Job) -> str:
    return f"{target.id}:{job.version}"


def _event(job: Job, slot: str, chat: ChatKey, sender: Sender, due: float) -> ScheduleFired:
    return ScheduleFired(event_id=event_id(job.id, slot), chat=chat, sender=sender, at=due, job=job.id, slot=slot)


def _news(job: Job, target: JobTarget, says: str, key: str, who: str, why: str = "") -> Owed:
    data: JsonObject = {"job": job.id, "there": str(target.chat), "says": says, "who": who, "why": why}
    return Owed(TELL, key, job.chat, data)
