"""A tool of an MCP server that everybody uses with an account of their own."""

from collections.abc import Callable, Mapping

from pydantic import BaseModel

from agent_core.messages import JsonObject
from agent_core.models.llm import ToolSpec
from agent_core.tool_result import ToolResult
from agent_core.tools.tool import Tool, ToolContext, ToolFailed, Traits

WhoAsks = Callable[[str, ToolContext], str]
"""Returns the person for whom a call of a server's tool is made, as they are called there; empty if it is not known."""


class PersonalTool(Tool):
    """A tool that is called with the account of whoever asks."""

    def __init__(self, server: str, tools: Mapping[str, Tool], who_asks: WhoAsks) -> None:
        """`tools` are the same tool by the people who have signed in."""
        self._first = next(iter(tools.values()))
        super().__init__(
            self._first.name,
            Traits(
                execution=self._first.execution,
                retry=self._first.retry,
                timeout_s=self._first.timeout_s,
                acts=self._first.acts,
                untrusted=self._first.untrusted,
                source=self._first.source,
            ),
        )
        self._server = server
        self._tools = tools
        self._who_asks = who_asks

    @property
    def spec(self) -> ToolSpec:
        return self._first.spec

    def leave_out(self) -> bool:
        left_out = [tool.leave_out() for tool in self._tools.values()]
        return any(left_out)

    def validate(self, arguments: JsonObject) -> BaseModel:
        return self._first.validate(arguments)

    def describe(self, arguments: JsonObject) -> str:
        return self._first.describe(arguments)

    async def execute(self, arguments: BaseModel, context: ToolContext) -> ToolResult:
        tool = self._tools.get(self._who_asks(self._server, context))
        if tool is None:
            raise ToolFailed(
                f"the person who asks has not signed in to the MCP server {self._server}",
                f"tell them to sign in with /mcp in {self._server}",
            )
        return await tool.execute(arguments, context)
