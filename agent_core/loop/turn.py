"""One turn: new messages, one answer of the model, its tool calls, and the decision what follows."""

from agent_core.events import MessageEnd, MessageStart, TurnEnd, TurnStart
from agent_core.loop.calls import BatchOutcome
from agent_core.loop.decision import after_overflow, compact_if_due, decide, is_overflow
from agent_core.loop.engine import CallIds, End, Engine, Next, Run
from agent_core.loop.hooks import HookFailed
from agent_core.loop.model_call import ModelCall, ModelRequest
from agent_core.loop.refused_tools import refused_tools
from agent_core.messages import AssistantMessage, StopReason
from agent_core.models.llm import LlmFailure, LlmRequest
from agent_core.models.tokens import estimate, message_tokens
from agent_core.reasons import TerminalReason, TransitionReason

NO_CALLS = BatchOutcome((), ())


async def run_turn(engine: Engine, run: Run, reason: TransitionReason) -> Next | End:
    """Run one turn.

    Returns:
        The next turn, or the end of the run.
    """
    await run.emit(TurnStart(turn=run.state.turn_count + 1, reason=reason))
    await _add_pending(run, reason)
    await compact_if_due(engine, run, "resume" if reason is TransitionReason.RESUME else "threshold")
    try:
        state = await engine.hooks.before_request(run.state, run.cancel) if engine.hooks.see_requests else run.state
    except HookFailed as error:
        return await _end_without_request(engine, run, str(error))
    request = engine.context.build_request(state, with_tools=reason is not TransitionReason.LIMIT)
    run.call = ModelCall(engine.caller, _asked(engine, run, request), run.emit)
    try:
        message, failure = await run.call.answer()
    finally:
        run.call = None
    if run.budget.max_tokens is not None:
        run.unreported += unreported_tokens(request, message)
    if failure is None and message.stop_reason is not StopReason.ABORTED:
        return await _run_calls(engine, run, message, reason)
    await run.emit(TurnEnd(turn=run.state.turn_count, message=message))
    if failure is None:
        return End(TerminalReason.ABORTED)
    return await _recover(engine, run, request, failure, reason)


async def _add_pending(run: Run, reason: TransitionReason) -> None:
    """Add the messages that wait for this turn to the conversation."""
    if reason in (TransitionReason.START, TransitionReason.RESUME):
        run.pending.extend(run.scope.queues.drain_steering())
    while run.pending:
        message = run.pending.pop(0)
        await run.emit(MessageStart(message=message))
        await run.emit(MessageEnd(message=message))


async def _end_without_request(engine: Engine, run: Run, error: str) -> End:
    """End the turn, with a failed answer so that its events stay balanced."""
    message = engine.caller.failed(run.state.session_id, error)
    await run.emit(MessageStart(message=message))
    await run.emit(MessageEnd(message=message))
    await run.emit(TurnEnd(turn=run.state.turn_count, message=message))
    return End.broken(error)


def _asked(engine: Engine, run: Run, request: LlmRequest) -> ModelRequest:
    can_shorten = engine.compactor is not None and run.compacts
    return ModelRequest(
        request,
        run.state.session_id,
        run.cancel,
        engine.setup.registry.origin(),
        used_ids=CallIds(run),
        doubts_usage=can_shorten and not run.state.has_attempted_reactive_compact,
    )


async def _recover(
    engine: Engine, run: Run, request: LlmRequest, failure: LlmFailure, reason: TransitionReason
) -> Next | End:
    """Go on after a failure of the model where something else may help."""
    if _leave_out_refused(engine, request, failure) and run.state.turn_count < engine.limits.max_turns:
        return Next(TransitionReason.TOOL_REFUSED)
    if is_overflow(failure) and reason is not TransitionReason.LIMIT:
        return await after_overflow(engine, run, failure)
    return End.failed(failure)


def _leave_out_refused(engine: Engine, request: LlmRequest, failure: LlmFailure) -> bool:
    """Leave out the tools for which the server refused the request; True if there were any."""
    left_out = [engine.setup.registry.leave_out(name) for name in refused_tools(failure, request.tools)]
    return any(left_out)


async def _run_calls(engine: Engine, run: Run, message: AssistantMessage, reason: TransitionReason) -> Next | End:
    outcome = NO_CALLS
    if message.tool_calls:
        closing = reason is TransitionReason.LIMIT
        outcome = await engine.run_calls(run, message, message.tool_calls, closing=closing)
    await run.emit(TurnEnd(turn=run.state.turn_count, message=message, tool_results=outcome.results))
    return await decide(engine, run, message, outcome)


def unreported_tokens(request: LlmRequest, message: AssistantMessage) -> int:
    """Return an estimate of the tokens that the server did not report: some report none, some only the output."""
    usage = message.usage
    asked = 0 if usage.input or usage.cache_read or usage.cache_write else request_tokens(request)
    return asked + (0 if usage.output else message_tokens(message))


def request_tokens(request: LlmRequest) -> int:
    """Return the estimated tokens of a request."""
    tools = "".join(tool.model_dump_json() for tool in request.tools)
    return estimate(request.system) + estimate(tools) + sum(map(message_tokens, request.messages))
