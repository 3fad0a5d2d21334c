"""The tool `task`, with which an agent gives a task to a sub-agent."""

from typing import Protocol

from agent_core.tool_result import ToolResult
from agent_core.tools.tool import Tool, ToolContext, ToolFailed, tool


class TaskRunner(Protocol):
    """Runs sub-agents. A call repeated after a crash gets the task that it started the first time."""

    async def run(self, prompt: str, context: ToolContext) -> ToolResult:
        """Run the task and return its report."""
        ...

    async def begin(self, prompt: str, context: ToolContext) -> ToolResult:
        """Start the task in the background; its report is added to the conversation later. The task is on disk when
        this returns. Raises ToolFailed."""
        ...


def task_tool(runner: TaskRunner) -> Tool:
    """Return the tool `task`. Permissions are checked for each call that the sub-agent makes."""

    @tool(idempotent=True, retry="never", timeout_s=None, label="Task: {prompt}", labels={"zh": "任务：{prompt}"})
    async def task(prompt: str, background: bool = False, *, context: ToolContext) -> ToolResult:  # noqa: FBT001, FBT002
        """Give a task to a sub-agent that sees only this prompt; in the background, its report arrives later."""
        if not prompt.strip():
            raise ToolFailed("the prompt is empty", "say in it what is to be done")
        return await (runner.begin if background else runner.run)(prompt, context)

    return task
