"""The command behind the buttons of unprompted messages: /proactive. It is not meant to be typed."""

from collections.abc import Awaitable, Callable, Mapping

from gateway.chat.replies import Answer as Reply
from gateway.chat.replies import Rewritten
from gateway.commands.table import Command, Invocation, reply
from gateway.schedule.jobs.feedback import Answer, Feedback, Wish, marked
from gateway.schedule.jobs.firing_messages import COMMAND, Announcer
from gateway.schedule.jobs.jobs import JobRefused
from gateway.store.job import Firing, Job
from gateway.texts.say import say
from gateway.timing.rule import BadRule

LONGEST_NUMBER = 9
"""Digits; limits the number that a typed command may contain."""


async def proactive(given: Invocation) -> Reply:
    verb, _, rest = given.arguments.strip().partition(" ")
    firing, job = await _about(given, next(iter(rest.split()), ""))
    if firing is None or job is None:
        return reply(say("proactive_unknown", given.language))
    key = given.session.key
    action = f"{COMMAND} {given.arguments}"
    shown = await given.desk.store.outbox.pressed(key, given.pressed, action) if given.pressed else None
    if shown is not None and not shown.has_button(action):
        return None  # pressed twice
    try:
        answer = await _obey(given, verb.lower(), rest, Wish(firing, job, given.sender, given.language))
    except (JobRefused, BadRule) as error:
        return reply(say(error.key, given.language, **error.facts))
    if shown is None:
        return reply(answer.mark)
    message = marked(shown.message, firing, answer.mark, answer.buttons)
    # no room for another line; the buttons show the result as well
    if len(given.desk.delivery.masked_channel(key).split(message)) > 1:
        message = message.model_copy(update={"markdown": shown.message.markdown})
    return Rewritten(message)


async def _about(given: Invocation, firing_id: str) -> tuple[Firing | None, Job | None]:
    """Return the firing and its job, or None if it belongs to another chat."""
    store = given.desk.store
    firing = await store.firings.by_id(firing_id)
    if firing is None or firing.chat != given.session.key:
        return None, None
    return firing, await store.jobs.find(firing.job)


async def _obey(given: Invocation, verb: str, rest: str, wish: Wish) -> Answer:
    """Carry out the reaction. Raises JobRefused and BadRule."""
    desk = given.desk
    feedback = Feedback(desk.store, Announcer(desk.store, desk.clock, desk.language), desk.jobs, desk.clock)
    if verb == "snooze":
        _, _, minutes = rest.strip().partition(" ")
        return await feedback.snooze(wish, int(minutes[:LONGEST_NUMBER]) if minutes.isdecimal() else None)
    return await _WISHES.get(verb, Feedback.done)(feedback, wish)


_WISHES: Mapping[str, Callable[[Feedback, Wish], Awaitable[Answer]]] = {
    "keep": Feedback.keep,
    "less": Feedback.less,
    "pause": Feedback.pause,
    "remove": Feedback.remove,
    "weekly": Feedback.weekly,
}

COMMANDS = (
    Command(
        "proactive",
        {"en": "Answer what I said by myself", "zh": "回应我主动发的消息"},
        proactive,
        hidden=True,
    ),
)
