"""Resumption of an interrupted conversation: answers open tool calls and decides how the run continues."""

from agent_core.events import TurnEnd, TurnStart
from agent_core.loop.decision import at_limit
from agent_core.loop.engine import End, Engine, Next, Run
from agent_core.loop.recovery import go_on
from agent_core.loop.state import last_said, unanswered_calls
from agent_core.messages import AssistantMessage, StopReason
from agent_core.reasons import TerminalReason, TransitionReason


async def answer_open_calls(engine: Engine, run: Run) -> End | None:
    """Answer the calls that an interrupted run left open.

    Returns:
        The end of the run if their results end it, else None.
    """
    found = unanswered_calls(run.state)
    if found is None:
        return None
    answer, calls = found
    await run.emit(TurnStart(turn=run.state.turn_count, reason=TransitionReason.RESUME))
    outcome = await engine.run_calls(run, answer, calls, resumed=True)
    await run.emit(TurnEnd(turn=run.state.turn_count, message=answer, tool_results=outcome.results))
    if outcome.error:
        return End.broken(outcome.error)
    if outcome.ends_run is TerminalReason.PERMISSION or len(calls) == len(answer.tool_calls):
        # Otherwise it is unknown whether the calls answered earlier asked for the end of the run.
        return End(outcome.ends_run) if outcome.ends_run else None
    return None


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
