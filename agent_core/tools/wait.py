"""The tool `wait`, for when a user asks to wait."""

from datetime import UTC, datetime

from agent_core.clock import Clock
from agent_core.tools.tool import Tool, tool

MOST_S = 10.0
NO_TIME_S = 1.0
"""A shorter wait does not justify repeating a call."""


def wait_tool(time: Clock) -> Tool:
    @tool(execution="parallel", label="Waiting {seconds} s", waits=True)
    async def wait(seconds: float) -> str:
        """Wait for at most 10 seconds."""
        waited = min(max(seconds, 0.0), MOST_S)
        await time.sleep(waited)
        if waited < NO_TIME_S:
            return f"Waited {waited:g} s."
        now = datetime.fromtimestamp(time.time(), UTC)
        return f"Waited {waited:g} s. It is {now:%H:%M:%S.%f} UTC."  # unique, so no repeated result

    return wait
