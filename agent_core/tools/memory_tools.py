"""The memory tools: `remember`, `recall` and `forget`."""

from collections.abc import Callable, Sequence

from agent_core.messages import AgentMessage, UserMessage
from agent_core.sources import union
from agent_core.tool_result import ToolResult
from agent_core.tools.memory import Fact, Memory
from agent_core.tools.own_words import is_said
from agent_core.tools.tool import Tool, ToolContext, tool
from agent_core.untrusted import sources_of

SOMEBODY = "person"
"""Source of a fact if the sender has no name, as in a private chat."""
AGENT = "agent"
"""Source of a fact if the prompt came from another agent."""


def memory_tools(memory_of: Callable[[ToolContext], Memory]) -> tuple[Tool, ...]:
    """Return the tools; `memory_of` returns the memory for a call."""

    @tool(idempotent=True, acts="write", label="Remembering: {fact}")
    async def remember(fact: str, context: ToolContext) -> str:
        """Remember a fact."""
        sources = () if is_said(fact, context.messages) else sources_of(context.messages)
        kept, new = await memory_of(context).remember(fact, _speaker(context.messages), sources)
        return f"Remembered as number {kept.number}: {kept.text}" if new else f"Known as number {kept.number} already."

    @tool(execution="parallel", label="Looking into the memory")
    async def recall(words: str = "", *, context: ToolContext) -> ToolResult:
        """Search the remembered facts."""
        facts = await memory_of(context).search(words)
        return _result("\n".join(f"{fact.number}. {fact.told}" for fact in facts) or "(nothing found)", *facts)

    @tool(acts="write", label="Forgetting number {number}")
    async def forget(number: int, context: ToolContext) -> ToolResult:
        """Forget a fact."""
        fact = await memory_of(context).forget(number)
        return _result(f"Forgotten: {fact.text}", fact)

    return remember, recall, forget


def _result(text: str, *facts: Fact) -> ToolResult:
    """Return a result with the sources of the facts; without any it is trusted."""
    sources = union(*(fact.sources for fact in facts))
    return ToolResult.of(text).from_(sources) if sources else ToolResult.of(text)


def _speaker(messages: Sequence[AgentMessage]) -> str:
    """Return the sender of the message that led to the call."""
    said = next((message for message in reversed(messages) if isinstance(message, UserMessage)), None)
    if said is None or said.by_agent:
        return AGENT if said else SOMEBODY
    return said.source or SOMEBODY
