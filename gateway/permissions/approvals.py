"""Approval questions: asked, answered once and in time by those who may, and closed with the outcome.

A question is on disk before it is sent, and its outcome before anything acts on it.
"""

import asyncio
from collections.abc import Awaitable, Callable, Container, Sequence
from functools import partial
from typing import Protocol

import structlog
from msgspec.structs import replace

from agent_core.background import Background, set_within
from agent_core.clock import Clock
from agent_core.loop.permissions import Answer, Proposal
from agent_core.origin import CLEAN
from channels.base import Channel, ChatKey, OutboundMessage, Sender
from gateway.permissions.access import Access
from gateway.permissions.binding import Binding
from gateway.permissions.model_question import OfModel, closing_line, model_question
from gateway.permissions.question_text import question_message, what_is_done
from gateway.permissions.request import REPLIES, Reply, new_request_id
from gateway.permissions.sources import reasons
from gateway.security.masked_channel import MaskedChannel
from gateway.settings.current import CurrentSettings
from gateway.store.approvals import Moved, Rule, Step
from gateway.store.question import Grounds, Question, QuestionState
from gateway.store.rows import Post
from gateway.store.store import Store
from gateway.texts.say import language_of, say

LASTS = 600.0
"""Seconds until a question expires."""
_ANSWERS = {
    QuestionState.DENIED: Answer.DENIED,
    QuestionState.EXPIRED: Answer.EXPIRED,
    QuestionState.WITHDRAWN: Answer.WITHDRAWN,
    QuestionState.USED: Answer.WITHDRAWN,
}

log = structlog.get_logger(__name__)


async def _go_on() -> None:
    """Hold nothing."""


class Messages(Protocol):
    """Sends and edits the messages of questions, see `gateway.delivery.delivery.Delivery`."""

    def knows(self, chat: ChatKey) -> bool: ...

    def channel(self, chat: ChatKey) -> Channel: ...

    def masked_channel(self, chat: ChatKey) -> MaskedChannel: ...

    async def deliver(self, chat: ChatKey, posts: Sequence[Post]) -> None: ...

    async def caught_up(self, chat: ChatKey) -> None: ...


class CannotAsk(Exception):
    """Approval cannot be asked for. The message gives the model the reason."""


