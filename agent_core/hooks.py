"""Where an application may put a word into the loop: subclass, and override what is wanted (D-21)."""

import asyncio
from collections.abc import Awaitable, Sequence
from typing import Literal, TypeVar

from agent_core.cancel import CancelToken
from agent_core.messages import AgentMessage, LlmMessage, ToolCall
from agent_core.permissions import PermissionDecision
from agent_core.state import QueryState
from agent_core.tool_result import ToolResult
from agent_core.tools import ToolContext

T = TypeVar("T")


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
        """Before each call of the model. The state is a copy."""

    async def after_turn(self, state: QueryState) -> Literal["continue", "end"] | None:
        """`end` ends the run, once the calls of the answer are made. `continue` asks for one more turn where the run
        would end, once in a run (S3-23). The state is a copy."""


class HookFailed(Exception):
    """A hook raised, so nobody knows what the application wants, and the run ends (S4-05)."""

    def __init__(self, name: str, error: BaseException | None) -> None:
        reason = f"{type(error).__name__}: {error}" if error else "it was cancelled"
        super().__init__(f"the hook {name} failed: {reason}")


class HookCalls:
    """The loop's side of the hooks: asks those that are overridden, and waits no longer than until the run is stopped.

    Every method may raise HookFailed.
    """

    def __init__(self, hooks: Hooks) -> None:
        self._hooks = hooks
        kind = type(hooks)
        self._wanted = {name for name, own in vars(Hooks).items() if getattr(kind, name) is not own}

    def has(self, name: str) -> bool:
        """Whether the application has something to say there; most have not, and pay nothing."""
        return name in self._wanted

    async def history(self, messages: Sequence[AgentMessage], cancel: CancelToken) -> Sequence[AgentMessage]:
        """What the next request is built from."""
        if self.has("transform_context"):
            changed = self._hooks.transform_context(tuple(messages), cancel)
            messages = await self._ask("transform_context", changed, cancel) or ()
        if self.has("convert_to_llm"):
            converted = await self._ask("convert_to_llm", self._converted(messages), cancel)
            messages = messages if converted is None else converted
        return messages

    async def api_key(self, provider: str, cancel: CancelToken) -> str | None:
        if not self.has("get_api_key"):
            return None
        return await self._ask("get_api_key", self._hooks.get_api_key(provider), cancel)

    async def before_call(self, call: ToolCall, context: ToolContext, cancel: CancelToken) -> PermissionDecision | None:
        """A decision that stands, or None."""
        if not self.has("before_tool_call"):
            return None
        decision = await self._ask("before_tool_call", self._hooks.before_tool_call(call, context), cancel)
        return None if decision is None or decision.behavior == "allow" else decision

    async def after_call(self, call: ToolCall, result: ToolResult, cancel: CancelToken) -> ToolResult:
        if not self.has("after_tool_call"):
            return result
        return await self._ask("after_tool_call", self._hooks.after_tool_call(call, result), cancel) or result

    async def before_turn(self, state: QueryState, cancel: CancelToken) -> None:
        if self.has("before_turn"):
            await self._ask("before_turn", self._hooks.before_turn(_copy(state)), cancel)

    async def after_turn(self, state: QueryState, cancel: CancelToken) -> Literal["continue", "end"] | None:
        if not self.has("after_turn"):
            return None
        return await self._ask("after_turn", self._hooks.after_turn(_copy(state)), cancel)

    async def _converted(self, messages: Sequence[AgentMessage]) -> Sequence[LlmMessage] | None:
        return self._hooks.convert_to_llm(messages)

    async def _ask(self, name: str, answer: Awaitable[T], cancel: CancelToken) -> T | None:
        """None where the run is stopped meanwhile; what a hook then does not say is not needed."""
        asked = asyncio.ensure_future(answer)
        forget = cancel.on_cancel(asked.cancel)
        try:
            await asyncio.wait([asked])
        finally:
            forget()
            asked.cancel()
            await asyncio.wait([asked])
        if asked.cancelled():
            if cancel.cancelled:
                return None
            raise HookFailed(name, None)
        if error := asked.exception():
            raise HookFailed(name, error) from error
        return asked.result()


def _copy(state: QueryState) -> QueryState:
    return state.model_copy(update={"messages": list(state.messages)})
