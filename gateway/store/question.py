"""A question to people whether a tool call may be made, and what may become of it (C-21). Pure.

pending -> approved | denied | expired | withdrawn; approved -> used | expired | withdrawn. Nothing else ever happens.
"""

from dataclasses import dataclass, replace
from enum import StrEnum

from channels.base import ChatKey


class QuestionState(StrEnum):
    PENDING = "pending"
    APPROVED = "approved"
    USED = "used"
    """It was approved, and the call was let through: once."""
    DENIED = "denied"
    EXPIRED = "expired"
    WITHDRAWN = "withdrawn"
    """Nobody needs to answer any more, or what was approved is not what was to be done in the end."""


@dataclass(frozen=True)
class Question:
    """One row. Every step returns the question as it is then, and itself where that step cannot be taken."""

    id: str
    """What people type: six characters."""
    run: str
    session: str
    call: str
    chat: ChatKey
    person: str
    """The id of whoever started the run."""
    tool: str
    fingerprint: str
    """What an approval is bound to."""
    what: str
    """What is to be done, whole, for people."""
    language: str
    asked_at: float
    expires_at: float
    """Seconds since the epoch, however often the program stops meanwhile."""
    state: QuestionState = QuestionState.PENDING
    answered_by: str | None = None
    answered_at: float | None = None

    @property
    def key(self) -> str:
        """Of its message."""
        return f"{self.run}:ask:{self.id}"

    def at(self, now: float) -> "Question":
        """An answer that comes too late is none, and an approval that is not used in time neither."""
        late = now >= self.expires_at and self.state in (QuestionState.PENDING, QuestionState.APPROVED)
        return replace(self, state=QuestionState.EXPIRED) if late else self

    def answered(self, by: str, now: float, *, approved: bool) -> "Question":
        current = self.at(now)
        if current.state is not QuestionState.PENDING:
            return current
        state = QuestionState.APPROVED if approved else QuestionState.DENIED
        return replace(current, state=state, answered_by=by, answered_at=now)

    def used(self, fingerprint: str, now: float) -> "Question":
        """The call begins now, if it is the one that was approved; one that has changed since may not."""
        current = self.at(now)
        if current.fingerprint != fingerprint and current.state in (QuestionState.PENDING, QuestionState.APPROVED):
            return replace(current, state=QuestionState.WITHDRAWN)
        return replace(current, state=QuestionState.USED) if current.state is QuestionState.APPROVED else current

    def withdrawn(self) -> "Question":
        """Unless it has its answer."""
        return replace(self, state=QuestionState.WITHDRAWN) if self.state is QuestionState.PENDING else self