class Approvals:
    """All approval questions of this process."""

    def __init__(
        self,
        store: Store,
        delivery: Messages,
        access: Access,
        clock: Clock,
        current: CurrentSettings,
        new_id: Callable[[], str] = new_request_id,
        *,
        hold: Callable[[], Awaitable[None]] = _go_on,
    ) -> None:
        """`hold` blocks once the program drains."""
        self._store = store
        self._delivery = delivery
        self.access = access
        self._clock = clock
        self._current = current
        self._new_id = new_id
        self._hold = hold
        self._waiting: dict[str, asyncio.Event] = {}
        """Wakes the run that waits for the answer to a question."""
        self._unsent: dict[str, Post] = {}
        """Questions of this process not sent yet. Those of an earlier one are sent with its other posts."""
        self._sends: dict[str, asyncio.Task[None]] = {}
        self._asking: set[str] = set()
        """Runs that may have open questions."""
        self._silent: set[str] = set()
        """Platforms that cannot answer any more."""
        self._of_model: dict[ChatKey, Question] = {}
        """Open questions of the model, of which a chat has one at a time."""
        self.asked_in: Container[ChatKey] = self._of_model
        """The chats in which the model waits for an answer."""
        self._changing = Background("editing a question failed")

    # For runs

    async def ask(
        self,
        proposal: Proposal,
        chat: ChatKey,
        fingerprint: str,
        grounds: Grounds,
        binding: Binding | None = None,
        *,
        asked: OfModel | None = None,
    ) -> Question:
        """Return the question about a call: a new one, or an earlier one in its present state. Raises CannotAsk.

        Without a `binding` the call cannot be allowed permanently. `asked` is set for a question of the model.
        """
        if chat.platform in self._silent:
            raise CannotAsk("it needs an approval, and nobody is there to give it")
        run = await self._store.runs.current(chat, proposal.session_id)
        if run is None or run.person != proposal.user_id:  # only the run's own user is asked
            raise CannotAsk("it needs an approval, and there is nobody to ask")
        tag = await self._store.chats.language_of(chat, run.person)
        mask = self._delivery.masked_channel(chat).secrets.mask  # before shortening: half a secret is not recognised
        now = self._clock.time()
        draft = Question(
            id="",
            run=run.id,
            session=proposal.session_id,
            call=asked.call if asked else proposal.call.id,
            chat=chat,
            person=run.person,
            tool=proposal.call.name,
            fingerprint=fingerprint,
            what=mask(asked.text if asked else what_is_done(proposal.call.name, proposal.call.arguments)),
            language=language_of(tag, self._current.language),
            asked_at=now,
            expires_at=now + LASTS,
            subject=binding.subject if binding else "",
            bound=binding.state if binding else "",
            choices=asked.choices if asked else "",
            grounds="" if asked else str(grounds),
        )
        self._asking.add(run.id)
        moves: list[Moved] = []
        while not moves:
            draft = replace(draft, id=self._new_id())
            post = self._post(draft, run.reply_to)
            moves = await self._store.approvals.ask(draft, post.message, closing_line)
        for moved in moves:
            self._told(moved)
        question = moves[-1].after
        self._note(question)
        if question.id == draft.id:
            self._unsent[question.id] = post
        return question

    async def was_allowed(self, session: str, fingerprint: str) -> bool:
        """Return True if an approval of this was used in the session."""
        return await self._store.approvals.was_used(session, fingerprint)

    async def wait(self, request_id: str, fingerprint: Callable[[], Awaitable[str]]) -> Answer:
        """Send the question if that was not done, and wait for its outcome. An approval is used up by this.

        `fingerprint` returns that of the call in its present state.
        """
        self._send(request_id)
        woken = self._waiting[request_id] = asyncio.Event()
        try:
            while True:
                woken.clear()
                await self._hold()  # while draining, answers are left to the next process
                moved = await self._used(request_id, await fingerprint())
                if moved is None:
                    return Answer.WITHDRAWN
                if moved.has_moved and moved.after.state is QuestionState.WITHDRAWN:
                    return Answer.CHANGED
                if moved.has_moved and moved.after.state is QuestionState.USED:
                    return Answer.APPROVED
                if moved.after.state is not QuestionState.PENDING:
                    return _ANSWERS[moved.after.state]
                await set_within(woken, max(0.0, moved.after.expires_at - self._clock.time()), self._clock)
        finally:
            self._waiting.pop(request_id, None)

    async def withdraw(self, request_id: str) -> None:
        """Close the question unless it was answered."""
        await self._move(request_id, Question.withdrawn)

    async def expel(self, knows: Callable[[ChatKey], bool]) -> list[Question]:
        """Close and return the questions of users who may no longer speak."""
        found = [each for each in await self._store.approvals.pending() if knows(each.chat)]
        gone = [each for each in found if not self.access.may_speak(each.chat, Sender(id=each.person, name=""))]
        moved = [await self._move(each.id, Question.withdrawn) for each in gone]
        return [each.after for each in moved if each is not None and each.has_moved]

    async def run_over(self, run: str) -> None:
        """Close the questions of a run that has ended."""
        if run in self._asking:
            self._asking.discard(run)
            for question in await self._store.approvals.pending():
                if question.run == run:
                    await self.withdraw(question.id)

    # For people

    def of_model(self, chat: ChatKey) -> Question | None:
        """Return the open question of the model in a chat."""
        question = self._of_model.get(chat)
        return question if question and question.at(self._clock.time()).state is QuestionState.PENDING else None

    async def answer(self, question: Question, by: Sender, words: str, heard: int | None = None) -> Reply:
        """Take an answer to a question of the model; `heard` is the inbox item that is settled with it."""
        now, said = self._clock.time(), question.meant(words)

        def step(current: Question) -> Question:
            if not self.may_answer(current, by):
                return current
            return current.answered(by.id, now, approved=True, words=said)

        moved = await self._store.approvals.answer(question.id, step, partial(self._closing_line, name=by.name), heard)
        if moved is None:
            return Reply.UNKNOWN
        self._told(moved, by.name)
        if moved.is_approval:
            return Reply.TAKEN
        return REPLIES[moved.after.state] if self.may_answer(moved.before, by) else Reply.NOT_YOURS

    async def reply(self, request_id: str, chat: ChatKey, by: Sender, *, approved: bool, always: bool = False) -> Reply:
        """Take an answer given in a chat. Only those of the run's user, of admins and of owners count.

        `always` also creates a rule that allows the same call there until something it depends on changes.
        """
        now = self._clock.time()

        def step(question: Question) -> Question:
            if question.chat != chat or question.is_of_model or not self.may_answer(question, by):
                return question
            return question.answered(by.id, now, approved=approved)

        rule = await self._rule(request_id, by) if always else None
        if always and rule is None:
            return Reply.ONLY_ONCE
        moved = await self._move(request_id, step, by.name, rule)
        if moved is None or moved.before.chat != chat or moved.before.is_of_model:
            return Reply.UNKNOWN
        if not self.may_answer(moved.before, by):
            return Reply.NOT_YOURS
        if moved.after.state in (QuestionState.APPROVED, QuestionState.DENIED) and moved.has_moved:
            log.info("question answered", id=request_id, run=moved.after.run, by=by.id, approved=approved)
            return Reply.TAKEN
        return REPLIES[moved.after.state]

    async def open_in(self, chat: ChatKey) -> list[Question]:
        """Return the open questions in the chat, oldest first."""
        now = self._clock.time()
        found = await self._store.approvals.pending()
        return [each for each in found if each.chat == chat and each.at(now).state is QuestionState.PENDING]

    def may_answer(self, question: Question, who: Sender) -> bool:
        """Return True for the run's user, admins and owners with no less rights: they may also stop it."""
        return self.access.may_act_for(question.chat, who, question.person)

    # For start and stop

    async def recall(self, chat: ChatKey | None = None) -> None:
        """Close the questions that the previous process asked for runs that have ended, and show open ones again.

        The closing texts are stored, and sent with the other unsent posts. `chat` limits it to the questions of a chat.
        """
        pending = await self._store.approvals.pending(chat)
        running = await self._store.runs.open_ids() if pending else set()
        for question in pending:
            if question.run in running:
                self._asking.add(question.run)
                self._note(question)
                await self._show_again(question)
            else:
                await self._store.approvals.move(question.id, Question.withdrawn, closing_line)

    def forget(self, chat: ChatKey) -> None:
        """Drop what the memory holds of a chat with which another process may go on."""
        self._of_model.pop(chat, None)

    def nobody_answers(self, platform: str) -> None:
        """Let questions on a platform expire from now on, because its input has ended."""
        self._silent.add(platform)
        for woken in self._waiting.values():
            woken.set()

    async def settled(self) -> None:
        """Wait until every question's message shows its outcome."""
        await self._changing.join()

    async def close(self) -> None:
        """Cancel pending edits; they stay stored."""
        await self._changing.stop()

    # Implementation

    def _post(self, question: Question, reply_to: str | None) -> Post:
        """Return the post for a question. Raises CannotAsk if it does not fit in one message and could not be read."""
        masked_channel = self._delivery.masked_channel(question.chat)
        language = language_of(question.language, self._current.language)
        message = question_message(question, reasons(question, language), masked_channel.channel.limits.slash)
        if question.is_of_model:
            message = model_question(question, in_group=masked_channel.channel.is_group(question.chat))
        message = message.model_copy(update={"reply_to": reply_to})
        if len(masked_channel.split(message)) > 1:
            raise CannotAsk("it needs an approval, and is too long to be shown whole to whoever would give it")
        return Post(question.key, question.run, question.chat, message, CLEAN)

    def _use(self, question: Question, fingerprint: str) -> Question:
        now = self._clock.time()
        if question.chat.platform in self._silent and question.state is QuestionState.PENDING:
            now = question.expires_at
        return question.used(fingerprint, now)

    async def _used(self, request_id: str, fingerprint: str) -> Moved | None:
        """Use the approval, unless the call has changed since it was shown."""
        step, line = partial(self._use, fingerprint=fingerprint), partial(closing_line, changed=True)
        moved = await self._store.approvals.move(request_id, step, line)
        if moved is not None:
            self._told(moved, changed=True)
        return moved

    async def _rule(self, request_id: str, by: Sender) -> Rule | None:
        question = await self._store.approvals.find(request_id)
        if question is None or not question.subject:
            return None
        return Rule(
            id=question.id,
            chat=question.chat,
            person=question.person,
            tool=question.tool,
            what=question.what,
            subject=question.subject,
            bound=question.bound,
            given_by=by.name,
            created=self._clock.time(),
        )

    async def _move(self, request_id: str, step: Step, name: str = "", rule: Rule | None = None) -> Moved | None:
        moved = await self._store.approvals.move(request_id, step, partial(self._closing_line, name=name), rule)
        if moved is not None:
            self._told(moved, name)
        return moved

    def _note(self, question: Question) -> None:
        """Remember the open question of the model in a chat."""
        if question.is_of_model and question.state is QuestionState.PENDING:
            self._of_model[question.chat] = question
        elif (noted := self._of_model.get(question.chat)) and noted.id == question.id:
            del self._of_model[question.chat]

    def _told(self, moved: Moved, name: str = "", *, changed: bool = False) -> None:
        """Pass the new state to the waiting run and to the question's message."""
        if not moved.has_moved:
            return
        self._note(moved.after)
        if woken := self._waiting.get(moved.after.id):
            woken.set()
        if moved.after.state is not QuestionState.USED:
            self._changing.start(self._close(moved.after, self._closing_line(moved.after, name, changed=changed)))

    def _closing_line(self, question: Question, name: str = "", *, changed: bool = False) -> OutboundMessage:
        """Return the closing line; on a local channel its only user is addressed as "you"."""
        if name and self._delivery.knows(question.chat) and self._delivery.channel(question.chat).limits.is_local:
            name = say("ask_you", language_of(question.language, "en"))
        return closing_line(question, name, changed=changed)

    def _send(self, request_id: str) -> None:
        if post := self._unsent.pop(request_id, None):
            self.access.spoke(post.chat)  # a user may answer before the delivery is recorded
            self._sends[request_id] = self._changing.start(self._delivery.deliver(post.chat, [post]))

    async def _close(self, question: Question, line: OutboundMessage) -> None:
        """Edit the question's message to show the outcome, or drop it if it was not sent yet."""
        if sending := self._sends.pop(question.id, None):
            await asyncio.wait([sending])
        if self._unsent.pop(question.id, None):
            await self._store.outbox.failed(question.key, "nobody needs to see it")
            return
        post = await self._store.outbox.find(question.key)
        if post is not None and post.message_id is None:  # an earlier process started the send
            await self._delivery.caught_up(question.chat)
            post = await self._store.outbox.find(question.key)
        if post is not None and post.message_id is not None and self._delivery.knows(post.chat):
            await self._delivery.deliver(post.chat, [replace(post, message=line)])

    async def _show_again(self, question: Question) -> None:
        """Send an open question again on a channel that forgets its messages, so that it is visible when answered."""
        is_open = question.at(self._clock.time()).state is QuestionState.PENDING
        if not (is_open and self._delivery.knows(question.chat)):
            return
        post = await self._store.outbox.find(question.key)
        if post and post.message_id and self._delivery.masked_channel(question.chat).channel.limits.forgets:
            self._changing.start(self._delivery.deliver(post.chat, [post]))
