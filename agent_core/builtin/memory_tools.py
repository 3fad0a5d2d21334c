"""The tools with which a model remembers, looks up and forgets (S2-16, S2-17)."""

from collections.abc import Callable, Sequence

from agent_core.builtin.memory import Fact, Memory
from agent_core.messages import AgentMessage, UserMessage
from agent_core.tool_result import ToolResult
from agent_core.tools import Tool, ToolContext, tool
from agent_core.untrusted import is_tainted

SOMEBODY = "person"
"""Who spoke where only one person does."""
AGENT = "agent"
"""Who spoke where an agent asked another one."""


def memory_tools(memory_of: Callable[[ToolContext], Memory]) -> tuple[Tool, ...]:
    """`memory_of`: whose memory a call is about."""

    @tool(idempotent=True, acts="write", label="Remembering: {fact}")
    async def remember(fact: str, context: ToolContext) -> str:
        """Keep a fact."""
        tainted = is_tainted(context.messages)
        kept, new = await memory_of(context).remember(fact, _speaker(context.messages), tainted=tainted)
        return f"Remembered as number {kept.number}: {kept.text}" if new else f"Known as number {kept.number} already."

    @tool(execution="parallel", label="Looking into the memory")
    async def recall(words: str = "", *, context: ToolContext) -> ToolResult:
        """Find kept facts."""
        facts = await memory_of(context).search(words)
        return _result("\n".join(f"{fact.number}. {fact.told}" for fact in facts) or "(nothing found)", *facts)

    @tool(acts="write", label="Forgetting number {number}")
    async def forget(number: int, context: ToolContext) -> ToolResult:
        """Drop a fact."""
        fact = await memory_of(context).forget(number)
        return _result(f"Forgotten: {fact.text}", fact)

    return remember, recall, forget


def _result(text: str, *facts: Fact) -> ToolResult:
    """What people said among themselves may be believed when it is looked up, as it may when it is told unasked."""
    return ToolResult.of(text).model_copy(update={"untrusted": any(fact.after_strangers for fact in facts)})


def _speaker(messages: Sequence[AgentMessage]) -> str:
    """Whose message led to the call."""
    said = next((message for message in reversed(messages) if isinstance(message, UserMessage)), None)
    if said is None or said.by_agent:
        return AGENT if said else SOMEBODY
    return said.source or SOMEBODY
