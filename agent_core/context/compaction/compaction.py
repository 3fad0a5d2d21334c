"""Compacts a conversation to fit the model's window: shortens old results, summarises old turns, unloads skills."""

from collections.abc import Sequence
from typing import Protocol

from msgspec import Struct, field
from msgspec.structs import replace

from agent_core.cancel import CancelToken
from agent_core.context.compaction.plan import (
    COMPACT_AT,
    MOST_WRONG,
    CompactionBudget,
    Plan,
    Size,
    Window,
    asked_from,
    budget_for,
    carried,
    make_plan,
)
from agent_core.context.compaction.summary import Material, Summary, extracted, read, request_for
from agent_core.context.context import ContextManager
from agent_core.events import (
    AgentEvent,
    BudgetReached,
    CompactionEnd,
    CompactionReason,
    CompactionStart,
    MessageEnd,
    MessageStart,
    RetryScheduled,
)
from agent_core.file_handles import lack
from agent_core.log_errors import log_errors
from agent_core.loop.event_stream import Emit
from agent_core.loop.model_call import ModelCall, ModelCaller, ModelRequest
from agent_core.loop.retry import LlmRetryPolicy
from agent_core.loop.state import QueryState, effective
from agent_core.messages import AgentMessage, AssistantMessage, StopReason, SummaryMessage, Usage, UserMessage
from agent_core.models.llm import FailureCause
from agent_core.origin import CLEAN, NOT_KNOWN, Origin
from agent_core.untrusted import origin_of

STOPPED = "stopped"


class KeepFacts(Protocol):
    """Stores facts worth remembering beyond the conversation."""

    async def __call__(self, lines: Sequence[str], origin: Origin) -> None:
        """Store the facts; `origin` is that of the text they were found in."""


class _Work(Struct):
    """One compaction under way."""

    state: QueryState
    caller: ModelCaller
    cancel: CancelToken
    instructions: str
    emit: Emit
    usage: Usage = field(default_factory=Usage)
    facts: tuple[str, ...] = ()
    error: str | None = None
    messages: list[AgentMessage] = field(default_factory=list)
    """The messages in effect when it began."""


