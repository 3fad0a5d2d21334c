"""The command with which owners approve tool descriptions of MCP servers: /mcp."""

import json

from agent_core.tools import Tool
from channels.base import Button, OutboundMessage
from gateway.chat.replies import Answer
from gateway.commands.table import Command, Invocation, reply, rewritten
from gateway.permissions.question_text import shown
from gateway.texts.say import say

MOST_NAME, MOST_ABOUT, MOST_ARGUMENTS = 60, 400, 600
"""Characters."""
APPROVE = "approve"


async def mcp(given: Invocation) -> Answer:
    """List servers that await approval or, given a name, show the new descriptions with a button to approve them."""
    if not given.desk.access.is_owner(given.session.key, given.sender):
        return reply(say("mcp_not_yours", given.language))
    verb, _, rest = given.arguments.strip().partition(" ")
    if verb == APPROVE:
        return _approve(given, *rest.split()[:2])
    waiting = given.desk.approved.waiting()
    if verb and verb in waiting:
        return _shown(given, verb)
    if not waiting:
        return reply(say("mcp_none", given.language))
    buttons = tuple(
        (Button(label=say("show_button", given.language, id=name), action=f"/mcp {name}"),) for name in waiting[:5]
    )
    text = say("mcp_waiting", given.language, names=", ".join(f"`{name}`" for name in waiting))
    return OutboundMessage(markdown=text, buttons=buttons)


def _shown(given: Invocation, name: str) -> OutboundMessage:
    tools, more = given.desk.approved.next(name)
    lines = [_line(tool, given) for tool in tools]
    if more:
        lines.append(say("mcp_more", given.language, count=more))
    title = say("mcp_shown" if tools else "mcp_as_before", given.language, name=name)
    label = say("mcp_approve_button", given.language)
    button = Button(label=label, action=f"/mcp {APPROVE} {name} {given.desk.approved.code(name)}", style="primary")
    return OutboundMessage(markdown="\n\n".join(filter(None, [title, "\n".join(lines)])), buttons=((button,),))


def _line(tool: Tool, given: Invocation) -> str:
    """Return everything that the model reads of a tool."""
    line = f"- {_quoted(tool.name, MOST_NAME, given)}: {_quoted(tool.spec.description, MOST_ABOUT, given)}"
    arguments = json.dumps(tool.spec.parameters, ensure_ascii=False)
    return f"{line} {_quoted(arguments, MOST_ARGUMENTS, given)}"


def _quoted(words: str, most: int, given: Invocation) -> str:
    """Quote a server's text as code, so that it contains no links or markup, with invisible characters made visible.

    If it is cut, the number of omitted characters is added.
    """
    flat = " ".join(shown(words).replace("`", "'").split())
    rest = len(flat) - most
    return f"`{flat[:most]}`" + (f" ({say('mcp_cut', given.language, count=rest)})" if rest > 0 else "")


def _approve(given: Invocation, name: str = "", code: str = "") -> Answer:
    if name not in given.desk.approved.waiting():
        return reply(say("mcp_none", given.language))
    if not given.desk.approved.approve(name, code):
        return _shown(given, name)
    if given.desk.approved.new(name):
        return _shown(given, name)
    return rewritten(say("mcp_approved", given.language, name=name))


COMMANDS = (
    Command(
        "mcp",
        {"en": "Approve what MCP servers say of their tools", "zh": "批准 MCP 服务器的工具说明"},
        mcp,
        hidden=True,
    ),
)
