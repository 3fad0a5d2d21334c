"""Permission check before a tool call; asks users while the run waits."""

import asyncio
from collections.abc import Awaitable, Callable

from msgspec import Struct
from msgspec.structs import replace

from agent_core.events import PermissionRequest, ToolExecutionUpdate
from agent_core.loop.event_stream import Emit
from agent_core.loop.execution import ABORTED, CallScope
from agent_core.loop.hooks import HookCalls
from agent_core.loop.permissions import Answer, PermissionDecision, Permissions, Proposal
from agent_core.origin import CLEAN
from agent_core.reasons import CallFailure
from agent_core.tool_result import ToolResult
from agent_core.tools.tool import ToolContext

SKIPPED = "Skipped due to queued user message."
"""Shown to the model; the wording is fixed by tests."""
UNKNOWN_OUTCOME = (
    "Error: the program stopped while this ran, so its outcome is unknown. "
    "Next: check what happened before you call it again."
)


class Verdict(Struct, frozen=True):
    """The outcome of a permission check."""

    refusal: ToolResult | None = None
    """The result of a call that is not run; None if it may run."""
    denied: bool = False
    """True if a user or a rule refused the call."""
    never_began: bool = False
    """True for a doubtful call that needed an approval and had none, so it has not run."""


class Gate(Struct, frozen=True):
    """Checks one tool call. A `doubtful` call may have run before the program stopped, and must not run twice."""

    permissions: Permissions
    hooks: HookCalls
    scope: CallScope
    proposal: Proposal
    doubtful: bool

    async def check(self, emit: Emit, before_asking: Callable[[], Awaitable[None]]) -> Verdict:
        """Decide whether the call may run; asks users if the permissions require it.

        Args:
            emit: Gets an event when the run starts to wait for an answer, and when it goes on.
            before_asking: Awaited before each question to users.

        Raises:
            HookFailed: The application's hook failed.
        """
        proposal, scope = self.proposal, self.scope
        if proposal.fingerprint in scope.denials.refused:
            return self._deny("the very same call was refused before", "do not repeat it; ask what they want instead")
        context = ToolContext(proposal.call.id, scope.environment, cancel=scope.cancel, messages=proposal.messages)
        decision = await self.hooks.before_call(proposal.call, context, scope.cancel)
        if scope.cancel.cancelled:
            return Verdict(ToolResult.not_run(ABORTED, CallFailure.KILLED))
        if decision is not None and decision.behavior == "deny":
            return self._deny(
                decision.reason or "it is not allowed here", "do without it, and say so", CallFailure.HOOK
            )
        decision = decision or await self.permissions.decide(proposal)
        never_began = False
        while decision.behavior == "ask":
            never_began = self.doubtful
            await before_asking()
            await emit(self._request(decision))
            answer = await self._answer(decision.request_id)
            await emit(self._goes_on())
            if answer is not Answer.CHANGED:
                return replace(self._answered(answer), never_began=never_began)
            decision = await self.permissions.decide(proposal)
        return replace(self._decided(decision), never_began=never_began)

    def _decided(self, decision: PermissionDecision) -> Verdict:
        """Return the verdict of a decision that needs no answer of a user."""
        match decision.behavior:
            case "deny":
                return self._deny(decision.reason or "it is not allowed here", "do without it, and say so")
            case "begun":
                may_have_run = self.doubtful or not self.proposal.tool.idempotent
            case _:
                may_have_run = self.doubtful
        return Verdict(ToolResult.not_run(UNKNOWN_OUTCOME, CallFailure.UNKNOWN) if may_have_run else None)

    def _request(self, decision: PermissionDecision) -> PermissionRequest:
        call = self.proposal.call
        return PermissionRequest(
            request_id=decision.request_id,
            tool_call_id=call.id,
            tool_name=call.name,
            args=call.arguments,
            reason=decision.reason,
        )

    def _goes_on(self) -> ToolExecutionUpdate:
        call = self.proposal.call
        return ToolExecutionUpdate(tool_call_id=call.id, tool_name=call.name, partial=ToolResult(origin=CLEAN))

    async def _answer(self, request_id: str) -> Answer:
        """Wait for the answer. A new message of the user, or a stop, withdraws the question."""
        answer = asyncio.create_task(self.permissions.answer(request_id, self.proposal))
        leave = [
            asyncio.create_task(self.scope.cancel.wait()),
            asyncio.create_task(self.scope.queues.wait_for_steering()),
        ]
        try:
            await asyncio.wait([answer, *leave], return_when=asyncio.FIRST_COMPLETED)
            if not answer.done():
                await self.permissions.withdraw(request_id)
            return await answer
        finally:
            for task in (answer, *leave):
                task.cancel()
            await asyncio.wait([answer, *leave])

    def _answered(self, answer: Answer) -> Verdict:
        match answer:
            case Answer.APPROVED | Answer.CHANGED:
                return Verdict()
            case Answer.DENIED:
                return self._deny("the person refused this call", "do not repeat it; ask what they want instead")
            case Answer.EXPIRED:
                return self._deny("nobody approved this call in time", "do without it, and say so")
            case Answer.WITHDRAWN if self.scope.cancel.cancelled:
                return Verdict(ToolResult.not_run(ABORTED, CallFailure.KILLED))
            case Answer.WITHDRAWN:
                return Verdict(ToolResult.not_run(SKIPPED, CallFailure.SKIPPED))

    def _deny(self, fact: str, advice: str, kind: CallFailure = CallFailure.PERMISSION) -> Verdict:
        self.scope.denials.add(self.proposal.fingerprint)
        return Verdict(ToolResult.failure(fact, advice, kind), denied=True)
