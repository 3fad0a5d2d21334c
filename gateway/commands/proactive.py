"""The command behind the buttons of unprompted messages: /proactive. It is not meant to be typed."""

from collections.abc import Awaitable, Callable, Mapping

from gateway.chat.replies import Answer as Reply
from gateway.chat.replies import Rewritten
from gateway.commands.command import Command, Invocation, reply
from gateway.delivery.delivery import Delivery
from gateway.schedule.jobs.feedback import Answer, Feedback, Wish, marked
from gateway.schedule.jobs.firing_messages import COMMAND
from gateway.schedule.jobs.jobs import JobRefused
from gateway.store.job import Firing, Job
from gateway.store.rule import BadRule
from gateway.store.store import Store
from gateway.texts.say import say

LONGEST_NUMBER = 9
"""Digits; limits the number that a typed command may contain."""


class ProactiveCommands:
    """The command /proactive."""

    def __init__(self, store: Store, delivery: Delivery, feedback: Feedback) -> None:
        self._store = store
        self._delivery = delivery
        self._feedback = feedback

    async def proactive(self, given: Invocation) -> Reply:
        verb, _, rest = given.arguments.strip().partition(" ")
        firing, job = await self._about(given, next(iter(rest.split()), ""))
        if firing is None or job is None:
            return reply(say("proactive_unknown", given.language))
        key = given.chat
        action = f"{COMMAND} {given.arguments}"
        shown = await self._store.outbox.pressed(key, given.pressed, action) if given.pressed else None
        if shown is not None and not shown.has_button(action):
            return None  # pressed twice
        try:
            answer = await self._obey(verb.lower(), rest, Wish(firing, job, given.sender, given.language))
        except (JobRefused, BadRule) as error:
            return reply(say(error.key, given.language, **error.facts))
        if shown is None:
            return reply(answer.mark)
        message = marked(shown.message, firing, answer.mark, answer.buttons)
        # no room for another line; the buttons show the result as well
        if len(self._delivery.masked_channel(key).split(message)) > 1:
            message = message.model_copy(update={"markdown": shown.message.markdown})
        return Rewritten(message)

    async def _about(self, given: Invocation, firing_id: str) -> tuple[Firing | None, Job | None]:
        """Return the firing and its job, or None if it belongs to another chat."""
        store = self._store
        firing = await store.firings.by_id(firing_id)
        if firing is None or firing.chat != given.chat:
            return None, None
        return firing, await store.jobs.find(firing.job)

    async def _obey(self, verb: str, rest: str, wish: Wish) -> Answer:
        """Carry out the reaction. Raises JobRefused and BadRule."""
        if verb == "snooze":
            _, _, minutes = rest.strip().partition(" ")
            return await self._feedback.snooze(wish, int(minutes[:LONGEST_NUMBER]) if minutes.isdecimal() else None)
        return await _WISHES.get(verb, Feedback.done)(self._feedback, wish)

    @property
    def commands(self) -> tuple[Command, ...]:
        return (
            Command(
                "proactive",
                {"en": "Answer what I said by myself", "zh": "回应我主动发的消息"},
                self.proactive,
                hidden=True,
            ),
        )


_WISHES: Mapping[str, Callable[[Feedback, Wish], Awaitable[Answer]]] = {
    "keep": Feedback.keep,
    "less": Feedback.less,
    "pause": Feedback.pause,
    "remove": Feedback.remove,
    "weekly": Feedback.weekly,
}
