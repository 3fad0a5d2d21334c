"""Where an application may put a word into the loop: subclass, and override what is wanted (D-21)."""

from collections.abc import Sequence
from typing import Literal

from agent_core.cancel import CancelToken
from agent_core.messages import AgentMessage, LlmMessage, ToolCall
from agent_core.permissions import PermissionDecision
from agent_core.state import QueryState
from agent_core.tool_result import ToolResult
from agent_core.tools import ToolContext


class Hooks:
    """Every method does nothing. One that raises ends the run with an error and balanced events (S4-05)."""

    async def transform_context(self, messages: Sequence[AgentMessage], cancel: CancelToken) -> Sequence[AgentMessage]:
        """What of the history the next request is built from; the history itself is not changed (S4-04)."""
        return messages

    def convert_to_llm(self, messages: Sequence[AgentMessage]) -> Sequence[LlmMessage] | None:
        """The history as a model may see it, custom messages too (S4-03); None: as the context does it."""

    async def get_api_key(self, provider: str) -> str | None:
        """The key for the next call, for keys that expire (S4-06); None: the one that the client has."""

    async def before_tool_call(self, call: ToolCall, context: ToolContext) -> PermissionDecision | None:
        """Before permission is looked up (S3-31). A decision other than allow stands; None lets the call pass."""

    async def after_tool_call(self, call: ToolCall, result: ToolResult) -> ToolResult | None:
        """Another result in the place of this one (U-04); None keeps it. What it raises is the call's error."""

    async def before_turn(self, state: QueryState) -> None:
        """Before each call of the model."""

    async def after_turn(self, state: QueryState) -> Literal["continue", "end"] | None:
        """`end` ends the run. `continue` asks for one more turn where it would end, once in a run (S3-23)."""
