"""One turn: what the person said since, one answer of the model, its tool calls, and what follows (S3-09)."""

from collections.abc import AsyncGenerator
from contextlib import aclosing

from agent_core.events import AgentEvent, MessageEnd, MessageStart, TurnEnd, TurnStart
from agent_core.llm import LlmRequest
from agent_core.loop.asking import RequestPhase
from agent_core.loop.decision import decide
from agent_core.loop.engine import End, Engine, Next, Run
from agent_core.loop.recovery import Overflow, is_overflow
from agent_core.messages import AssistantMessage, StopReason
from agent_core.reasons import TerminalReason, TransitionReason


class Turn:
    """Runs once; afterwards `step` says what follows."""

    def __init__(self, engine: Engine, run: Run, reason: TransitionReason) -> None:
        self._engine = engine
        self._run = run
        self._reason = reason
        self.step: Next | End = End(TerminalReason.COMPLETED)

    async def events(self) -> AsyncGenerator[AgentEvent, None]:
        yield TurnStart(turn=self._run.state.turn_count + 1, reason=self._reason)
        phase = RequestPhase(self._engine, self._run, self._reason)
        async with aclosing(phase.events()) as events:
            async for event in events:
                yield event
        rest = self._broken(phase.error) if phase.request is None else self._asked(phase.request)
        async with aclosing(rest) as events:
            async for event in events:
                yield event

    async def _broken(self, error: str) -> AsyncGenerator[AgentEvent, None]:
        """There is no request: the turn is balanced all the same (S4-05)."""
        message = self._engine.caller.failed(self._run.state.session_id, error)
        yield MessageStart(message=message)
        yield MessageEnd(message=message)
        yield TurnEnd(turn=self._run.state.turn_count, message=message)
        self.step = End.broken(error)

    async def _asked(self, request: LlmRequest) -> AsyncGenerator[AgentEvent, None]:
        run = self._run
        answer = self._engine.caller.call(request, run.state.session_id, run.call_ids, run.cancel)
        async with aclosing(answer.events()) as events:
            async for event in events:
                yield event
        message = answer.message
        if answer.failure is None and message.stop_reason is not StopReason.ABORTED:
            async with aclosing(self._calls(message)) as events:
                async for event in events:
                    yield event
            return
        yield TurnEnd(turn=run.state.turn_count, message=message)
        if answer.failure is None:
            self.step = End(TerminalReason.ABORTED)
            return
        self.step = End(TerminalReason.ERROR, answer.failure.message, answer.failure.kind)
        if is_overflow(answer.failure) and self._reason is not TransitionReason.LIMIT:
            overflow = Overflow(self._engine, run, answer.failure)
            async with aclosing(overflow.events()) as events:
                async for event in events:
                    yield event
            self.step = overflow.step

    async def _calls(self, message: AssistantMessage) -> AsyncGenerator[AgentEvent, None]:
        run = self._run
        closing = self._reason is TransitionReason.LIMIT
        batch = self._engine.batch(run, message, message.tool_calls, closing=closing)
        async with aclosing(batch.run()) as events:
            async for event in events:
                yield event
        yield TurnEnd(turn=run.state.turn_count, message=message, tool_results=tuple(batch.results))
        self.step = await decide(self._engine, run, message, batch)
