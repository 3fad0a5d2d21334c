"""The tool by which an agent has another one do a thing for it (S3-04)."""

from typing import Protocol

from agent_core.tool_result import ToolResult
from agent_core.tools import Tool, ToolContext, ToolFailed, tool


class TaskRunner(Protocol):
    """Where sub-agents work. A call that is made again, after a crash, say, gets the task that it began the first
    time."""

    async def run(self, prompt: str, context: ToolContext) -> ToolResult:
        """Do it now; its report."""
        ...

    async def begin(self, prompt: str, context: ToolContext) -> ToolResult:
        """Do it beside the conversation, to which its report comes later. The task is on disk when this returns.
        Raises ToolFailed."""
        ...


def task_tool(runner: TaskRunner) -> Tool:
    """What it can do at worst is decided at each call that the sub-agent makes."""

    @tool(idempotent=True, retry="never", timeout_s=None, label="Task: {prompt}")
    async def task(prompt: str, background: bool = False, *, context: ToolContext) -> ToolResult:  # noqa: FBT001, FBT002
        """Have a helper that sees only this prompt do a job; in the background, its report comes later by itself."""
        if not prompt.strip():
            raise ToolFailed("the prompt is empty", "say in it what is to be done")
        return await (runner.begin if background else runner.run)(prompt, context)

    return task
