"""Questions to people: put, answered by the right ones, once and in time, and told how they came out (C-21, D-11).

A question is on disk before anybody sees it, and whatever becomes of it is on disk before anybody acts on it.
"""

import asyncio
import secrets
from collections.abc import Callable, Coroutine, Sequence
from dataclasses import replace
from enum import StrEnum
from functools import partial

import structlog

from agent_core.clock import Clock
from agent_core.permissions import Answer, Proposal
from channels.base import ChatKey, Sender
from gateway.access import Access
from gateway.delivery import Delivery
from gateway.question_text import closing_line, question_message, what_is_done
from gateway.store.approvals import Moved, Step
from gateway.store.question import Question, QuestionState
from gateway.store.rows import Post
from gateway.store.store import Store
from gateway.texts import Language, language_of, say

LASTS = 600.0
"""Seconds."""
ALPHABET = "0123456789abcdefghjkmnpqrstvwxyz"
"""Crockford's: no letter looks like another or like a digit."""
_MISREAD = str.maketrans("oil", "011", "-")

_ANSWERS = {
    QuestionState.DENIED: Answer.DENIED,
    QuestionState.EXPIRED: Answer.EXPIRED,
    QuestionState.WITHDRAWN: Answer.WITHDRAWN,
    QuestionState.USED: Answer.WITHDRAWN,
}

log = structlog.get_logger(__name__)


class CannotAsk(Exception):
    """Says in words for the model why people cannot be asked."""


class Reply(StrEnum):
    """What became of somebody's answer."""

    TAKEN = "taken"
    UNKNOWN = "unknown"
    """There is no such question in that chat."""
    NOT_YOURS = "not yours"
    TOO_LATE = "too late"
    WAS_APPROVED = "was approved"
    WAS_DENIED = "was denied"
    WAS_WITHDRAWN = "was withdrawn"


_REPLIES = {
    QuestionState.APPROVED: Reply.WAS_APPROVED,
    QuestionState.USED: Reply.WAS_APPROVED,
    QuestionState.DENIED: Reply.WAS_DENIED,
    QuestionState.EXPIRED: Reply.TOO_LATE,
    QuestionState.WITHDRAWN: Reply.WAS_WITHDRAWN,
}


def new_request_id() -> str:
    """Short enough to be typed; it is no secret, for who may answer is asked of the platform."""
    return "".join(secrets.choice(ALPHABET) for _ in range(6))


def typed_id(text: str) -> str:
    """The id that somebody meant, however it was typed."""
    first = next(iter(text.split()), "")
    return first.strip("`'\".,:;").lower().translate(_MISREAD)


