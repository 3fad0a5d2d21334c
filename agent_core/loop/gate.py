"""Permission check before a tool call; asks users while the run waits."""

import asyncio
from collections.abc import AsyncGenerator

from agent_core.events import AgentEvent, PermissionRequest, ToolExecutionUpdate
from agent_core.loop.execution import ABORTED, CallScope
from agent_core.loop.hooks import HookCalls
from agent_core.loop.permissions import Answer, PermissionDecision, Permissions, Proposal
from agent_core.reasons import CallFailure
from agent_core.tool_result import ToolResult

SKIPPED = "Skipped due to queued user message."
"""Shown to the model; the wording is fixed by tests."""
UNKNOWN_OUTCOME = (
    "Error: the program stopped while this ran, so its outcome is unknown. "
    "Next: check what happened before you call it again."
)


class Gate:
    """The permission check of one call. Runs once; afterwards `refusal` says why the call is not run, or is None."""

    def __init__(
        self, permissions: Permissions, hooks: HookCalls, scope: CallScope, proposal: Proposal, *, doubtful: bool
    ) -> None:
        """Create a gate. `doubtful` calls may have run before the program stopped, and must not run twice."""
        self._permissions = permissions
        self._hooks = hooks
        self._scope = scope
        self._proposal = proposal
        self._doubtful = doubtful
        self.refusal: ToolResult | None = None
        self.denied = False
        """True if a user or a rule refused the call."""
        self.never_began = False
        """True for a doubtful call that needed an approval and had none, so it has not run."""

    async def events(self) -> AsyncGenerator[AgentEvent, None]:
        """Check the call; yields an event when the run starts to wait for an answer, and when it goes on. Raises
        HookFailed."""
        proposal, scope = self._proposal, self._scope
        if proposal.fingerprint in scope.denials.refused:
            self._deny("the very same call was refused before", "do not repeat it; ask what they want instead")
            return
        context = scope.context(proposal.call.id, proposal.messages)
        decision = await self._hooks.before_call(proposal.call, context, scope.cancel)
        if scope.cancel.cancelled:
            self.refusal = ToolResult.not_run(ABORTED, CallFailure.KILLED)
            return
        if decision is not None and decision.behavior == "deny":
            self._deny(decision.reason or "it is not allowed here", "do without it, and say so", CallFailure.HOOK)
            return
        decision = decision or await self._permissions.decide(proposal)
        while decision.behavior == "ask":
            self.never_began = self._doubtful
            yield self._request(decision)
            answer = await self._answer(decision.request_id)
            yield self._goes_on()
            if answer is not Answer.CHANGED:
                self._take(answer)
                return
            decision = await self._permissions.decide(proposal)
        self._settle(decision)

    def _settle(self, decision: PermissionDecision) -> None:
        """Apply a decision that needs no answer of a user."""
        match decision.behavior:
            case "begun":
                self._doubtful |= not self._proposal.tool.idempotent
                self._doubt()
            case "deny":
                self._deny(decision.reason or "it is not allowed here", "do without it, and say so")
            case _:
                self._doubt()

    def _doubt(self) -> None:
        if self._doubtful:
            self.refusal = ToolResult.not_run(UNKNOWN_OUTCOME, CallFailure.UNKNOWN)

    def _request(self, decision: PermissionDecision) -> PermissionRequest:
        call = self._proposal.call
        return PermissionRequest(
            request_id=decision.request_id,
            tool_call_id=call.id,
            tool_name=call.name,
            args=call.arguments,
            reason=decision.reason,
        )

    def _goes_on(self) -> ToolExecutionUpdate:
        call = self._proposal.call
        return ToolExecutionUpdate(tool_call_id=call.id, tool_name=call.name, partial=ToolResult())

    async def _answer(self, request_id: str) -> Answer:
        """Wait for the answer. A new message of the user, or a stop, withdraws the question."""
        answer = asyncio.create_task(self._permissions.answer(request_id, self._proposal))
        leave = [
            asyncio.create_task(self._scope.cancel.wait()),
            asyncio.create_task(self._scope.queues.wait_for_steering()),
        ]
        try:
            await asyncio.wait([answer, *leave], return_when=asyncio.FIRST_COMPLETED)
            if not answer.done():
                await self._permissions.withdraw(request_id)
            return await answer
        finally:
            for task in (answer, *leave):
                task.cancel()
            await asyncio.wait([answer, *leave])

    def _take(self, answer: Answer) -> None:
        match answer:
            case Answer.APPROVED | Answer.CHANGED:
                pass
            case Answer.DENIED:
                self._deny("the person refused this call", "do not repeat it; ask what they want instead")
            case Answer.EXPIRED:
                self._deny("nobody approved this call in time", "do without it, and say so")
            case Answer.WITHDRAWN:
                stopped = self._scope.cancel.cancelled
                self.refusal = (
                    ToolResult.not_run(ABORTED, CallFailure.KILLED)
                    if stopped
                    else ToolResult.not_run(SKIPPED, CallFailure.SKIPPED)
                )

    def _deny(self, fact: str, advice: str, kind: CallFailure = CallFailure.PERMISSION) -> None:
        self.denied = True
        self._scope.denials.add(self._proposal.fingerprint)
        self.refusal = ToolResult.failure(fact, advice, kind)
