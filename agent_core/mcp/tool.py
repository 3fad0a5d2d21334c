"""A tool of an MCP server, as the model and the loop see it."""

from collections.abc import Awaitable, Callable

from pydantic import BaseModel

from agent_core.mcp.config import Class
from agent_core.mcp.schema import Schema
from agent_core.mcp.words import plain
from agent_core.messages import Frozen, JsonObject
from agent_core.models.llm import ToolSpec
from agent_core.sources import server as server_source
from agent_core.tool_result import ToolResult
from agent_core.tools.tool import InvalidArguments, Tool, ToolContext, Traits

Call = Callable[[str, JsonObject], Awaitable[ToolResult]]
"""Takes the server's own name of the tool and the arguments. Raises ToolFailed."""

TIMEOUT_S = 60.0


class _Arguments(Frozen):
    values: JsonObject


class McpTool(Tool):
    """A tool of an MCP server. Its results are untrusted, and failed calls are not retried, because they may have had
    an effect. A server's claims that a tool is read-only are not trusted either, so calls run one by one."""

    def __init__(
        self, *, name: str, server: str, original: str, description: str, schema: Schema, acts: Class, call: Call
    ) -> None:
        told = plain(description) or plain(original)
        super().__init__(
            ToolSpec(
                name=name,
                description=f"A tool of the MCP server {server}, in its own words: {told}",
                parameters=schema.shown,
            ),
            Traits(
                execution="sequential",
                retry="never",
                timeout_s=TIMEOUT_S,
                acts=acts,
                untrusted=True,
                source=server_source(server),
            ),
        )
        self._label = f"{server}: {plain(original, 60)}"
        self._original = original
        self._schema = schema
        self._call = call

    def validate(self, arguments: JsonObject) -> BaseModel:
        """See `Tool.validate`; null for an optional argument counts as left out."""
        problems = self._schema.problems(arguments)
        if problems:
            arguments = {key: value for key, value in arguments.items() if value is not None}
            problems = self._schema.problems(arguments) and problems
        if problems:
            raise InvalidArguments(f"{self.name}: {'; '.join(problems)}", "call it again with arguments of its schema")
        return _Arguments(values=arguments)

    def describe(self, arguments: JsonObject) -> str:
        return self._label

    async def execute(self, arguments: BaseModel, context: ToolContext) -> ToolResult:
        if not isinstance(arguments, _Arguments):
            raise TypeError("arguments that validate did not return")
        return await self._call(self._original, arguments.values)
