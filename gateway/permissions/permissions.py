"""Decides on tool calls in a chat: by the rules, or by asking people where the rules say so."""

import asyncio
import hashlib
from copy import copy

import structlog
from msgspec.structs import replace

from agent_core.loop.permissions import Answer, PermissionDecision, Permissions, Proposal
from agent_core.skills.library import SkillLibrary
from channels.base import ChatKey
from gateway.permissions.approvals import Approvals, CannotAsk
from gateway.permissions.binding import Binding, binding
from gateway.permissions.gates import GATED
from gateway.permissions.policy import Ruling
from gateway.permissions.rules import CANNOT_UNDO, Rules, in_english, undoable
from gateway.permissions.workspaces import Versions
from gateway.store.question import Grounds, Question, QuestionState
from gateway.store.run_records import RunRecords
from gateway.store.store import Store

_REFUSED = {
    QuestionState.DENIED: "the person refused this call",
    QuestionState.EXPIRED: "nobody approved this call in time",
    QuestionState.WITHDRAWN: "it was asked for, and is not wanted any more",
}

RULE = "rule"
"""With an id: what `PermissionDecision.ruled_by` says of a rule made with *Always here*."""
COVERED = "covered"
"""What it says of a call that an earlier approval covers."""

log = structlog.get_logger(__name__)


class ChatPermissions:
    """Implements agent_core's `Permissions`."""

    def __init__(
        self,
        rules: Rules,
        approvals: Approvals,
        versions: Versions,
        store: Store,
        library: SkillLibrary,
        *,
        sandbox: str = "",
        network: bool = True,
    ) -> None:
        """Create the permissions.

        Args:
            versions: Tells which programs could be undone. Others need approval, whatever the rules say.
            sandbox: Name of the sandbox of programs. Approvals hold only for the same sandbox.
            network: True if programs can reach other machines.
        """
        self.rules = rules
        self._approvals = approvals
        self._versions = versions
        self._store = store
        self._library = library
        self._sandbox = sandbox
        self._network = network
        self._changed: set[tuple[str, str]] = set()
        """Calls, by session and id, whose files changed between approval and execution."""
        self.first: tuple[str, ...] = ()
        """Keys of texts with which its questions begin."""

    def saying(self, key: str) -> "ChatPermissions":
        """Return the same permissions, whose questions begin with the text of this key."""
        found = copy(self)
        found.first = (key,)
        return found

    async def decide(self, proposal: Proposal) -> PermissionDecision:
        ruling = await undoable(await self.rules.guarded(proposal), proposal, self._versions)
        if ruling.behavior != "ask" or proposal.chat_id is None:
            return PermissionDecision(behavior=ruling.behavior, reason=in_english(ruling), ruled_by=ruling.setting)
        bound, is_gated = await self._binding(proposal), GATED in ruling.reason
        if ruling.covers and not is_gated and await self._was_covered(proposal, ruling, bound):
            return PermissionDecision(behavior="allow", ruled_by=COVERED)
        chat = ChatKey.parse(proposal.chat_id)
        can_be_ruled = bound.subject and not is_gated and CANNOT_UNDO not in ruling.reason
        can_be_ruled = can_be_ruled and not self.rules.is_tainted(proposal)
        why = [*self.first, *ruling.reason, *self._changed_since(proposal)]
        if can_be_ruled and proposal.user_id is not None:
            rule = await self._store.rules.find(chat, proposal.user_id, bound.subject)
            if rule is not None and rule.bound == bound.state:
                log.info("allowed by a rule", rule=rule.id, tool=proposal.call.name, chat=proposal.chat_id)
                return PermissionDecision(behavior="allow", ruled_by=f"{RULE} {rule.id}")
            if rule is not None:
                await self._store.rules.remove(rule.id)
                why.append("rule_ended")
        asked = replace(ruling, reason=tuple(why))
        return await self._asked(proposal, chat, asked, bound if can_be_ruled else Binding(bound.files))

    async def answer(self, request_id: str, proposal: Proposal) -> Answer:
        async def fingerprint() -> str:
            ruling = self.rules.of(proposal)
            if ruling.behavior == "deny":  # rights were taken away since; the call is decided anew
                return ""
            return self._fingerprint(proposal, ruling, await self._binding(proposal))

        answer = await self._approvals.wait(request_id, fingerprint)
        if answer is Answer.APPROVED and self.rules.of(proposal).behavior == "deny":  # while it was being checked
            answer = Answer.CHANGED
        if answer is Answer.CHANGED:
            self._changed.add((proposal.session_id, proposal.call.id))
        return answer

    async def withdraw(self, request_id: str) -> None:
        await self._approvals.withdraw(request_id)

    async def _was_covered(self, proposal: Proposal, ruling: Ruling, bound: Binding) -> bool:
        """Return True if an earlier approval covers this call."""
        fingerprint = self._fingerprint(proposal, ruling, bound)
        return await self._approvals.was_allowed(proposal.session_id, fingerprint)

    async def _asked(self, proposal: Proposal, chat: ChatKey, ruling: Ruling, bound: Binding) -> PermissionDecision:
        fingerprint = self._fingerprint(proposal, ruling, bound)
        try:
            grounds = Grounds(ruling.reason, ruling.sources, ruling.setting)
            question = await self._approvals.ask(proposal, chat, fingerprint, grounds, bound)
        except CannotAsk as error:
            return PermissionDecision(behavior="deny", reason=str(error))
        if question.state is QuestionState.USED and question.fingerprint != fingerprint and proposal.tool.idempotent:
            # It would be made again, and has changed since it was approved.
            return PermissionDecision(behavior="deny", reason="it is not any more what was approved")
        return _decision(question, in_english(ruling))

    def _changed_since(self, proposal: Proposal) -> tuple[str, ...]:
        call = proposal.session_id, proposal.call.id
        if call not in self._changed:
            return ()
        self._changed.discard(call)
        return ("changed_since",)

    async def _binding(self, proposal: Proposal) -> Binding:
        return await asyncio.to_thread(binding, proposal, self._library, network=self._network)

    def _fingerprint(self, proposal: Proposal, ruling: Ruling, bound: Binding) -> str:
        """Return the fingerprint of the call, or of the group of calls that an approval of it covers."""
        facts = f"{ruling.covers or proposal.fingerprint} {bound.files} {self._sandbox}"
        return hashlib.sha256(facts.encode()).hexdigest()


def _decision(question: Question, reason: str) -> PermissionDecision:
    match question.state:
        case QuestionState.PENDING | QuestionState.APPROVED:
            return PermissionDecision(behavior="ask", reason=reason, request_id=question.id)
        case QuestionState.USED:
            return PermissionDecision(behavior="begun")
        case _:
            return PermissionDecision(behavior="deny", reason=_REFUSED[question.state])


class RecordedPermissions:
    """Wraps `Permissions`. Questions to people are recorded elsewhere, with their answers."""

    def __init__(self, permissions: Permissions, records: RunRecords) -> None:
        self._permissions = permissions
        self._records = records

    async def decide(self, proposal: Proposal) -> PermissionDecision:
        decision = await self._permissions.decide(proposal)
        if decision.behavior != "ask":
            self._records.ruled(proposal.session_id, proposal.call.id, decision.behavior, decision.ruled_by)
        return decision

    async def answer(self, request_id: str, proposal: Proposal) -> Answer:
        return await self._permissions.answer(request_id, proposal)

    async def withdraw(self, request_id: str) -> None:
        await self._permissions.withdraw(request_id)
