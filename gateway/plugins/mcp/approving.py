"""Shows owners what MCP servers say of their tools, and takes their approval."""

from agent_core.tools.tool import Tool
from channels.base import Button, OutboundMessage
from gateway.chat.replies import Answer
from gateway.commands.command import Invocation, reply, rewritten
from gateway.permissions.approved_tools import ApprovedTools
from gateway.plugins.mcp.schema_lines import schema_lines
from gateway.texts.say import say
from gateway.upkeep.mcp_notices import MOST_TOOL_NAME, quoted

MOST_ABOUT = 400
"""Characters."""
APPROVE = "approve"


class Approving:
    """Shows new descriptions of tools with a button that approves them."""

    def __init__(self, approved: ApprovedTools) -> None:
        self._approved = approved

    def shown(self, given: Invocation, name: str) -> OutboundMessage:
        """Return the new descriptions of a server's tools."""
        tools, more = self._approved.next(name)
        lines = [_lines(tool, given) for tool in tools]
        if more:
            lines.append(say("mcp_more", given.language, count=more))
        title = say("mcp_shown" if tools else "mcp_as_before", given.language, name=name)
        label = say("mcp_approve_button", given.language)
        button = Button(label=label, action=f"/mcp {APPROVE} {name} {self._approved.code(name)}", style="primary")
        return OutboundMessage(markdown="\n\n".join(filter(None, [title, "\n".join(lines)])), buttons=((button,),))

    async def approve(self, given: Invocation, name: str, code: str) -> Answer:
        """Approve what was shown, and show the rest."""
        if name not in self._approved.waiting():
            return reply(say("mcp_none", given.language))
        if not self._approved.approve(name, code):
            return self.shown(given, name)
        if self._approved.new(name):
            return self.shown(given, name)
        return rewritten(say("mcp_approved", given.language, slash=given.slash, name=name))


def _lines(tool: Tool, given: Invocation) -> str:
    """Return everything that the model reads of a tool: a line for itself, and one for each argument."""
    name = quoted(tool.name, MOST_TOOL_NAME, given.language)
    about = quoted(tool.spec.description, MOST_ABOUT, given.language)
    arguments = [f"  - {each}" for each in schema_lines(tool.spec.parameters, given.language)]
    return "\n".join([f"- {name}: {about}", *arguments])
