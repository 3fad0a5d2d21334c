"""One turn: new messages, one answer of the model, its tool calls, and the decision what follows."""

from collections.abc import AsyncGenerator
from contextlib import aclosing

from agent_core.events import AgentEvent, MessageEnd, MessageStart, TurnEnd, TurnStart
from agent_core.loop.asking import RequestPhase
from agent_core.loop.decision import decide
from agent_core.loop.engine import End, Engine, Next, Run
from agent_core.loop.recovery import Overflow, is_overflow
from agent_core.messages import AssistantMessage, StopReason
from agent_core.models.llm import LlmRequest
from agent_core.models.tokens import estimate, message_tokens
from agent_core.reasons import TerminalReason, TransitionReason


class Turn:
    """One turn. Runs once; afterwards `step` says what follows."""

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
        """End the turn without a request; its events stay balanced."""
        message = self._engine.caller.failed(self._run.state.session_id, error)
        yield MessageStart(message=message)
        yield MessageEnd(message=message)
        yield TurnEnd(turn=self._run.state.turn_count, message=message)
        self.step = End.broken(error)

    async def _asked(self, request: LlmRequest) -> AsyncGenerator[AgentEvent, None]:
        run = self._run
        can_shorten = self._engine.compactor is not None and run.compacts
        may_shorten = can_shorten and not run.state.has_attempted_reactive_compact
        answer = self._engine.caller.call(
            request,
            run.state.session_id,
            run.call_ids,
            run.cancel,
            sources=self._engine.runner.tools.sources(),
            doubts_usage=may_shorten,
        )
        async with aclosing(answer.events()) as events:
            async for event in events:
                yield event
        message = answer.message
        if run.inputs.budget.max_tokens is not None:
            run.unreported += unreported_tokens(request, message)
        if answer.failure is None and message.stop_reason is not StopReason.ABORTED:
            async with aclosing(self._calls(message)) as events:
                async for event in events:
                    yield event
            return
        yield TurnEnd(turn=run.state.turn_count, message=message)
        if answer.failure is None:
            self.step = End(TerminalReason.ABORTED)
            return
        self.step = End.failed(answer.failure)
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


def unreported_tokens(request: LlmRequest, message: AssistantMessage) -> int:
    """Return an estimate of the tokens that the server did not report: some report none, some only the output."""
    usage = message.usage
    asked = 0 if usage.input or usage.cache_read or usage.cache_write else request_tokens(request)
    return asked + (0 if usage.output else message_tokens(message))


def request_tokens(request: LlmRequest) -> int:
    """Return the estimated tokens of a request."""
    tools = "".join(tool.model_dump_json() for tool in request.tools)
    return estimate(request.system) + estimate(tools) + sum(map(message_tokens, request.messages))
