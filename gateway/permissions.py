"""Whether a tool may be called in a chat: the rules decide, and where they say so, people do."""

import hashlib

from agent_core.permissions import Answer, PermissionDecision, Proposal
from channels.base import ChatKey
from gateway.approvals import Approvals, CannotAsk
from gateway.rules import Rules, in_english
from gateway.store.question import Question, QuestionState

_REFUSED = {
    QuestionState.DENIED: "the person refused this call",
    QuestionState.EXPIRED: "nobody approved this call in time",
    QuestionState.WITHDRAWN: "it was asked for, and is not wanted any more",
}


class HousePermissions:
    """Satisfies agent_core's Permissions."""

    def __init__(self, rules: Rules, approvals: Approvals, sandbox: str = "") -> None:
        """`sandbox` names what shuts programs in; an approval holds for that alone."""
        self.rules = rules
        self._approvals = approvals
        self._sandbox = sandbox

    async def decide(self, proposal: Proposal) -> PermissionDecision:
        ruling = self.rules.of(proposal)
        if ruling.behavior != "ask" or proposal.chat_id is None:
            return PermissionDecision(behavior=ruling.behavior, reason=in_english(ruling.reason))
        fingerprint = self._fingerprint(proposal)
        try:
            question = await self._approvals.ask(proposal, ChatKey.parse(proposal.chat_id), fingerprint, ruling.reason)
        except CannotAsk as error:
            return PermissionDecision(behavior="deny", reason=str(error))
        if question.state is QuestionState.USED and question.fingerprint != fingerprint and proposal.tool.idempotent:
            # It would be made again, and nobody has approved it as it is now.
            return PermissionDecision(behavior="deny", reason="it is not any more what was approved")
        return _decision(question, in_english(ruling.reason))

    async def answer(self, request_id: str, proposal: Proposal) -> Answer:
        return await self._approvals.wait(request_id, self._fingerprint(proposal))

    async def withdraw(self, request_id: str) -> None:
        await self._approvals.withdraw(request_id)

    def _fingerprint(self, proposal: Proposal) -> str:
        return hashlib.sha256(f"{proposal.fingerprint} {self._sandbox}".encode()).hexdigest()


def _decision(question: Question, reason: str) -> PermissionDecision:
    match question.state:
        case QuestionState.PENDING | QuestionState.APPROVED:
            return PermissionDecision(behavior="ask", reason=reason, request_id=question.id)
        case QuestionState.USED:
            return PermissionDecision(behavior="begun")
        case _:
            return PermissionDecision(behavior="deny", reason=_REFUSED[question.state])
