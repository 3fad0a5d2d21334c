"""Extension points of the loop: subclass `Hooks` and override the methods you need."""

import asyncio
from collections.abc import Awaitable, Sequence
from dataclasses import replace
from typing import Literal, TypeVar

from agent_core.cancel import CancelToken
from agent_core.loop.permissions import PermissionDecision
from agent_core.loop.state import QueryState
from agent_core.messages import AgentMessage, LlmMessage, ToolCall
from agent_core.tool_result import ToolResult
from agent_core.tools.tool import ToolContext

T = TypeVar("T")


class Hooks:
    """Hooks that do nothing. A hook that raises ends the run with an error; its events stay balanced."""

    async def transform_context(self, messages: Sequence[AgentMessage], cancel: CancelToken) -> Sequence[AgentMessage]:
        """Return the messages from which the next request is built; the history itself is not changed."""
        return messages

    def convert_to_llm(self, messages: Sequence[AgentMessage]) -> Sequence[LlmMessage] | None:
        """Convert the history to what a model may see, custom messages included; None uses the default conversion."""

    async def get_api_key(self, provider: str) -> str | None:
        """Return the key for the next call, for keys that expire; None uses the client's own."""

    async def before_tool_call(self, call: ToolCall, context: ToolContext) -> PermissionDecision | None:
        """Called before permissions are checked. Any decision other than allow is final; None lets the call pass."""

    async def after_tool_call(self, call: ToolCall, result: ToolResult) -> ToolResult | None:
        """Return a result to replace this one, or None to keep it. If it raises, the call fails with that error."""

    async def before_turn(self, state: QueryState) -> None:
        """Called before each model call with a copy of the state."""

    async def after_turn(self, state: QueryState) -> Literal["continue", "end"] | None:
        """Called after each turn with a copy of the state.

        `end` ends the run after the tool calls of the answer. `continue` requests one more turn where the run would
        end, at most once per run.
        """


class HookFailed(Exception):
    """A hook raised: the application's decision is unknown, so the run ends."""

    def __init__(self, name: str, error: BaseException | None) -> None:
        reason = f"{type(error).__name__}: {error}" if error else "it was cancelled"
        super().__init__(f"the hook {name} failed: {reason}")


class HookCalls:
    """The loop's access to hooks: calls only overridden ones, and stops waiting when the run is cancelled.

    Every method may raise HookFailed.
    """

    def __init__(self, hooks: Hooks) -> None:
        self._hooks = hooks
        kind = type(hooks)
        self._wanted = {name for name, own in vars(Hooks).items() if getattr(kind, name) is not own}
        """The hooks that the application overrides; others cost nothing."""
        self.see_requests = bool(self._wanted & {"before_turn", "transform_context", "convert_to_llm"})
        """False if no hook is called before a model call, so that none need be asked."""
        self.give_keys = "get_api_key" in self._wanted

    async def before_request(self, state: QueryState, cancel: CancelToken) -> QueryState:
        """Return the state from which the next request is built."""
        if "before_turn" in self._wanted:
            await self._ask("before_turn", self._hooks.before_turn(_copy(state)), cancel)
        messages: Sequence[AgentMessage] = state.messages
        if "transform_context" in self._wanted:
            changed = self._hooks.transform_context(tuple(messages), cancel)
            messages = await self._ask("transform_context", changed, cancel) or ()
        if "convert_to_llm" in self._wanted:
            converted = await self._ask("convert_to_llm", self._converted(messages), cancel)
            messages = messages if converted is None else converted
        return state if messages is state.messages else replace(state, messages=list(messages))

    async def api_key(self, provider: str, cancel: CancelToken) -> str | None:
        return await self._ask("get_api_key", self._hooks.get_api_key(provider), cancel)

    async def before_call(self, call: ToolCall, context: ToolContext, cancel: CancelToken) -> PermissionDecision | None:
        """Return a decision other than allow, or None."""
        if "before_tool_call" not in self._wanted:
            return None
        decision = await self._ask("before_tool_call", self._hooks.before_tool_call(call, context), cancel)
        return None if decision is None or decision.behavior == "allow" else decision

    async def after_call(self, call: ToolCall, result: ToolResult, cancel: CancelToken) -> ToolResult:
        if "after_tool_call" not in self._wanted:
            return result
        other = await self._ask("after_tool_call", self._hooks.after_tool_call(call, result), cancel)
        return result if other is None else _in_place_of(result, other)

    async def after_turn(self, state: QueryState, cancel: CancelToken) -> Literal["continue", "end"] | None:
        if "after_turn" not in self._wanted:
            return None
        return await self._ask("after_turn", self._hooks.after_turn(_copy(state)), cancel)

    async def _converted(self, messages: Sequence[AgentMessage]) -> Sequence[LlmMessage] | None:
        return self._hooks.convert_to_llm(messages)

    async def _ask(self, name: str, answer: Awaitable[T], cancel: CancelToken) -> T | None:
        """Await a hook's answer; None if the run is cancelled meanwhile, when the answer no longer matters."""
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


def _in_place_of(result: ToolResult, other: ToolResult) -> ToolResult:
    """Replace a result, but keep its failure, its origin and its usage: a hook cannot clear these."""
    return other.model_copy(
        update={
            "is_error": result.is_error or other.is_error,
            "origin": result.origin | other.origin,
            "usage": other.usage if other.usage.total else result.usage,
        }
    )


def _copy(state: QueryState) -> QueryState:
    return replace(state, messages=list(state.messages))
