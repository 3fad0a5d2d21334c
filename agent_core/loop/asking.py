"""The first half of a turn: adds pending messages, compacts the conversation if needed, and builds the request."""

from collections.abc import AsyncGenerator
from contextlib import aclosing

from agent_core.events import AgentEvent, MessageEnd, MessageStart
from agent_core.loop.engine import Engine, Run
from agent_core.loop.hooks import HookFailed
from agent_core.loop.recovery import compact_if_due
from agent_core.models.llm import LlmRequest
from agent_core.reasons import TransitionReason


class RequestPhase:
    """Builds the request of a turn. Runs once; afterwards `request` is set, or `error` says why there is none."""

    def __init__(self, engine: Engine, run: Run, reason: TransitionReason) -> None:
        self._engine = engine
        self._run = run
        self._reason = reason
        self.request: LlmRequest | None = None
        self.error = ""

    async def events(self) -> AsyncGenerator[AgentEvent, None]:
        run, resumes = self._run, self._reason is TransitionReason.RESUME
        if resumes or self._reason is TransitionReason.START:
            run.pending.extend(run.inputs.scope.queues.drain_steering())
        while run.pending:
            message = run.pending.pop(0)
            yield MessageStart(message=message)
            yield MessageEnd(message=message)
        async with aclosing(compact_if_due(self._engine, run, "resume" if resumes else "threshold")) as events:
            async for event in events:
                yield event
        try:
            self.request = await self._build()
        except HookFailed as error:
            self.error = str(error)

    async def _build(self) -> LlmRequest:
        hooks, state, cancel = self._engine.hooks, self._run.state, self._run.cancel
        await hooks.before_turn(state, cancel)
        history = await hooks.history(state.messages, cancel)
        if history is not state.messages:
            state = state.model_copy(update={"messages": list(history)})
        return self._engine.context.build_request(state, with_tools=self._reason is not TransitionReason.LIMIT)
