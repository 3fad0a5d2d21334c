"""Resumption of an interrupted conversation: answers open tool calls and decides how the run continues."""

from collections.abc import AsyncGenerator
from contextlib import aclosing

from agent_core.events import AgentEvent, TurnEnd, TurnStart
from agent_core.loop.decision import at_limit
from agent_core.loop.engine import End, Engine, Next, Run
from agent_core.loop.recovery import go_on
from agent_core.loop.state import last_said, unanswered_calls
from agent_core.messages import AssistantMessage, StopReason
from agent_core.reasons import TerminalReason, TransitionReason


class OpenCalls:
    """Answers the calls that a run left open; afterwards `end` is set if that ends the run."""

    def __init__(self, engine: Engine, run: Run) -> None:
        self._engine = engine
        self._run = run
        self.end: End | None = None

    async def events(self) -> AsyncGenerator[AgentEvent, None]:
        found = unanswered_calls(self._run.state)
        if found is None:
            return
        answer, calls = found
        batch = self._engine.batch(self._run, answer, calls, resumed=True)
        yield TurnStart(turn=self._run.state.turn_count, reason=TransitionReason.RESUME)
        async with aclosing(batch.run()) as events:
            async for event in events:
                yield event
        yield TurnEnd(turn=self._run.state.turn_count, message=answer, tool_results=tuple(batch.results))
        if batch.error:
            self.end = End.broken(batch.error)
        elif batch.ends_run is TerminalReason.PERMISSION or len(calls) == len(answer.tool_calls):
            # It is unknown whether the calls answered earlier asked for the end of the run.
            self.end = End(batch.ends_run) if batch.ends_run else None


def first_step(engine: Engine, run: Run, reason: TransitionReason) -> Next | End:
    """Return the first turn, or the end of the run if there is nothing new since a finished answer.

    A cut-off answer is continued if the user has said nothing since.
    """
    last = last_said(run.state)
    if run.pending or not isinstance(last, AssistantMessage):
        return _unless_at_limit(engine, run, reason)
    if last.stop_reason is StopReason.ABORTED:
        return End(TerminalReason.ABORTED)
    if last.tool_calls or last.stop_reason is StopReason.ERROR:
        return _unless_at_limit(engine, run, reason)
    note = go_on(engine, run)
    if note is None or run.inputs.scope.queues.has_steering:
        return End(TerminalReason.COMPLETED)
    run.pending.append(note)
    return Next(TransitionReason.MAX_OUTPUT_RECOVERY)


def _unless_at_limit(engine: Engine, run: Run, reason: TransitionReason) -> Next | End:
    """Return the turn unless a resumed run is at a limit already: the program may have stopped just before its end."""
    resumed = reason is TransitionReason.RESUME
    return (at_limit(engine, run) if resumed else None) or Next(reason)
