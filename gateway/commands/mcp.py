"""The command that approves what MCP servers say of their tools: /mcp."""

import json

from agent_core.tools.tool import Tool
from channels.base import Button, OutboundMessage
from gateway.chat.replies import Answer
from gateway.commands.command import Command, Invocation, reply, rewritten
from gateway.permissions.approved_tools import ApprovedTools
from gateway.permissions.question_text import shown
from gateway.texts.say import say

MOST_TOOL_NAME, MOST_ABOUT, MOST_ARGUMENTS = 60, 400, 600
"""Characters."""
APPROVE = "approve"


class McpCommands:
    """The command /mcp."""

    def __init__(self, approved: ApprovedTools) -> None:
        self._approved = approved

    async def mcp(self, given: Invocation) -> Answer:
        """List servers that await approval, or show the new descriptions of one with a button to approve them."""
        if not given.is_owner:
            return reply(say("mcp_not_yours", given.language))
        verb, _, rest = given.arguments.strip().partition(" ")
        if verb == APPROVE:
            return self._approve(given, *rest.split()[:2])
        waiting = self._approved.waiting()
        if verb and verb in waiting:
            return self._shown(given, verb)
        if not waiting:
            return reply(say("mcp_none", given.language))
        buttons = tuple(
            (Button(label=say("show_button", given.language, id=name), action=f"/mcp {name}"),) for name in waiting[:5]
        )
        text = say("mcp_waiting", given.language, names=", ".join(f"`{name}`" for name in waiting))
        return OutboundMessage(markdown=text, buttons=buttons)

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
                hidden=True,
            ),
        )


def _line(tool: Tool, given: Invocation) -> str:
    """Return everything that the model reads of a tool."""
    line = f"- {_quoted(tool.name, MOST_TOOL_NAME, given)}: {_quoted(tool.spec.description, MOST_ABOUT, given)}"
    arguments = json.dumps(tool.spec.parameters, ensure_ascii=False)
    return f"{line} {_quoted(arguments, MOST_ARGUMENTS, given)}"


def _quoted(words: str, most: int, given: Invocation) -> str:
    """Quote a server's text as code, so that it contains no links or markup, with invisible characters made visible.

    If it is cut, the number of omitted characters is added.
    """
    flat = " ".join(shown(words).replace("`", "'").split())
    rest = len(flat) - most
    return f"`{flat[:most]}`" + (f" ({say('mcp_cut', given.language, count=rest)})" if rest > 0 else "")