class Approvals:
    """Every question of the house."""

    def __init__(
        self,
        store: Store,
        delivery: Delivery,
        access: Access,
        clock: Clock,
        language: Language,
        new_id: Callable[[], str] = new_request_id,
    ) -> None:
        self._store = store
        self._delivery = delivery
        self._access = access
        self._clock = clock
        self._language = language
        self._new_id = new_id
        self._waiting: dict[str, asyncio.Event] = {}
        """Wakes whoever waits for the answer to a question."""
        self._unsent: dict[str, Post] = {}
        """Questions of this life that nobody has seen; those of an earlier one are sent like anything it left."""
        self._sends: dict[str, asyncio.Task[None]] = {}
        self._asking: set[str] = set()
        """Runs that may have open questions."""
        self._silent: set[str] = set()
        """Platforms from which nobody can answer any more."""
        self._tasks: set[asyncio.Task[None]] = set()

    # For runs

    async def ask(self, proposal: Proposal, chat: ChatKey, fingerprint: str, why: Sequence[str]) -> Question:
        """The question that holds for a call: a new one, or the one that was put earlier, with whatever became of it.

        `why` is keys of texts. Raises CannotAsk.
        """
        if chat.platform in self._silent:
            raise CannotAsk("it needs an approval, and nobody is there to give it")
        run = await self._store.current_run(chat, proposal.session_id)
        if run is None or run.person != proposal.user_id:  # nobody answers for another's run
            raise CannotAsk("it needs an approval, and there is nobody to ask")
        tag = await self._store.language_of(chat, run.person)
        mask = self._delivery.voice(chat).secrets.mask  # before anything is cut short: half a secret is not found
        now = self._clock.time()
        draft = Question(
            id="",
            run=run.id,
            session=proposal.session_id,
            call=proposal.call.id,
            chat=chat,
            person=run.person,
            tool=proposal.call.name,
            fingerprint=fingerprint,
            what=mask(what_is_done(proposal.call.name, proposal.call.arguments)),
            language=language_of(tag, self._language),
            asked_at=now,
            expires_at=now + LASTS,
        )
        self._asking.add(run.id)
        asked: list[Moved] = []
        while not asked:
            draft = replace(draft, id=self._new_id())
            post = self._post(draft, why, run.reply_to)
            asked = await self._store.ask(draft, post.message, closing_line)
        for moved in asked:
            self._told(moved)
        question = asked[-1].after
        if question.id == draft.id:
            self._unsent[question.id] = post
        return question

    async def wait(self, request_id: str, fingerprint: str) -> Answer:
        """Send the question where nobody has seen it, and return what became of it; an approval is used up by that."""
        self._send(request_id)
        woken = self._waiting[request_id] = asyncio.Event()
        try:
            while True:
                woken.clear()
                moved = await self._move(request_id, partial(self._use, fingerprint=fingerprint))
                if moved is None:
                    return Answer.WITHDRAWN
                if moved.has_moved and moved.after.state is QuestionState.USED:
                    return Answer.APPROVED
                if moved.after.state is not QuestionState.PENDING:
                    return _ANSWERS[moved.after.state]
                await self._until(woken, moved.after.expires_at - self._clock.time())
        finally:
            self._waiting.pop(request_id, None)

    async def withdraw(self, request_id: str) -> None:
        """Nobody needs to answer any more, unless somebody has."""
        await self._move(request_id, Question.withdrawn)

    async def run_over(self, run: str) -> None:
        """The run has ended; none of its calls will be made any more."""
        if run in self._asking:
            self._asking.discard(run)
            for question in await self._store.pending_questions():
                if question.run == run:
                    await self.withdraw(question.id)

    # For people

    async def reply(self, request_id: str, chat: ChatKey, by: Sender, *, approved: bool) -> Reply:
        """Somebody answers in a chat; only who started the run, or an owner, decides anything by it (D-11)."""
        is_owner = self._access.is_owner(chat, by)
        now = self._clock.time()

        def step(question: Question) -> Question:
            if question.chat != chat or not (is_owner or question.person == by.id):
                return question
            return question.answered(by.id, now, approved=approved)

        moved = await self._move(request_id, step, by.name)
        if moved is None or moved.before.chat != chat:
            return Reply.UNKNOWN
        if not (is_owner or moved.before.person == by.id):
            return Reply.NOT_YOURS
        if moved.after.state in (QuestionState.APPROVED, QuestionState.DENIED) and moved.has_moved:
            log.info("question answered", id=request_id, run=moved.after.run, by=by.id, approved=approved)
            return Reply.TAKEN
        return _REPLIES[moved.after.state]

    async def open_in(self, chat: ChatKey) -> list[Question]:
        """What waits for an answer there, oldest first."""
        now = self._clock.time()
        found = await self._store.pending_questions()
        return [each for each in found if each.chat == chat and each.at(now).state is QuestionState.PENDING]

    def may_answer(self, question: Question, who: Sender) -> bool:
        return question.person == who.id or self._access.is_owner(question.chat, who)

    # For the house

    async def recall(self) -> None:
        """At the start: what an earlier life asked for runs that are over needs no answer. The words for it are noted,
        and go out with what else that life left."""
        running = await self._store.open_runs()
        for question in await self._store.pending_questions():
            if question.run in running:
                self._asking.add(question.run)
                await self._show_again(question)
            else:
                await self._store.move_question(question.id, Question.withdrawn, closing_line)

    def nobody_answers(self, platform: str) -> None:
        """From now on nobody there can say anything, so that waiting is no use."""
        self._silent.add(platform)
        for woken in self._waiting.values():
            woken.set()

    async def settled(self) -> None:
        """Return when every question's message says how it came out."""
        while self._tasks:
            await asyncio.wait(self._tasks)

    async def close(self) -> None:
        """What is not done stays noted."""
        for task in self._tasks:
            task.cancel()
        if self._tasks:
            await asyncio.wait(self._tasks)

    # How it works

    def _post(self, question: Question, why: Sequence[str], reply_to: str | None) -> Post:
        """Raises CannotAsk where the platform has no room for the whole of it: nobody approves what nobody sees."""
        voice = self._delivery.voice(question.chat)
        language = language_of(question.language, self._language)
        reasons = [say(key, language) for key in why]
        message = question_message(question, reasons, voice.channel.limits.slash)
        message = message.model_copy(update={"reply_to": reply_to})
        if len(voice.split(message)) > 1:
            raise CannotAsk("it needs an approval, and is too long to be shown whole to whoever would give it")
        return Post(question.key, question.run, question.chat, message)

    def _use(self, question: Question, fingerprint: str) -> Question:
        now = self._clock.time()
        if question.chat.platform in self._silent and question.state is QuestionState.PENDING:
            now = question.expires_at
        return question.used(fingerprint, now)

    async def _move(self, request_id: str, step: Step, name: str = "") -> Moved | None:
        moved = await self._store.move_question(request_id, step, partial(closing_line, name=name))
        if moved is not None:
            self._told(moved, name)
        return moved

    def _told(self, moved: Moved, name: str = "") -> None:
        """Tell whoever waits for the question and whoever sees it what became of it."""
        if not moved.has_moved:
            return
        if woken := self._waiting.get(moved.after.id):
            woken.set()
        if moved.after.state is not QuestionState.USED:
            self._start(self._close(moved.after, name))

    def _send(self, request_id: str) -> None:
        if post := self._unsent.pop(request_id, None):
            self._sends[request_id] = self._start(self._delivery.deliver(post.chat, [post]))

    async def _close(self, question: Question, name: str = "") -> None:
        """Make the question's message say how it came out; one that nobody was sent is not sent any more."""
        if sending := self._sends.pop(question.id, None):
            await asyncio.wait([sending])
        if self._unsent.pop(question.id, None):
            await self._store.failed(question.key, "nobody needs to see it")
            return
        post = await self._store.find_post(question.key)
        if post is not None and post.message_id is not None and self._delivery.knows(post.chat):
            await self._delivery.deliver(post.chat, [replace(post, message=closing_line(question, name))])

    async def _show_again(self, question: Question) -> None:
        """Where the message of an earlier life is gone, so that nobody approves what is not to be seen."""
        is_open = question.at(self._clock.time()).state is QuestionState.PENDING
        if not (is_open and self._delivery.knows(question.chat)):
            return
        post = await self._store.find_post(question.key)
        if post and post.message_id and self._delivery.voice(question.chat).channel.limits.forgets:
            self._start(self._delivery.deliver(post.chat, [post]))

    def _start(self, work: Coroutine[object, object, None]) -> asyncio.Task[None]:
        task = asyncio.create_task(work)
        self._tasks.add(task)
        task.add_done_callback(self._done)
        return task

    def _done(self, task: asyncio.Task[None]) -> None:
        self._tasks.discard(task)
        if not task.cancelled() and (error := task.exception()):
            log.error("a question's message could not be changed", exc_info=error)

    async def _until(self, woken: asyncio.Event, seconds: float) -> None:
        """Wait for the event, but no longer than that."""
        tasks = [asyncio.create_task(woken.wait()), asyncio.create_task(self._clock.sleep(max(0.0, seconds)))]
        try:
            await asyncio.wait(tasks, return_when=asyncio.FIRST_COMPLETED)
        finally:
            for task in tasks:
                task.cancel()
            await asyncio.wait(tasks)
