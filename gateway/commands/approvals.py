"""Commands that answer questions: /approve, /deny."""

from channels.base import OutboundMessage
from gateway.approvals import Reply, typed_id
from gateway.commands.table import Command, Invocation, reply
from gateway.progress import literal
from gateway.question_text import in_short
from gateway.texts import say

_SENTENCES = {
    Reply.UNKNOWN: "ask_unknown",
    Reply.NOT_YOURS: "ask_not_yours",
    Reply.TOO_LATE: "ask_too_late",
    Reply.WAS_APPROVED: "ask_was_approved",
    Reply.WAS_DENIED: "ask_was_denied",
    Reply.WAS_WITHDRAWN: "ask_was_withdrawn",
}
LONGEST_ID = 20


async def approve(given: Invocation) -> OutboundMessage | None:
    return await _answer(given, approved=True)


async def deny(given: Invocation) -> OutboundMessage | None:
    return await _answer(given, approved=False)


async def _answer(given: Invocation, *, approved: bool) -> OutboundMessage | None:
    """Says nothing where it is done: the question's own message then says so."""
    request_id = typed_id(given.arguments)
    if not request_id:
        return await _which(given, "approve" if approved else "deny")
    done = await given.desk.approvals.reply(request_id, given.session.key, given.sender, approved=approved)
    if done is Reply.TAKEN:
        return None
    return reply(say(_SENTENCES[done], given.language, id=literal(request_id[:LONGEST_ID])))


async def _which(given: Invocation, command: str) -> OutboundMessage:
    """Nothing is answered by a command that does not say what: another question may just have come."""
    approvals = given.desk.approvals
    found = [each for each in await approvals.open_in(given.session.key) if approvals.may_answer(each, given.sender)]
    if not found:
        return reply(say("ask_none", given.language))
    rows = [f"- `{given.slash}{command} {each.id}` – {in_short(each)}" for each in found]
    return reply("\n".join([say("ask_which", given.language), "", *rows]))


COMMANDS = (
    Command("approve", {"en": "Allow what I ask for", "zh": "批准我的请求"}, approve, arguments="ID"),
    Command("deny", {"en": "Refuse what I ask for", "zh": "拒绝我的请求"}, deny, arguments="ID"),
)
