"""The command for approval rules of a chat: /rules."""

from datetime import datetime

from channels.base import Button, OutboundMessage
from gateway.chat.replies import Answer, Rewritten
from gateway.commands.table import LONGEST_ID, Command, Invocation, reply
from gateway.delivery.progress import literal
from gateway.permissions.approvals import typed_id
from gateway.permissions.question_text import command_in_short, one_line
from gateway.store.approvals import Rule
from gateway.texts.say import say

MOST_LISTED = 20
MOST_BUTTONS = 5
MOST_NAME = 40
_REMOVE = frozenset({"rm", "remove", "delete", "revoke"})


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


COMMANDS = (
    Command(
        "rules",
        {"en": "List and end what is always allowed here", "zh": "查看和取消总是允许的操作"},
        rules,
        arguments="[rm ID]",
    ),
)
