"""Whether a tool call may be made: what is decided, what is asked of people, and what they answered (S3-31, C-21)."""

import hashlib
import json
from collections.abc import Sequence
from dataclasses import dataclass, field
from enum import StrEnum
from pathlib import Path
from typing import Literal, Protocol

from agent_core.messages import AgentMessage, Frozen, Text, ToolCall
from agent_core.tools import Tool

Behavior = Literal["allow", "ask", "deny", "begun"]
"""`begun`: it was asked for and approved before the program stopped, so it may have run."""


class PermissionDecision(Frozen):
    """What holds for one call."""

    behavior: Behavior
    reason: Text = ""
    """For people, of a question; for the model, of a refusal."""
    request_id: str = ""
    """Of a question: what its answer names."""


class Answer(StrEnum):
    """What became of a question."""

    APPROVED = "approved"
    DENIED = "denied"
    EXPIRED = "expired"
    """Nobody answered in time, or nobody could."""
    WITHDRAWN = "withdrawn"
    """The person wrote something else instead, or stopped the run."""


@dataclass(frozen=True)
class Proposal:
    """A call that is about to be made; its arguments fit the tool's schema."""

    call: ToolCall
    tool: Tool
    workspace: Path
    session_id: str
    chat_id: str | None
    user_id: str | None
    messages: Sequence[AgentMessage]
    """The conversation so far."""

    @property
    def fingerprint(self) -> str:
        """What an approval is bound to: the tool, its exact arguments, and the folder they act on."""
        facts = [self.call.name, self.call.arguments, str(self.workspace)]
        text = json.dumps(facts, sort_keys=True, ensure_ascii=True, separators=(",", ":"))
        return hashlib.sha256(text.encode()).hexdigest()


MOST_DENIALS = 3
"""In a row; after that a run has nothing left to try (C-21)."""


@dataclass
class Denials:
    """What was refused in one run."""

    refused: set[str] = field(default_factory=set)
    """Fingerprints: the same call is not asked for again."""
    in_a_row: int = 0

    def add(self, fingerprint: str) -> None:
        self.refused.add(fingerprint)
        self.in_a_row += 1

    def succeeded(self) -> None:
        """Some call did what it should, so there is a way on."""
        self.in_a_row = 0

    @property
    def are_too_many(self) -> bool:
        return self.in_a_row >= MOST_DENIALS


class Permissions(Protocol):
    """Decides about calls, and gets questions answered; what it asked survives the program."""

    async def decide(self, proposal: Proposal) -> PermissionDecision:
        """What holds for this call. Where it is to be asked for, the question is on disk when this returns; the same
        call proposed again after a restart is the same question."""
        ...

    async def answer(self, request_id: str, proposal: Proposal) -> Answer:
        """Put the question to people and return what became of it. An approval is used up by this: it is given for the
        proposal's fingerprint, and once. Cancelled, the question stays for the next life of the program."""
        ...

    async def withdraw(self, request_id: str) -> None:
        """Nobody needs to answer any more; `answer` returns WITHDRAWN unless it has an answer already."""
        ...


class EverythingAllowed:
    """For agents without a house around them: their tools are their owner's choice."""

    async def decide(self, proposal: Proposal) -> PermissionDecision:
        return PermissionDecision(behavior="allow")

    async def answer(self, request_id: str, proposal: Proposal) -> Answer:
        return Answer.EXPIRED

    async def withdraw(self, request_id: str) -> None:
        """There is no question."""
