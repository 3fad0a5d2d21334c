"""The table of steps: a run's events, with ids in place of the messages, which are in the transcript.

A step records the transcript row that it follows, so that both tables together give the order of the run. `joined` puts
the messages back.
"""

import asyncio
from collections.abc import Callable, Iterable, Mapping
from itertools import chain

from msgspec import Struct
from pydantic import JsonValue
from pydantic_core import to_json

from agent_core.events import (
    AgentEnd,
    AgentEvent,
    CompactionEnd,
    MessageEnd,
    MessageStart,
    MessageUpdate,
    PermissionRequest,
    ToolExecutionEnd,
    ToolExecutionStart,
    ToolExecutionUpdate,
    TurnEnd,
    event_adapter,
)
from agent_core.loop.state import QueryState, state_adapter
from agent_core.messages import AgentMessage, JsonObject
from gateway.store.connection import Connection
from gateway.store.table import Table
from gateway.store.unreadable import stored_object

_STAMPS: dict[str, bool | dict[str, bool]] = {"seq": True, "run_id": True, "ts": True}
"""Fields that the row stores in columns."""
_LEFT_OUT: dict[type, dict[str, bool | dict[str, bool]]] = {
    TurnEnd: {"message": True, "tool_results": True},
    AgentEnd: {"messages": True},
    CompactionEnd: {"boundary": True},
    ToolExecutionStart: {"args": True, "labels": True},
    ToolExecutionEnd: {"result": {"content": True, "details": True}},
    PermissionRequest: {"args": True},
}
"""Fields that the transcript stores, or that are only shown."""

_ROW = "(?, (SELECT coalesce(max(seq), 0) FROM transcript), ?, ?, ?)"
SHORTENED = "shortened"
"""The key of a shortened step's digest."""

Resolve = Callable[[str], AgentMessage]
"""Returns the message with this id. Raises ValueError if there is none."""


class Step(Struct, frozen=True):
    """An event of a run, as JSON."""

    run: str
    at: float
    event: JsonObject
    state: JsonObject | None
    """The state of the run after it, without its messages."""


def step_of(event: AgentEvent, state: Callable[[], QueryState]) -> Step | None:
    """Return the step for an event; None for events that are only displayed or that the transcript stores."""
    if isinstance(event, MessageStart | MessageUpdate | MessageEnd | ToolExecutionUpdate):
        return None
    left_out = _LEFT_OUT.get(type(event), {})
    kept = event.model_dump(mode="json", exclude=_STAMPS | left_out, exclude_defaults=True) | {"type": event.type}
    if left_out:
        kept |= _ids(event)
    stands = None
    if isinstance(event, TurnEnd):
        stands = state_adapter.dump_python(state(), mode="json", exclude={"messages"})
    return Step(event.run_id, event.ts, kept, stands)


class Steps(Table):
    """The steps of all runs."""

    def add(self, steps: Iterable[Step]) -> "asyncio.Future[None]":
        """Record events of a run that follow its last transcript message."""
        rows = [(step.run, step.at, _written(step.event), step.state and _written(step.state)) for step in steps]
        if self._secrets.are_in("".join([f"{event}{state}" for _, _, event, state in rows])):  # hardly ever
            rows = [(run, at, self._masked(event), state and self._masked(state)) for run, at, event, state in rows]

        insert = f"INSERT INTO steps (run, after, at, event, state) VALUES {', '.join([_ROW] * len(rows))}"  # noqa: S608
        values = [*chain.from_iterable(rows)]

        def change(connection: Connection) -> None:
            connection.execute(insert, values)

        return self._writer.submit(change, later=True)

    def _masked(self, text: str) -> str:
        return _written(self._secrets.masked(stored_object(text)))


def _written(value: JsonObject) -> str:
    return to_json(value).decode()


def joined(run: str, at: float, kept: Mapping[str, JsonValue], message: Resolve) -> AgentEvent:
    """Rebuild an event with its messages. Raises ValueError if it cannot be parsed or a message is missing."""
    whole: dict[str, object] = {**kept, "run_id": run, "ts": at}
    whole.pop(SHORTENED, None)
    if kept.get("type") in ("tool_execution_start", "permission_request"):
        whole["args"] = {}
    for name in ("message", "boundary"):
        if isinstance(found := whole.get(name), str):
            whole[name] = message(found)
    for name in ("messages", "tool_results"):
        if isinstance(found := whole.get(name), list):
            whole[name] = tuple(message(str(each)) for each in found)
    return event_adapter.validate_python(whole)


def _ids(event: AgentEvent) -> JsonObject:
    match event:
        case TurnEnd():
            return {"message": event.message.id, "tool_results": [result.id for result in event.tool_results]}
        case AgentEnd():
            return {"messages": [message.id for message in event.messages]}
        case CompactionEnd():
            return {"boundary": event.boundary.id if event.boundary else None}
        case _:
            return {}