class Compaction:
    """The compaction of one conversation."""

    def __init__(self, context: ContextManager, keep_facts: KeepFacts | None = None) -> None:
        self._context = context
        self._keep_facts = keep_facts
        self._tried_in = ""
        """Id of the user message since which skills have been unloaded."""

    def is_due(self, state: QueryState, caller: ModelCaller) -> bool:
        """Return True if the next request would be too large and something can be done, or if a skill needs budget."""
        if self._context.skills.tokens_wanted:
            return True
        used, window = self._context.tokens(state), _window(caller)
        if used <= COMPACT_AT * window.tokens and used + window.answer <= window.tokens:
            return False
        budget = self._budget("threshold", caller, used, self._by(used, state.messages))
        if make_plan(state.messages, self._context.sizes, budget, anyway=False) is not None:
            return True
        return bool(self._context.skills.names) and self._tried_in != _last_words(state.messages)

    async def compact(
        self,
        state: QueryState,
        reason: CompactionReason,
        caller: ModelCaller,
        emit: Emit,
        cancel: CancelToken,
        instructions: str = "",
    ) -> CompactionEnd:
        """Compact as described in `Compactor.compact`."""
        await emit(CompactionStart(reason=reason))
        work = _Work(state, caller, cancel, instructions, emit, messages=list(state.messages))
        before = self._context.tokens(state)
        by = self._by(before, state.messages)
        measured = before / max(1, self._context.guess(state.messages))  # below 1 if the server counts fewer
        budget = self._budget(reason, caller, before, by, held=_held(state.messages))
        plan = make_plan(work.messages, self._context.sizes, budget, anyway=reason == "manual")
        boundary = None if plan is None else await self._boundary(work, plan, budget, before)
        left = effective([*work.messages, boundary]) if boundary else work.messages
        if not cancel.cancelled:
            self._tried_in = _last_words(left)
            self._put_skills_away(left, budget)
            if self._keep_facts is not None and work.facts:
                with log_errors("memory"):
                    await self._keep_facts(work.facts, NOT_KNOWN if boundary is None else boundary.origin)
        after = round(self._context.guess(left) * min(measured, MOST_WRONG))
        end = CompactionEnd(
            boundary=boundary, tokens_before=before, tokens_after=after, usage=work.usage, error=work.error
        )
        await emit(end)
        return end

    async def _boundary(self, work: _Work, plan: Plan, budget: CompactionBudget, before: int) -> SummaryMessage | None:
        """Add the new summary to the conversation as a message; returns None if the run was stopped."""
        messages, cut = work.messages, plan.cut
        first = messages[0] if cut.start else None
        earlier = first if isinstance(first, SummaryMessage) else None
        text, origin = (earlier.summary, earlier.origin) if earlier else ("", CLEAN)
        if plan.summarises:
            asked = asked_from(messages, cut)
            material = Material(
                earlier=text,
                messages=messages[cut.start : cut.place],
                asked=messages[asked : cut.place],
                asked_before=asked == cut.start,
                instructions=work.instructions,
            )
            summary = await self._summary(work, material, budget)
            if summary is None:
                return None
            text, work.facts = summary.text, summary.facts
            origin = origin_of(messages[: cut.place])
        caller = work.caller
        start = cut.place if plan.summarises else cut.start
        boundary = SummaryMessage(
            id=caller.new_id(),
            created_at=caller.clock.time(),
            session_id=work.state.session_id,
            summary=text,
            first_kept_id=messages[start].id if start < len(messages) else "",
            tokens_before=before,
            short_until=carried(messages, plan),
            tools=tuple(self._context.found(messages[:start])),
            origin=origin,
        )
        await work.emit(MessageStart(message=boundary))
        await work.emit(MessageEnd(message=boundary))
        return boundary

    async def _summary(self, work: _Work, material: Material, budget: CompactionBudget) -> Summary | None:
        """Return a summary, by the model or else without one; None if the run was stopped."""
        options = work.caller.options.model_copy(
            update={"temperature": 0.3, "max_tokens": budget.summary, "thinking": "off"}
        )
        caller = replace(work.caller, options=options, retry=LlmRetryPolicy(max_retries=1))
        request = request_for(material, budget.telling, with_facts=self._keep_facts is not None)

        async def emit_retries(event: AgentEvent) -> None:
            if isinstance(event, RetryScheduled | BudgetReached):
                await work.emit(event)

        asked = ModelRequest(request, work.state.session_id, work.cancel, CLEAN)
        answer, failure = await ModelCall(caller, asked, emit_retries).answer()
        work.usage = answer.usage
        if work.cancel.cancelled:
            work.error = STOPPED
            return None
        if failure is not None and failure.cause is FailureCause.HANDLES:
            raise lack(failure.message)  # an extract would replace the conversation for good
        if failure is not None:
            work.error = failure.message
        summary = read(answer.text, material, budget.summary) if failure is None else None
        return summary or extracted(material, budget.summary)

    def _put_skills_away(self, left: Sequence[AgentMessage], budget: CompactionBudget) -> None:
        """Unload skills as the last resort, except those in use."""
        skills = self._context.skills
        if skills.tokens_wanted or self._context.guess(left) > budget.target:
            skills.unload_unused(left)
        skills.tokens_wanted = 0

    def _budget(
        self, reason: CompactionReason, caller: ModelCaller, before: int, by: float, *, held: int = 0
    ) -> CompactionBudget:
        size = Size(before, by, held, prefix=self._context.guess(()))
        return budget_for(reason, _window(caller), size, wanted=self._context.skills.tokens_wanted)

    def _by(self, used: int, messages: Sequence[AgentMessage]) -> float:
        """Return how many times larger the request is than estimated."""
        guess = self._context.guess(messages)
        return min(max(1.0, used / guess), MOST_WRONG) if guess else 1.0


def _window(caller: ModelCaller) -> Window:
    """Return the window of the model that is asked next."""
    model = caller.next_model
    return Window(model.context_window, model.answer_tokens(caller.options.max_tokens))


def _held(messages: Sequence[AgentMessage]) -> int:
    """Return the tokens that a server which truncated the last request took in; 0 if none did."""
    last = messages[-1] if messages else None
    if not isinstance(last, AssistantMessage) or last.stop_reason is not StopReason.ERROR:
        return 0
    usage = last.usage
    return usage.input + usage.cache_read + usage.cache_write


def _last_words(messages: Sequence[AgentMessage]) -> str:
    """Return the id of the last user message."""
    return next((message.id for message in reversed(messages) if isinstance(message, UserMessage)), "")
