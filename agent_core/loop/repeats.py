"""Detection of a model that loops: the same tool call with the same result, again and again.

A repeated call is legitimate after waiting or changing something. Such a call between two others resets their count,
but only if it is new in the run; otherwise a loop of two alternating calls would never be found.
"""

import hashlib
import json
from collections.abc import Iterable

from msgspec import Struct, field

from agent_core.messages import AgentMessage, AssistantMessage, TextContent, ToolCall, ToolResultMessage
from agent_core.tool_result import ToolResult
from agent_core.tools.registry import ToolRegistry, UnknownTool
from agent_core.tools.tool import Tool

NAMED_AT = 3
"""The model is told from this repetition on."""
MOST = 6
"""The run ends at this repetition."""

_CHANGES = frozenset({"write", "exec", "admin"})
_MARK = "\n[This call has now given this very result "
_NOTE = _MARK + (
    "{times} times. Do something else, or answer with what you have; at {most} times you are stopped. If you wait for "
    "something, let time pass between two looks.]"
)


class Repeats(Struct):
    """The calls of one run, counted by call and result."""

    are_too_many: bool = False
    _had: dict[str, tuple[int, int]] = field(default_factory=dict)
    """For each call, its repetitions in a row and the number of reasons to repeat at that time."""
    _reasons: int = 0

    def add(self, call: ToolCall, result: ToolResult, tool: Tool | None = None) -> int:
        """Count a call and return how often it has had this result since there was a reason to repeat it.

        `result` is the result before it is shortened; `tool` is the tool that ran, if any.
        """
        text = json.dumps([call.name, call.arguments, _shown(result)], sort_keys=True)
        key = hashlib.sha256(text.encode()).hexdigest()
        if key not in self._had and tool is not None and _is_reason(tool, result):
            self._reasons += 1
        times, reasons = self._had.get(key, (0, 0))
        times = times + 1 if reasons == self._reasons else 1
        self._had[key] = times, self._reasons
        self.are_too_many |= times >= MOST
        return times

    def recall(self, messages: Iterable[AgentMessage], tools: ToolRegistry) -> None:
        """Count the calls of the run from before the program stopped."""
        calls: dict[str, ToolCall] = {}
        for message in messages:
            if isinstance(message, AssistantMessage):
                calls |= {call.id: call for call in message.tool_calls}
            elif isinstance(message, ToolResultMessage) and message.tool_call_id in calls:
                content = tuple(part for part in message.content if not _is_note(part))
                result = ToolResult(content=content, origin=message.origin, is_error=message.is_error)
                self.add(calls[message.tool_call_id], result, _tool(tools, message.tool_name))


def named(result: ToolResult, times: int) -> ToolResult:
    """Return the result with a note to the model if it was repeated too often."""
    note = note_on(times)
    return result.model_copy(update={"content": (*result.content, TextContent(text=note))}) if note else result


def note_on(times: int) -> str:
    """Return the note to the model on a result that it has had so often; empty for the first ones."""
    return _NOTE.format(times=times, most=MOST) if times >= NAMED_AT else ""


def _tool(tools: ToolRegistry, name: str) -> Tool | None:
    try:
        return tools.get(name)
    except UnknownTool:
        return None


def _is_reason(tool: Tool, result: ToolResult) -> bool:
    return not result.is_error and (tool.waits or tool.acts in _CHANGES)


def _is_note(part: object) -> bool:
    return isinstance(part, TextContent) and part.text.startswith(_MARK)


def _shown(result: ToolResult) -> list[str]:
    return [part.text if isinstance(part, TextContent) else part.data for part in result.content]
