"""Calls tools of MCP servers for a person without a model, if the rules allow that without a question.

Each call is in the audit file, as those of runs are.
"""

import asyncio

from msgspec import Struct

from agent_core.clock import NewId
from agent_core.events import ToolExecutionStart
from agent_core.loop.execution import ABORTED, end_of
from agent_core.loop.permissions import Proposal
from agent_core.messages import JsonObject, ToolCall, text_of
from agent_core.reasons import CallFailure
from agent_core.tool_result import ToolResult
from agent_core.tools.tool import Tool, ToolContext, ToolEnvironment, ToolFailed
from channels.base import ChatKey, Sender
from gateway.permissions.rules import Rules, in_english
from gateway.permissions.workspaces import Workspaces
from gateway.records.audit import AuditLog
from gateway.runs.added_servers import AddedServers
from gateway.store.chats import Chats
from gateway.store.rows import Run


class ServerCalls(Struct, frozen=True):
    """The tools of all MCP servers, and their calls for people."""

    servers: AddedServers
    rules: Rules
    workspaces: Workspaces
    chats: Chats
    new_id: NewId
    audit: AuditLog

    def tools(self) -> list[Tool]:
        """Return the tools of all servers that have answered, for everybody or for one person at least."""
        return list(self.servers.offered())

    def signed_out(self, chat: ChatKey, person: str) -> list[str]:
        """Return the servers whose tools cannot be called for a person of a chat before somebody signs in."""
        mine = self.rules.access.accounts(chat, Sender(id=person, name=""))
        return [name for name in self.servers.added if self.servers.asks_sign_in(name, mine)]

    async def call(
        self, tool: Tool, arguments: JsonObject, chat: ChatKey, person: str, *, here: bool = False
    ) -> ToolResult:
        """Call a tool with the rights of a person in a chat, and with their account at the server.

        Args:
            here: The person waits for it in the chat, where they are asked to sign in if need be.

        Raises:
            ToolFailed: The call failed, or is not allowed without a question.
            NotSignedIn: The server asks for a sign-in first.
        """
        proposal = await self._proposal(tool, arguments, chat, person, here=here)
        run = Run("", chat, proposal.session_id, person, self.audit.clock.time())
        begun = ToolExecutionStart(
            ts=run.started, tool_call_id=proposal.call.id, tool_name=tool.name, label=tool.name, args=arguments
        )
        self.audit.started(run, begun)
        result, denied = ToolResult.not_run(ABORTED, CallFailure.KILLED), None
        try:
            result = await self._made(proposal)
        except _NotAllowed as error:
            result, denied = ToolResult.failure(error.fact, error.advice, CallFailure.PERMISSION), proposal.fingerprint
            raise
        except ToolFailed as error:
            result = ToolResult.failure(error.fact, error.advice)
            raise
        finally:
            self._ended(run, proposal, result, denied)
        if result.is_error:
            raise ToolFailed(" ".join(text_of(result.content).split())[:200] or f"{tool.name} failed")
        return result

    async def _proposal(self, tool: Tool, arguments: JsonObject, chat: ChatKey, person: str, *, here: bool) -> Proposal:
        return Proposal(
            call=ToolCall(id=self.new_id(), name=tool.name, arguments=arguments),
            tool=tool,
            workspace=self.workspaces.folder(chat),
            session_id=(await self.chats.get(chat)).session if here else "",
            chat_id=str(chat),
            user_id=person,
            messages=(),
        )

    async def _made(self, proposal: Proposal) -> ToolResult:
        """Make a call if that is allowed. Raises ToolFailed."""
        tool, of = proposal.tool, proposal
        ruling = await self.rules.guarded(proposal)
        if ruling.behavior != "allow":
            raise _NotAllowed(in_english(ruling) or f"{tool.name} needs an approval, for which nobody is asked here")
        environment = ToolEnvironment(of.session_id, of.workspace, of.chat_id, user_id=of.user_id)
        try:
            async with asyncio.timeout(tool.timeout_s):
                return await tool.execute(tool.validate(of.call.arguments), ToolContext(of.call.id, environment))
        except TimeoutError as error:
            raise ToolFailed(f"{tool.name} gave no result within {tool.timeout_s:g} s") from error

    def _ended(self, run: Run, proposal: Proposal, result: ToolResult, denied: str | None) -> None:
        """Record what came of a call."""
        now = self.audit.clock.time()
        passed = round((now - run.started) * 1000)
        end = end_of(proposal.call, result, attempts=0 if denied else 1, duration_ms=passed, denied=denied)
        self.audit.ended(run, end.model_copy(update={"ts": now}), None)


class _NotAllowed(ToolFailed):
    """A call is not allowed without a question."""
