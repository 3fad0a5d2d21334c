"""The tools that a run has called so far."""

from agent_core.events import (
    AgentEvent,
    PermissionRequest,
    ToolExecutionEnd,
    ToolExecutionStart,
    ToolExecutionUpdate,
)


class CalledTools:
    """Follows the events of a run. A call that waits for approval has not been made."""

    def __init__(self) -> None:
        self._made: set[str] = set()
        self._open: dict[str, str] = {}
        """Tools of calls without a result, by the call's id."""
        self._asked: set[str] = set()

    @property
    def names(self) -> frozenset[str]:
        """The tools that were called, or are just being called."""
        return frozenset(self._made | {name for call, name in self._open.items() if call not in self._asked})

    def follow(self, event: AgentEvent) -> None:
        match event:
            case ToolExecutionStart():
                self._open[event.tool_call_id] = event.tool_name
            case PermissionRequest():
                self._asked.add(event.tool_call_id)
            case ToolExecutionUpdate():
                self._asked.discard(event.tool_call_id)
            case ToolExecutionEnd():
                self._open.pop(event.tool_call_id, None)
                self._asked.discard(event.tool_call_id)
                if event.attempts:
                    self._made.add(event.tool_name)
            case _:
                pass
