"""Permission checks of tool calls: decisions, questions to users and their answers."""

import hashlib
import json
from collections.abc import Sequence
from enum import StrEnum
from pathlib import Path
from typing import Literal, Protocol

from msgspec import Struct, field

from agent_core.messages import AgentMessage, Frozen, Text, ToolCall
from agent_core.tools.tool import Tool

Behavior = Literal["allow", "ask", "deny", "begun"]
"""`begun`: approved before the program stopped, so the call may already have run."""


class PermissionDecision(Frozen):
    """The decision about one call."""

    behavior: Behavior
    reason: Text = ""
    """Shown to users with a question, and to the model with a refusal."""
    request_id: str = ""
    """Id of the question, if one is asked."""
    ruled_by: Text = ""
    """Name of the rule or setting that decided, for the records."""


class Answer(StrEnum):
    """Outcome of a question."""

    APPROVED = "approved"
    DENIED = "denied"
    EXPIRED = "expired"
    """Not answered in time, or there was no user who could answer."""
    WITHDRAWN = "withdrawn"
    """The user wrote something else instead, or stopped the run."""
    CHANGED = "changed"
    """Approved, but its target has changed since it was shown: a new decision is needed."""


class Proposal(Struct, frozen=True):
    """A tool call to be decided about; its arguments fit the tool's schema.

    Attributes:
        call: The call, with the `name` of the tool and the `arguments`.
        tool: The tool; its `acts` are the most that a call does.
        workspace: The folder of the chat's files.
        session_id: The id of the conversation.
        chat_id: The chat, as `ChatKey.parse` reads it; None if there is none.
        user_id: The person for whom it is made; None if there is none.
        messages: The conversation so far.
    """

    call: ToolCall
    tool: Tool
    workspace: Path
    session_id: str
    chat_id: str | None
    user_id: str | None
    messages: Sequence[AgentMessage]

    @property
    def fingerprint(self) -> str:
        """Return what an approval is bound to: a hash of the tool, its exact arguments and the workspace."""
        facts = [self.call.name, self.call.arguments, str(self.workspace)]
        text = json.dumps(facts, sort_keys=True, ensure_ascii=True, separators=(",", ":"))
        return hashlib.sha256(text.encode()).hexdigest()


MOST_DENIALS = 3
"""Refusals in a row that end a run."""


class Denials(Struct):
    """The calls that were refused in one run."""

    refused: set[str] = field(default_factory=set)
    """Fingerprints; the same call is not asked about again."""
    in_a_row: int = 0

    def add(self, fingerprint: str) -> None:
        self.refused.add(fingerprint)
        self.in_a_row += 1

    def succeeded(self) -> None:
        """Reset the count of refusals in a row, because a call has succeeded."""
        self.in_a_row = 0

    @property
    def are_too_many(self) -> bool:
        return self.in_a_row >= MOST_DENIALS


class Permissions(Protocol):
    """Decides about calls and obtains answers from users; questions survive a restart."""

    async def decide(self, proposal: Proposal) -> PermissionDecision:
        """Decide about a call. A question is on disk when this returns; the same call after a restart is the same
        question."""
        ...

    async def answer(self, request_id: str, proposal: Proposal) -> Answer:
        """Ask users and return the outcome. An approval is valid once, for the proposal's fingerprint, and is consumed
        here.

        If cancelled, the question stays open for the next process start.
        """
        ...

    async def withdraw(self, request_id: str) -> None:
        """Close the question; `answer` returns WITHDRAWN unless it has an answer already."""
        ...


class EverythingAllowed:
    """Permissions that allow everything, for agents used as a library."""

    async def decide(self, proposal: Proposal) -> PermissionDecision:
        return PermissionDecision(behavior="allow")

    async def answer(self, request_id: str, proposal: Proposal) -> Answer:
        return Answer.EXPIRED

    async def withdraw(self, request_id: str) -> None:
        """Do nothing; there are no questions."""
