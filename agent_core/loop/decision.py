"""Decides how a run continues: after a turn, after a failure, and after an interruption."""

from collections.abc import Sequence

from agent_core.events import CompactionReason, TurnEnd, TurnStart
from agent_core.loop.answer import GOES_ON, is_paused
from agent_core.loop.calls import BatchOutcome
from agent_core.loop.engine import End, Engine, Next, Run
from agent_core.loop.hooks import HookFailed
from agent_core.loop.limits import NO_BUDGET, LoopLimits
from agent_core.loop.state import last_said, unanswered_calls
from agent_core.messages import AgentMessage, AssistantMessage, JsonObject, NotificationMessage, StopReason, UserMessage
from agent_core.models.llm import FailureKind, LlmFailure
from agent_core.reasons import TerminalReason, TransitionReason

NOT_DONE = "stop_hook"
"""Kind of the note to the model when the application requests one more turn without a message of its own."""
NOT_DONE_TEXT = "That was not all yet. Look at what was asked, and go on with what is missing."
GO_ON = (
    "Your answer was cut off at its length limit. Go on with the very next character, as if you had not stopped: "
    "repeat nothing, explain nothing."
)


async def decide(engine: Engine, run: Run, message: AssistantMessage, calls: BatchOutcome) -> Next | End:
    """Decide what follows the answer `message` after its `calls`.

    A stop takes precedence, then errors, then the application's hook, then messages of users, then the model.
    """
    closing = run.state.transition_reason is TransitionReason.LIMIT
    wanted, error = None, calls.error
    if not (closing or error or run.cancel.cancelled):
        try:
            wanted = await engine.hooks.after_turn(run.state, run.cancel)
        except HookFailed as failed:
            error = str(failed)
    if run.cancel.cancelled:
        return End(TerminalReason.ABORTED)
    if error:
        return End.broken(error)
    if closing or wanted == "end":
        return End(calls.ends_run or TerminalReason.COMPLETED)
    if message.tool_calls:
        return _after_calls(engine, run, calls)
    return _after_answer(engine, run, message, is_content=wanted != "continue")


def _after_calls(engine: Engine, run: Run, calls: BatchOutcome) -> Next | End:
    if calls.ends_run is not None:
        return End(calls.ends_run)
    return at_limit(engine, run) or _steering(run) or Next(TransitionReason.TOOL_ROUND)


def _after_answer(engine: Engine, run: Run, message: AssistantMessage, *, is_content: bool) -> Next | End:
    """Decide after an answer without calls; `is_content` is False if the application requests one more turn."""
    done = End(TerminalReason.COMPLETED)
    if at_limit(engine, run):
        # The answer came in time: the run is completed, and queued messages stay in the queue.
        return done
    on = _steering(run) or _rest_of_answer(engine, run, message.stop_reason) or _follow_up(run)
    return on or (None if is_content else _one_more(engine, run)) or done


def at_limit(engine: Engine, run: Run) -> End | None:
    """Return how the run ends if it has reached a limit, else None."""
    state, limits, budget = run.state, engine.limits, run.budget
    seconds = engine.runtime.clock.monotonic() - run.started
    if state.turn_count >= limits.max_turns:
        return End(TerminalReason.MAX_TURNS)
    if state.tool_call_count >= limits.max_tool_calls:
        return End(TerminalReason.MAX_TOOL_CALLS)
    if seconds - run.waited >= limits.max_seconds:
        return End(TerminalReason.MAX_SECONDS)
    if budget is NO_BUDGET:
        return None
    spent = (
        (budget.max_tokens, state.usage.total + run.unreported),
        (budget.max_cost_usd, state.usage.cost_usd),
        (budget.max_seconds, seconds),
    )
    if any(most is not None and used >= most for most, used in spent):
        return End(TerminalReason.BUDGET)
    return None


def limit_notice(reason: TerminalReason, limits: LoopLimits) -> tuple[str, JsonObject]:
    """Return the notice of a reached limit as English text, and the limit as data for a translation."""
    match reason:
        case TerminalReason.MAX_TURNS:
            return f"[Reached the limit of {limits.max_turns} model calls]", {"limit": limits.max_turns}
        case TerminalReason.MAX_TOOL_CALLS:
            return f"[Reached the limit of {limits.max_tool_calls} tool calls]", {"limit": limits.max_tool_calls}
        case TerminalReason.MAX_SECONDS:
            minutes = limits.max_seconds / 60
            return f"[Reached the limit of {minutes:g} minutes]", {"limit": minutes}
        case TerminalReason.REPEATED_CALLS:
            return "[Stopped: the same tool call had the same result again and again]", {}
        case _:
            return "[Reached the budget of this run]", {}


