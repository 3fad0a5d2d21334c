"""Commands that answer approval questions: /approve, /deny."""

from collections.abc import Sequence

from channels.base import OutboundMessage
from gateway.commands.table import LONGEST_ID, Command, Invocation, reply
from gateway.delivery.progress import literal
from gateway.permissions.approvals import Reply, typed_id
from gateway.permissions.question_text import ALWAYS, in_short
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


COMMANDS = (
    Command("approve", {"en": "Allow what I ask for", "zh": "批准我的请求"}, approve, arguments="ID"),
    Command("deny", {"en": "Refuse what I ask for", "zh": "拒绝我的请求"}, deny, arguments="ID"),
)
