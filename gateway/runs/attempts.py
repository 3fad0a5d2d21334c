"""Detects runs that crash the program repeatedly: three times in the same step, with no progress between.

A step is a tool call, identified by tool and arguments, or a model request, identified by what precedes it. A tool
result or a new answer begins another step; results that recovery wrote in place of real ones do not. Once a run
waits for room in a budget, no crash before its next request counts.
"""

import hashlib
import json
from collections.abc import Iterable, Sequence

from agent_core.loop.state import QueryState, last_said, unanswered_calls
from agent_core.messages import (
    AgentMessage,
    AssistantMessage,
    NotificationMessage,
    StopReason,
    ToolCall,
    ToolResultMessage,
)
from agent_core.reasons import CallFailure
from gateway.store.rows import Run, Task
from gateway.store.store import Store

MOST_DEATHS = 3
"""Crashes of the program in one step after which the run is set aside."""
_NOT_REALLY_RUN = frozenset({CallFailure.UNKNOWN, CallFailure.KILLED, CallFailure.SKIPPED})


async def is_stuck(store: Store, run: Run, said: Sequence[AgentMessage]) -> bool:
    """Record that this process resumes the run, and return True if it may not because it crashed too often.

    `said` is the run's stored messages.
    """
    waiting = {question.call for question in await store.approvals.pending() if question.run == run.id}
    # A call delegated to another run is a step of that run.
    waiting |= {_call_of(task) for task in await store.tasks.unfinished() if task.asked_by == run.id}
    deaths = await store.runs.resume(run, steps_of(said, waiting))
    return deaths >= MOST_DEATHS and not is_answered(said)


def is_answered(said: Sequence[AgentMessage]) -> bool:
    """Return True if the run's final answer is complete, so that no request or call is left."""
    last = last_said(_state(said))
    unfinished = (StopReason.ERROR, StopReason.LENGTH, StopReason.PAUSE)
    return isinstance(last, AssistantMessage) and not last.tool_calls and last.stop_reason not in unfinished


def steps_of(said: Sequence[AgentMessage], waiting: Iterable[str] = ()) -> list[str]:
    """Return the names of the steps at which a run stopped.

    `waiting` holds ids of calls that had not begun, because approval was pending, or that other runs worked on.
    """
    found = unanswered_calls(_state(said))
    if found is None:
        return [f"request:{_last_progress(said)}"]
    _, calls = found
    real = [_name(call) for call in _really_run(said)]
    return [f"call:{name}:{real.count(name)}" for name in (_name(call) for call in calls if call.id not in {*waiting})]


def _call_of(task: Task) -> str:
    """Return the id of the call that began the task; see `Tasks`."""
    return task.call.removeprefix(f"{task.call.partition(':')[0]}:").partition(":")[2]


def _state(said: Sequence[AgentMessage]) -> QueryState:
    return QueryState(run_id="", session_id="", messages=list(said))


def _name(call: ToolCall) -> str:
    what = json.dumps([call.name, call.arguments], sort_keys=True, ensure_ascii=False)
    return hashlib.sha256(what.encode("utf-8", "replace")).hexdigest()[:16]


def _really_run(said: Sequence[AgentMessage]) -> list[ToolCall]:
    """Return the calls that have a result of their own."""
    calls: dict[str, ToolCall] = {}
    done = []
    for message in said:
        if isinstance(message, AssistantMessage):
            calls |= {call.id: call for call in message.tool_calls}
        elif isinstance(message, ToolResultMessage) and _is_progress(message) and message.tool_call_id in calls:
            done.append(calls[message.tool_call_id])
    return done


def _last_progress(said: Sequence[AgentMessage]) -> str:
    """Return the id of the last message that recovery did not write."""
    return next((message.id for message in reversed(said) if _is_progress(message)), "")


def _is_progress(message: AgentMessage) -> bool:
    match message:
        case AssistantMessage():
            return message.stop_reason not in (StopReason.ERROR, StopReason.ABORTED)
        case ToolResultMessage(details=dict() as details):
            return details.get("failure") not in _NOT_REALLY_RUN
        case NotificationMessage():
            return message.to_model
        case _:
            return True
