"""The tool `ask_user`: the model asks its user a question, and the run waits for the answer as for an approval.

The question is a row before it is sent, so it survives a crash: the repeated call finds it by its id.
"""

import json
from typing import Annotated

from pydantic import Field

from agent_core.loop.permissions import Answer, PermissionDecision, Permissions, Proposal
from agent_core.messages import AssistantMessage
from agent_core.tools.tool import FunctionTool, Tool, ToolContext, ToolFailed, tool
from channels.base import ChatKey, MessageReceived
from channels.text import visible
from gateway.delivery.delivery import Delivery
from gateway.permissions.approvals import Approvals, CannotAsk
from gateway.permissions.gates import Gates
from gateway.permissions.model_question import OfModel, cleaned
from gateway.permissions.policy import Ruling
from gateway.permissions.request import Reply
from gateway.permissions.rules import in_english
from gateway.store.question import ASK, Grounds, Question, QuestionState
from gateway.store.rows import InboxItem
from gateway.store.store import Store

Choice = Annotated[str, Field(min_length=1, max_length=80)]


def ask_user_tool(store: Store) -> Tool:
    """Return the tool. `QuestionPermissions` asks the question before the tool runs and returns its answer."""

    @tool(
        idempotent=True,
        retry="never",
        timeout_s=None,
        asks=True,
        label="Asking: {question}",
        labels={"zh": "提问：{question}"},
    )
    async def ask_user(
        question: Annotated[str, Field(min_length=1, max_length=1000)],
        choices: Annotated[tuple[Choice, ...], Field(max_length=4)] = (),
        *,
        context: ToolContext,
    ) -> str:
        """Ask the person what you cannot go on without; they choose or answer freely."""
        asked = await store.approvals.of_call(context.session_id, f"{context.answer_id}:{context.call_id}")
        if asked is None:
            raise ToolFailed("there is nobody to ask")
        return _outcome(asked)

    return ask_user


def _outcome(question: Question) -> str:
    if question.state in (QuestionState.APPROVED, QuestionState.USED):
        return f"The person {'chose' if question.answer in question.options else 'answered'}: {question.answer}"
    if question.state is QuestionState.EXPIRED:
        return "The person has not answered in time. Say what you still need to know, and end here."
    return "The person wrote something else instead of an answer."


class QuestionPermissions:
    """Wraps `Permissions`: a call of `ask_user` is the question itself, and needs no other permission."""

    def __init__(self, permissions: Permissions, approvals: Approvals, gates: Gates | None = None) -> None:
        """`gates` may refuse questions, too."""
        self._permissions = permissions
        self._approvals = approvals
        self._gates = gates or Gates()

    async def decide(self, proposal: Proposal) -> PermissionDecision:
        if not _asks(proposal):
            return await self._permissions.decide(proposal)
        if proposal.chat_id is None:
            return PermissionDecision(behavior="deny", reason="there is nobody to ask")
        ruling = await self._gates.stricter(Ruling("allow"), proposal)
        if ruling.behavior == "deny":
            return PermissionDecision(behavior="deny", reason=in_english(ruling))
        chat, call = ChatKey.parse(proposal.chat_id), f"{_answer_of(proposal)}:{proposal.call.id}"
        given = proposal.tool.validate(proposal.call.arguments).model_dump()
        choices = cleaned(given["choices"])
        if not visible(given["question"]):
            return PermissionDecision(behavior="deny", reason="the question is empty")
        asked = OfModel(call, given["question"].strip(), json.dumps(choices, ensure_ascii=False))
        try:
            question = await self._approvals.ask(proposal, chat, proposal.fingerprint, Grounds(), asked=asked)
        except CannotAsk as error:
            return PermissionDecision(behavior="deny", reason=str(error))
        is_open = question.state in (QuestionState.PENDING, QuestionState.APPROVED)
        return PermissionDecision(behavior="ask" if is_open else "allow", request_id=question.id)

    async def answer(self, request_id: str, proposal: Proposal) -> Answer:
        """Return the outcome of a question; the model learns from the tool that one has expired."""
        if not _asks(proposal):
            return await self._permissions.answer(request_id, proposal)

        async def fingerprint() -> str:
            return proposal.fingerprint

        answer = await self._approvals.wait(request_id, fingerprint)
        return Answer.APPROVED if answer is Answer.EXPIRED else answer

    async def withdraw(self, request_id: str) -> None:
        await self._permissions.withdraw(request_id)


class FreeAnswers:
    """Takes messages as answers to the model's open questions."""

    def __init__(self, approvals: Approvals, store: Store, delivery: Delivery) -> None:
        self._approvals = approvals
        self._store = store
        self._delivery = delivery
        self.asked_in = approvals.asked_in

    def may_answer(self, event: MessageReceived) -> bool:
        """Return True if the model waits for an answer of this user, and the message can be one.

        Files and forwarded messages are more than an answer, and names of people may be anybody's words.
        """
        question = self._approvals.of_model(event.chat)
        is_theirs = question is not None and question.person == event.sender.id
        return is_theirs and not (event.attachments or event.shared or event.named) and visible(event.text)

    async def question(self, event: MessageReceived) -> tuple[Question, float] | None:
        """Return the question that the message answers, and when it was shown.

        Return None if the message was written before, or replies to another message.
        """
        await self._delivery.caught_up(event.chat)
        question = self._approvals.of_model(event.chat)
        if question is None or question.person != event.sender.id:
            return None
        shown = await self._store.outbox.offered(question.key)
        if shown is None or shown.said_at is None or shown.said_at > event.at:
            return None
        if event.reply_to not in (None, event.chat.thread, shown.post.message_id):
            return None
        return question, shown.said_at

    async def take(self, question: Question, item: InboxItem, event: MessageReceived) -> bool:
        """Take the message as the answer, and settle it, unless another answer was faster."""
        return await self._approvals.answer(question, event.sender, event.text, item.seq) is Reply.TAKEN


def _asks(proposal: Proposal) -> bool:
    return proposal.call.name == ASK and isinstance(proposal.tool, FunctionTool)


def _answer_of(proposal: Proposal) -> str:
    """Return the id of the model's answer that contains the call, as `ToolContext.answer_id` does."""
    for message in reversed(proposal.messages):
        if isinstance(message, AssistantMessage) and any(call.id == proposal.call.id for call in message.tool_calls):
            return message.id
    return ""
