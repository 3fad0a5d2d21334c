"""The command that approves what MCP servers say of their tools: /mcp."""

import json

from agent_core.tools.tool import Tool
from channels.base import Button, OutboundMessage
from gateway.chat.replies import Answer
from gateway.commands.command import Command, Invocation, reply, rewritten
from gateway.permissions.approved_tools import ApprovedTools
from gateway.permissions.rights import Right, always
from gateway.permissions.roles import Role
from gateway.texts.say import say
from gateway.upkeep.mcp_notices import MOST_TOOL_NAME, left_out_lines, quoted

MOST_ABOUT, MOST_ARGUMENTS = 400, 600
"""Characters."""
APPROVE = "approve"


class McpCommands:
    """The command /mcp."""

    def __init__(self, approved: ApprovedTools) -> None:
        self._approved = approved

    async def mcp(self, given: Invocation) -> Answer:
        """List servers that await approval, or show the new descriptions of one with a button to approve them."""
        verb, _, rest = given.arguments.strip().partition(" ")
        if verb == APPROVE:
            return self._approve(given, *rest.split()[:2])
        waiting = self._approved.waiting()
        if verb and verb in waiting:
            return self._shown(given, verb)
        left_out = list(left_out_lines(self._approved, given.language))
        if not waiting:
            return reply("\n".join([say("mcp_none", given.language), *left_out]))
        buttons = tuple(
            (Button(label=say("show_button", given.language, id=name), action=f"/mcp {name}"),) for name in waiting[:5]
        )
        text = say("mcp_waiting", given.language, names=", ".join(f"`{name}`" for name in waiting))
        return OutboundMessage(markdown="\n".join([text, *left_out]), buttons=buttons)

    def _shown(self, given: Invocation, name: str) -> OutboundMessage:
        tools, more = self._approved.next(name)
        lines = [_line(tool, given) for tool in tools]
        if more:
            lines.append(say("mcp_more", given.language, count=more))
        title = say("mcp_shown" if tools else "mcp_as_before", given.language, name=name)
        label = say("mcp_approve_button", given.language)
        button = Button(label=label, action=f"/mcp {APPROVE} {name} {self._approved.code(name)}", style="primary")
        return OutboundMessage(markdown="\n\n".join(filter(None, [title, "\n".join(lines)])), buttons=((button,),))

    def _approve(self, given: Invocation, name: str = "", code: str = "") -> Answer:
        if name not in self._approved.waiting():
            return reply(say("mcp_none", given.language))
        if not self._approved.approve(name, code):
            return self._shown(given, name)
        if self._approved.new(name):
            return self._shown(given, name)
        return rewritten(say("mcp_approved", given.language, slash=given.slash, name=name))

    @property
    def commands(self) -> tuple[Command, ...]:
        return (
            Command(
                "mcp",
                {"en": "Approve what MCP servers say of their tools", "zh": "批准 MCP 服务器的工具说明"},
                self.mcp,
                rights=always(Right("admin", Role.OWNER, Role.OWNER, refusal="mcp_not_yours")),
                hidden=True,
            ),
        )


def _line(tool: Tool, given: Invocation) -> str:
    """Return everything that the model reads of a tool."""
    name = quoted(tool.name, MOST_TOOL_NAME, given.language)
    about = quoted(tool.spec.description, MOST_ABOUT, given.language)
    arguments = json.dumps(tool.spec.parameters, ensure_ascii=False)
    return f"- {name}: {about} {quoted(arguments, MOST_ARGUMENTS, given.language)}"
