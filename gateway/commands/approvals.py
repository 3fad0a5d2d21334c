"""Commands about approvals: /approve and /deny answer questions; /rules manages what needs none."""

from collections.abc import Iterable, Sequence

from channels.base import Button, ButtonPressed, OutboundMessage
from channels.commands import Suggestion
from channels.text import literal
from gateway.chat.replies import Answer, Rewritten
from gateway.commands.command import LONGEST_ID, Command, Invocation, Unfinished, reply, rewritten, whispered
from gateway.commands.suggested import suggested
from gateway.delivery.delivery import Delivery
from gateway.permissions.approvals import Approvals
from gateway.permissions.question_text import ALWAYS, command_in_short, in_short, one_line
from gateway.permissions.request import Reply, typed_id
from gateway.permissions.rights import ANSWER, LOOK, OTHERWISE, Right, Rights, always
from gateway.permissions.roles import Role
from gateway.schedule.zones import Zones
from gateway.store.approvals import Rule, Rules
from gateway.store.outbox import Outbox
from gateway.store.question import Question
from gateway.texts.moments import DAY, moment_words
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
OVER = {Reply.TOO_LATE, Reply.WAS_APPROVED, Reply.WAS_DENIED, Reply.WAS_WITHDRAWN}
"""The results of which the question's own message tells."""
MOST_LISTED = 20
MOST_BUTTONS = 5
MOST_NAME = 40
_REMOVE = ("rm", "remove", "delete", "revoke")


async def told_of_question(
    given: Invocation, text: str, outbox: Outbox, *, is_over: bool
) -> OutboundMessage | Rewritten:
    """Reply to an answer that does not count.

    Where a platform cannot be asked what has arrived there may be a second copy of a question, which nobody closes with
    it: the reply to a press on that takes its place, and with it the buttons.
    """
    event = given.event
    if not (is_over and isinstance(event, ButtonPressed)) or event.by_word:
        return whispered(given, text)
    known = await outbox.pressed(event.chat, event.message_id, event.action)
    return whispered(given, text) if known else rewritten(text)


class ApprovalCommands:
    """The commands /approve and /deny."""

    def __init__(self, approvals: Approvals, delivery: Delivery, outbox: Outbox) -> None:
        self._approvals = approvals
        self._delivery = delivery
        self._outbox = outbox

    async def approve(self, given: Invocation) -> Answer:
        return await self._answer(given, approved=True)

    async def deny(self, given: Invocation) -> Answer:
        return await self._answer(given, approved=False)

    async def _answer(self, given: Invocation, *, approved: bool) -> Answer:
        """Answer a question. Returns None on success, as the question's own message then shows the answer."""
        request_id = typed_id(given.arguments)
        if not request_id:
            found = await self._open(given)
            if len(found) != 1:
                return _which(given, "approve" if approved else "deny", found)
            request_id = found[0].id
        always = approved and ALWAYS in given.arguments.split()[1:]
        done = await self._approvals.reply(request_id, given.chat, given.sender, approved=approved, always=always)
        if done is Reply.TAKEN:
            return None
        text = say(_SENTENCES[done], given.language, id=literal(request_id[:LONGEST_ID]), slash=given.slash)
        return await told_of_question(given, text, self._outbox, is_over=done in OVER)

    async def _open(self, given: Invocation) -> list[Question]:
        """Return the questions that this user may answer and that were visible when the command was sent."""
        approvals = self._approvals
        open_here = [each for each in await approvals.open_in(given.chat) if not each.is_of_model]
        found = [each for each in open_here if approvals.may_answer(each, given.sender)]
        await self._delivery.caught_up(given.chat)
        first = min((each.asked_at for each in found), default=0.0)
        offers = await self._outbox.offers(given.chat, first)
        seen = {each.post.key for each in offers if each.said_at is not None and each.said_at <= given.at}
        return [each for each in found if each.key in seen]

    async def _questions(self, typing: Unfinished) -> Iterable[Suggestion]:
        found = await self._approvals.open_in(typing.chat)
        mine = (each for each in found if self._approvals.may_answer(each, typing.sender) and not each.is_of_model)
        return [suggested(each.id, each.what) for each in mine]

    @property
    def commands(self) -> tuple[Command, ...]:
        return (
            Command(
                "approve",
                {"en": "Allow what I ask for", "zh": "批准我的请求"},
                self.approve,
                rights=always(ANSWER),
                suggest=self._questions,
                arguments="[ID]",
            ),
            Command(
                "deny",
                {"en": "Refuse what I ask for", "zh": "拒绝我的请求"},
                self.deny,
                rights=always(ANSWER),
                suggest=self._questions,
                arguments="[ID]",
            ),
        )


def _which(given: Invocation, command: str, found: Sequence[Question]) -> OutboundMessage:
    if not found:
        return reply(say("ask_none", given.language))
    rows = [f"- `{given.slash}{command} {each.id}` – {in_short(each)}" for each in found]
    return reply("\n".join([say("ask_which", given.language), "", *rows]))


class RuleCommands:
    """The command /rules."""

    def __init__(self, rules: Rules, zones: Zones) -> None:
        self._rules = rules
        self._zones = zones

    async def rules(self, given: Invocation) -> Answer:
        verb, _, named = given.arguments.strip().partition(" ")
        if verb.lower() in _REMOVE and named:
            return await self._revoke(given, typed_id(named))
        return await self._list(given)

    async def _list(self, given: Invocation, *first: str) -> OutboundMessage:
        found = await self._rules.of_chat(given.chat)
        if not found:
            return reply("\n\n".join([*first, say("rules_none", given.language)]))
        zone = self._zones.of(given.chat)
        lines = [
            say(
                "rules_line",
                given.language,
                id=rule.id,
                what=command_in_short(rule.what),
                name=literal(one_line(rule.given_by, MOST_NAME)) or say("ask_somebody", given.language),
                day=moment_words(rule.created, zone, DAY),
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

    async def _revoke(self, given: Invocation, rule_id: str) -> Answer:
        found = {rule.id: rule for rule in await self._rules.of_chat(given.chat)}
        rule = found.get(rule_id)
        if rule is None:
            return reply(say("rules_unknown", given.language, id=literal(rule_id[:LONGEST_ID])))
        if not _may(given, rule):
            return reply(say("rules_not_yours", given.language))
        await self._rules.remove(rule.id)
        return Rewritten(
            await self._list(given, say("rules_revoked", given.language, what=command_in_short(rule.what)))
        )

    async def _of_chat(self, typing: Unfinished) -> Iterable[Suggestion]:
        found = await self._rules.of_chat(typing.chat)
        return [suggested(each.id, each.what) for each in found if typing.is_admin or each.person == typing.sender.id]

    @property
    def commands(self) -> tuple[Command, ...]:
        return (
            Command(
                "rules",
                {"en": "List and end what is always allowed here", "zh": "查看和取消总是允许的操作"},
                self.rules,
                rights=Rights({**dict.fromkeys(_REMOVE, Right("write")), OTHERWISE: LOOK}),
                suggest=self._of_chat,
                arguments="[rm ID]",
                example="rm 2",
                offered_to=Role.MEMBER,
            ),
        )


def _may(given: Invocation, rule: Rule) -> bool:
    return rule.person == given.sender.id or given.is_admin
