"""Commands about approvals: /approve and /deny answer questions; /rules and /mcp manage what needs none."""

import json
from collections.abc import Sequence
from datetime import datetime

from agent_core.tools.tool import Tool
from channels.base import Button, OutboundMessage
from channels.text import literal
from gateway.chat.replies import Answer, Rewritten
from gateway.commands.table import LONGEST_ID, Command, Invocation, reply, rewritten
from gateway.permissions.approvals import Reply, typed_id
from gateway.permissions.question_text import ALWAYS, command_in_short, in_short, one_line, shown
from gateway.store.approvals import Rule
from gateway.store.question import Question
from gateway.texts.say import say

_SENTENCES = {
    Reply.UNKNOWN: "ask_unknown",
    Reply.NOT_YOURS: "ask_not_yours",
    Reply.TOO_LATE: "ask_too_late",
    Reply.ONLY_ONCE: "ask_only_once",
    Reply.WAS_APPROVED: "ask_was_approved",
    Reply.WAS_DENIED: "ask_was_denied",
    Reply.WAS_WITHDRAWN: "ask_was_withdrawn",
}
MOST_LISTED = 20
MOST_BUTTONS = 5
MOST_NAME = 40
_REMOVE = frozenset({"rm", "remove", "delete", "revoke"})
MOST_TOOL_NAME, MOST_ABOUT, MOST_ARGUMENTS = 60, 400, 600
"""Characters."""
APPROVE = "approve"


async def approve(given: Invocation) -> OutboundMessage | None:
    return await _answer(given, approved=True)


async def deny(given: Invocation) -> OutboundMessage | None:
    return await _answer(given, approved=False)


async def _answer(given: Invocation, *, approved: bool) -> OutboundMessage | None:
    """Answer a question. Returns None on success, as the question's own message then shows the answer."""
    request_id = typed_id(given.arguments)
    if not request_id:
        found = await _open(given)
        if len(found) != 1:
            return _which(given, "approve" if approved else "deny", found)
        request_id = found[0].id
    always = approved and ALWAYS in given.arguments.split()[1:]
    done = await given.desk.approvals.reply(
        request_id, given.session.key, given.sender, approved=approved, always=always
    )
    if done is Reply.TAKEN:
        return None
    return reply(say(_SENTENCES[done], given.language, id=literal(request_id[:LONGEST_ID]), slash=given.slash))


async def _open(given: Invocation) -> list[Question]:
    """Return the questions that this user may answer and that were visible when the command was sent."""
    approvals = given.desk.approvals
    found = [each for each in await approvals.open_in(given.session.key) if approvals.may_answer(each, given.sender)]
    await given.desk.delivery.caught_up(given.session.key)
    first = min((each.asked_at for each in found), default=0.0)
    offers = await given.desk.store.outbox.offers(given.session.key, first)
    seen = {each.post.key for each in offers if each.said_at is not None and each.said_at <= given.at}
    return [each for each in found if each.key in seen]


def _which(given: Invocation, command: str, found: Sequence[Question]) -> OutboundMessage:
    if not found:
        return reply(say("ask_none", given.language))
    rows = [f"- `{given.slash}{command} {each.id}` – {in_short(each)}" for each in found]
    return reply("\n".join([say("ask_which", given.language), "", *rows]))


async def rules(given: Invocation) -> Answer:
    verb, _, named = given.arguments.strip().partition(" ")
    if verb.lower() in _REMOVE and named:
        return await _revoke(given, typed_id(named))
    return await _list(given)


async def _list(given: Invocation, *first: str) -> OutboundMessage:
    found = await given.desk.store.rules.of_chat(given.session.key)
    if not found:
        return reply("\n\n".join([*first, say("rules_none", given.language)]))
    zone = await given.desk.zones.of(given.session.key)
    lines = [
        say(
            "rules_line",
            given.language,
            id=rule.id,
            what=command_in_short(rule.what),
            name=literal(one_line(rule.given_by, MOST_NAME)) or say("ask_somebody", given.language),
            day=f"{datetime.fromtimestamp(rule.created, zone):%Y-%m-%d}",
        )
        for rule in found[-MOST_LISTED:]
    ]
    buttons = tuple(
        (Button(label=say("rules_button", given.language, id=rule.id), action=f"/rules rm {rule.id}"),)
        for rule in found[-MOST_BUTTONS:]
        if _may(given, rule)
    )
    text = "\n\n".join([*first, say("rules_title", given.language), "\n".join(lines)])
    return OutboundMessage(markdown=text, buttons=buttons)


async def _revoke(given: Invocation, rule_id: str) -> Answer:
    found = {rule.id: rule for rule in await given.desk.store.rules.of_chat(given.session.key)}
    rule = found.get(rule_id)
    if rule is None:
        return reply(say("rules_unknown", given.language, id=literal(rule_id[:LONGEST_ID])))
    if not _may(given, rule):
        return reply(say("rules_not_yours", given.language))
    await given.desk.store.rules.remove(rule.id)
    return Rewritten(await _list(given, say("rules_revoked", given.language, what=command_in_short(rule.what))))


def _may(given: Invocation, rule: Rule) -> bool:
    return rule.person == given.sender.id or given.desk.access.is_owner(given.session.key, given.sender)


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


def _approve(given: Invocation, name: str = "", code: str = "") -> Answer:
    if name not in given.desk.approved.waiting():
        return reply(say("mcp_none", given.language))
    if not given.desk.approved.approve(name, code):
        return _shown(given, name)
    if given.desk.approved.new(name):
        return _shown(given, name)
    return rewritten(say("mcp_approved", given.language, name=name))


COMMANDS = (
    Command("approve", {"en": "Allow what I ask for", "zh": "批准我的请求"}, approve, arguments="ID"),
    Command("deny", {"en": "Refuse what I ask for", "zh": "拒绝我的请求"}, deny, arguments="ID"),
    Command(
        "rules",
        {"en": "List and end what is always allowed here", "zh": "查看和取消总是允许的操作"},
        rules,
        arguments="[rm ID]",
    ),
    Command(
        "mcp",
        {"en": "Approve what MCP servers say of their tools", "zh": "批准 MCP 服务器的工具说明"},
        mcp,
        hidden=True,
    ),
)