def _steering(run: Run) -> Next | None:
    run.pending.extend(run.scope.queues.drain_steering())
    return Next(TransitionReason.STEERING) if run.pending else None


def _follow_up(run: Run) -> Next | None:
    run.pending.extend(run.scope.queues.drain_follow_up())
    return Next(TransitionReason.FOLLOW_UP) if run.pending else None


def _rest_of_answer(engine: Engine, run: Run, stopped: StopReason) -> Next | None:
    if stopped is StopReason.PAUSE:
        return Next(TransitionReason.PAUSE)
    note = go_on(engine, run) if stopped is StopReason.LENGTH else None
    if note is None:
        return None
    run.pending.append(note)
    return Next(TransitionReason.MAX_OUTPUT_RECOVERY)


def _one_more(engine: Engine, run: Run) -> Next | None:
    """Return one more turn, once per run; otherwise a hook could keep the run going for ever."""
    if run.state.stop_hook_active:
        return None
    run.pending.append(engine.caller.note(run.state.session_id, NOT_DONE, NOT_DONE_TEXT))
    return Next(TransitionReason.STOP_HOOK)


async def compact_if_due(engine: Engine, run: Run, reason: CompactionReason) -> None:
    """Compact before a model call, if due.

    If the conversation is still too long afterwards, the run does not compact again: that would cost as much and change
    as little.
    """
    compactor = engine.compactor
    if compactor is None or not run.compacts or not compactor.is_due(run.state, engine.caller):
        return
    is_shorter = await _shorten(engine, run, reason)
    run.compacts = is_shorter and not compactor.is_due(run.state, engine.caller)


async def after_overflow(engine: Engine, run: Run, failure: LlmFailure) -> Next | End:
    """Handle a request that was larger than the window: compact and ask again, once per run."""
    if engine.compactor is None or run.state.has_attempted_reactive_compact:
        return End.failed(failure)
    is_shorter = await _shorten(engine, run, "overflow")
    if run.cancel.cancelled:
        return End(TerminalReason.ABORTED)
    if is_shorter and run.state.turn_count < engine.limits.max_turns:
        return Next(TransitionReason.REACTIVE_COMPACT)
    return End.failed(failure)


async def _shorten(engine: Engine, run: Run, reason: CompactionReason) -> bool:
    """Compact the conversation, and return True if it got shorter."""
    if engine.compactor is None:
        return False
    end = await engine.compactor.compact(run.state, reason, engine.caller, run.emit, run.cancel)
    return end.tokens_after < end.tokens_before


def go_on(engine: Engine, run: Run) -> NotificationMessage | None:
    """Return the note that asks for the rest of a cut-off answer, or None if there is no need or no attempt left.

    Earlier notes are counted in the messages too, because a resumed run starts with a new state.
    """
    last = _last_answer(run.state.messages)
    if last is None or last.stop_reason is not StopReason.LENGTH or last.tool_calls:
        return None
    had = max(run.state.max_output_recovery_count, _asked_since_the_person_spoke(run.state.messages))
    if had >= engine.limits.max_output_recoveries:
        return None
    return engine.caller.note(run.state.session_id, GOES_ON, GO_ON)


def is_overflow(failure: LlmFailure | None) -> bool:
    return failure is not None and failure.kind is FailureKind.OVERFLOW


def _last_answer(messages: Sequence[AgentMessage]) -> AssistantMessage | None:
    last = next((message for message in reversed(messages) if not _is_aside(message)), None)
    return last if isinstance(last, AssistantMessage) else None


def _is_aside(message: AgentMessage) -> bool:
    return message.role in ("notification", "custom")


def _asked_since_the_person_spoke(messages: Sequence[AgentMessage]) -> int:
    count = 0
    for message in reversed(messages):
        if isinstance(message, UserMessage):
            break
        count += isinstance(message, NotificationMessage) and message.kind == GOES_ON
    return count


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
    # A resumed run may be at a limit already: the program may have stopped just before its end.
    limit = at_limit(engine, run) if reason is TransitionReason.RESUME else None
    last = None if run.pending else last_said(run.state)
    if not isinstance(last, AssistantMessage):
        return limit or Next(reason)
    if last.stop_reason is StopReason.ABORTED:
        return End(TerminalReason.ABORTED)
    if last.tool_calls or last.stop_reason is StopReason.ERROR:
        return limit or Next(reason)
    if is_paused(last):
        return limit or Next(TransitionReason.PAUSE)
    note = go_on(engine, run)
    if note is None or run.scope.queues.has_steering:
        return End(TerminalReason.COMPLETED)
    run.pending.append(note)
    return Next(TransitionReason.MAX_OUTPUT_RECOVERY)
