"""A tool of an MCP server that was added, called with the account of everybody or of whoever asks."""

from collections.abc import Mapping
from typing import Protocol

from pydantic import BaseModel

from agent_core.messages import JsonObject
from agent_core.models.llm import ToolSpec
from agent_core.tool_result import ToolResult
from agent_core.tools.tool import Tool, ToolContext, ToolFailed, Traits


class Callers(Protocol):
    """Those who call the tools of servers, and have to sign in there."""

    def who_asks(self, server: str, context: ToolContext) -> str:
        """Return the person for whom a call is made, as they are signed in; empty if they are not.

        Raises ToolFailed if they have no right to sign in.
        """

    def is_refused(self, server: str, person: str) -> bool:
        """Return True if the server asks for a sign-in of this person, or of somebody for all if that is empty."""

    async def lack(self, server: str, person: str, context: ToolContext) -> None:
        """Let whoever asks be told that a sign-in is needed."""


class NotSignedIn(ToolFailed):
    """A server asks for a sign-in before it is called."""

    def __init__(self, server: str, fact: str) -> None:
        super().__init__(fact, f"say that it needs a sign-in, for which a button comes, or /mcp in {server}")
        self.server = server


class ServerTool(Tool):
    """A tool of a server at which people sign in."""

    def __init__(self, server: str, tools: Mapping[str, Tool], callers: Callers, *, of_each: bool) -> None:
        """`tools` are the same tool by those who have signed in; everybody is the empty string."""
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
        self._callers = callers
        self._of_each = of_each

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
        person = self._callers.who_asks(self._server, context) if self._of_each else ""
        tool = self._tools.get(person)
        if tool is None:
            await self._callers.lack(self._server, person, context)
            fact = f"the person who asks has not signed in to the MCP server {self._server}"
            raise NotSignedIn(self._server, fact)
        try:
            return await tool.execute(arguments, context)
        except ToolFailed as error:
            if not self._callers.is_refused(self._server, person):
                raise
            await self._callers.lack(self._server, person, context)
            raise NotSignedIn(self._server, f"the MCP server {self._server} asks for a sign-in") from error
