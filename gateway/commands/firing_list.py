"""Lists the outcomes of recent firings."""

from collections.abc import Sequence
from zoneinfo import ZoneInfo

from channels.text import literal
from gateway.commands.table import Invocation
from gateway.permissions.question_text import one_line
from gateway.schedule.jobs.outlook import Cost
from gateway.schedule.jobs.preview import cost_words, in_short, rule_of
from gateway.settings.zone import is_zone
from gateway.store.job import CheckIn, DeliveryState, Firing, FiringState
from gateway.texts.say import Language, say
from gateway.timing.words import slot_words

MOST = 10
DAYS = 7
MOST_ERROR = 100
"""Characters."""
MOST_NAME = 40
_DAY = 86_400

_STATES = {
    FiringState.BEGUN: "past_begun",
    FiringState.DONE: "past_done",
    FiringState.NOTHING: "past_nothing",
    FiringState.FAILED: "past_failed",
    FiringState.OVERLAPPED: "past_overlapped",
    FiringState.MISSED: "past_missed",
}
_DELIVERIES = {
    DeliveryState.PENDING: "delivery_pending",
    DeliveryState.SENT: "delivery_sent",
    DeliveryState.HELD: "delivery_held",
    DeliveryState.FAILED: "delivery_failed",
}


async def firing_list(given: Invocation, job_id: str) -> str:
    """List the firings of one job, or all firings in the chat in the last days. Raises JobRefused."""
    desk, language, chat = given.desk, given.language, given.session.key
    if job_id:
        job = await desk.jobs.of(job_id, chat, given.sender)
        title = say("history_title", language, id=job.id, rule=rule_of(job, language))
        found = await desk.jobs.history(job.id, MOST)
        zone = ZoneInfo(job.zone) if is_zone(job.zone) else await desk.jobs.zone_of(chat)
    else:
        title = say("history_title_all", language)
        lately = await desk.store.firings.in_chat_since(chat, desk.clock.time() - DAYS * _DAY)
        found, zone = lately[::-1][:MOST], await desk.jobs.zone_of(chat)
    if not found:
        return say("history_none", language)
    now = desk.clock.time()
    names = {} if job_id else {firing.job: await _name(given, firing.job) for firing in found}
    lines = [_line(firing, names.get(firing.job, ""), zone, language, now) for firing in found]
    return "\n".join([title, "", *lines])


async def _name(given: Invocation, job_id: str) -> str:
    """Return a name for the firing's job, with its text, because an id alone means little to a reader."""
    job = await given.desk.store.jobs.find(job_id)
    if job is None:
        return f"`{job_id}` "
    if isinstance(job.work, CheckIn):
        look = say("history_look", given.language)
        return f"{look}: "
    return f"`{job_id}` {in_short(job, MOST_NAME)}: "


def _line(firing: Firing, name: str, zone: ZoneInfo, language: Language, now: float) -> str:
    when = slot_words(firing.due, zone, language, now)
    return f"- {name}{when} – {', '.join(_outcome(firing, language))}"


def _outcome(firing: Firing, language: Language) -> Sequence[str]:
    """Return the outcome of the firing, and that of its message."""
    parts = [say(_STATES[firing.state], language)]
    if firing.error:
        parts[0] += f" ({literal(one_line(firing.error, MOST_ERROR))})"
    if firing.delivery in _DELIVERIES:
        sent = say(_DELIVERIES[firing.delivery], language)
        why = f" ({literal(one_line(firing.delivery_error, MOST_ERROR))})" if firing.delivery_error else ""
        parts.append(f"{sent}{why}")
    if firing.is_by_hand:
        parts.append(say("rehearsal" if firing.is_rehearsal else "by_hand", language))
    if firing.began is not None and firing.ended is not None and firing.tokens:
        minutes, seconds = divmod(round(firing.ended - firing.began), 60)
        parts.append(f"{minutes}:{seconds:02}")
    if firing.tokens:
        parts.append(cost_words(Cost(firing.tokens, None, 1), language))
    if firing.cost_usd:
        parts.append(cost_words(Cost(firing.tokens, firing.cost_usd, 1), language))
    return parts
