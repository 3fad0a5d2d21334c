"""Lists what people wrote that waits for its run, and tells why if that is for more than an earlier run."""

import math
from collections.abc import Mapping, Sequence

from gateway.chat.holds import Hold, Holds, Why
from gateway.commands.command import Invocation
from gateway.schedule.jobs.preview import duration
from gateway.store.rows import InboxItem
from gateway.texts.say import Language, say

MINUTE = 60.0
_TEXTS: Mapping[Why, str] = {
    Why.GAP: "waits_gap",
    Why.BUDGET: "waits_budget",
    Why.PACE: "waits_pace",
    Why.TROUBLE: "waits_trouble",
    Why.DRAIN: "waits_drain",
}


def waiting_for(given: Invocation) -> list[InboxItem]:
    """Return the waiting messages that the user may see and drop."""
    found = given.session.mail.waiting(given.at)
    return [item for item in found if given.is_admin or item.event.sender.id == given.sender.id]


def reasons(given: Invocation, waiting: Sequence[InboxItem]) -> Sequence[str]:
    """Return a sentence for each reason why these messages wait."""
    people, holds = {item.event.sender.id for item in waiting}, given.session.holds
    told = [hold for hold in holds.reasons if people and (hold.person is None or hold.person in people)]
    return [*dict.fromkeys(_reason(hold, holds, given.language) for hold in told)]


def _reason(hold: Hold, holds: Holds, language: Language) -> str:
    left = "" if hold.is_endless else _time(holds.left(hold), language)
    if hold.text:
        return say("waits_plugin", language, why=say(hold.text, language), left=left)
    return say(_TEXTS[hold.why], language, left=left)


def _time(seconds: float, language: Language) -> str:
    if seconds < MINUTE:
        return say("waits_seconds", language, count=math.ceil(seconds))
    return duration(seconds, language)
