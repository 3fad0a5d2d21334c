"""Decides what follows a turn with an answer: another turn, and for which reason, or the end of the run."""

from agent_core.loop.calls import BatchOutcome
from agent_core.loop.engine import End, Engine, Next, Run
from agent_core.loop.hooks import HookFailed
from agent_core.loop.limits import LoopLimits
from agent_core.loop.recovery import go_on
from agent_core.messages import AssistantMessage, JsonObject
from agent_core.reasons import TerminalReason, TransitionReason

NOT_DONE = "stop_hook"
"""Kind of the note to the model when the application requests one more turn without a message of its own."""
NOT_DONE_TEXT = "That was not all yet. Look at what was asked, and go on with what is missing."


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
    return _after_answer(engine, run, is_content=wanted != "continue")


def _after_calls(engine: Engine, run: Run, calls: BatchOutcome) -> Next | End:
    if calls.ends_run is not None:
        return End(calls.ends_run)
    return at_limit(engine, run) or _steering(run) or Next(TransitionReason.TOOL_ROUND)


def _after_answer(engine: Engine, run: Run, *, is_content: bool) -> Next | End:
    """Decide after an answer without calls; `is_content` is False if the application requests one more turn."""
    done = End(TerminalReason.COMPLETED)
    if at_limit(engine, run):
        # The answer came in time: the run is completed, and queued messages stay in the queue.
        return done
    on = _steering(run) or _rest_of_answer(engine, run) or _follow_up(run)
    return on or (None if is_content else _one_more(engine, run)) or done


def at_limit(engine: Engine, run: Run) -> End | None:
    """Return how the run ends if it has reached a limit, else None."""
    state, limits, budget = run.state, engine.limits, run.inputs.budget
    seconds = engine.runner.clock.monotonic() - run.started
    if state.turn_count >= limits.max_turns:
        return End(TerminalReason.MAX_TURNS)
    if state.tool_call_count >= limits.max_tool_calls:
        return End(TerminalReason.MAX_TOOL_CALLS)
    if seconds - run.waited >= limits.max_seconds:
        return End(TerminalReason.MAX_SECONDS)
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
    run.pending.extend(run.inputs.scope.queues.drain_steering())
    return Next(TransitionReason.STEERING) if run.pending else None


def _follow_up(run: Run) -> Next | None:
    run.pending.extend(run.inputs.scope.queues.drain_follow_up())
    return Next(TransitionReason.FOLLOW_UP) if run.pending else None


def _rest_of_answer(engine: Engine, run: Run) -> Next | None:
    note = go_on(engine, run)
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
