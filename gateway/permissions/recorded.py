"""Records what decided about each tool call, so that people can ask why it was allowed."""

from agent_core.loop.permissions import Answer, PermissionDecision, Permissions, Proposal
from gateway.store.run_records import RunRecords


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
