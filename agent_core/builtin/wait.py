"""Waiting for a moment, because a person asked for it."""

from agent_core.clock import Clock
from agent_core.tools import Tool, tool

MOST_S = 10.0


def wait_tool(time: Clock) -> Tool:
    """The tool `wait`, on this clock."""

    @tool(execution="parallel", label="Waiting {seconds} s")
    async def wait(seconds: float) -> str:
        """Wait for at most 10 seconds."""
        waited = min(max(seconds, 0.0), MOST_S)
        await time.sleep(waited)
        return f"Waited {waited:g} s."

    return wait
