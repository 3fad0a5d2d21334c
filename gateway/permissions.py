"""Whether a tool may be called in this house: the policy decides, and where it says so, people do."""

import hashlib

from agent_core.permissions import Answer, PermissionDecision, Proposal
from channels.base import ChatKey, Sender
from gateway.access import Access
from gateway.approvals import Approvals, CannotAsk
from gateway.policy import Policy, Role
from gateway.store.question import Question, QuestionState
from gateway.texts import say

_REFUSED = {
    QuestionState.DENIED: "the person refused this call",
    QuestionState.EXPIRED: "nobody approved this call in time",
    QuestionState.WITHDRAWN: "it was asked for, and is not wanted any more",
}


class HousePermissions:
    """Satisfies agent_core's Permissions. Nothing is allowed to whoever may not speak here, any more or at all."""

    def __init__(self, policy: Policy, approvals: Approvals, access: Access, sandbox: str = "") -> None:
        """`sandbox` names what shuts programs in; an approval holds for that alone."""
        self._policy = policy
        self._approvals = approvals
        self._access = access
        self._sandbox = sandbox

    async def decide(self, proposal: Proposal) -> PermissionDecision:
        if proposal.chat_id is None or proposal.user_id is None:
            return PermissionDecision(behavior="deny", reason="nobody is known on whose behalf it would be made")
        chat, person = ChatKey.parse(proposal.chat_id), Sender(id=proposal.user_id, name="")
        if not self._access.may_speak(chat, person):
            return PermissionDecision(behavior="deny", reason="the person may not speak here any more")
        role = Role.OWNER if self._access.is_owner(chat, person) else Role.USER
        ruling = self._policy.decide(proposal, role)
        if ruling.behavior != "ask":
            return PermissionDecision(behavior=ruling.behavior, reason=_in_english(ruling.reason))
        fingerprint = self._fingerprint(proposal)
        try:
            question = await self._approvals.ask(proposal, chat, fingerprint, ruling.reason)
        except CannotAsk as error:
            return PermissionDecision(behavior="deny", reason=str(error))
        if question.state is QuestionState.USED and question.fingerprint != fingerprint and proposal.tool.idempotent:
            # It would be made again, and nobody has approved it as it is now.
            return PermissionDecision(behavior="deny", reason="it is not any more what was approved")
        return _decision(question, _in_english(ruling.reason))

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


def _in_english(keys: tuple[str, ...]) -> str:
    """For the model."""
    return " ".join(say(key, "en") for key in keys)
