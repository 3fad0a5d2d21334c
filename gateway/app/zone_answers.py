"""Recognises the name of a place, written as a message, as the answer to the question for a person's time zone."""

from agent_core.clock import Clock
from channels.base import ButtonPressed, MessageReceived, OutboundMessage
from channels.text import literal
from gateway.delivery.delivery import Delivery
from gateway.schedule.jobs.zone_news import zone_buttons
from gateway.schedule.times.zone_names import LONGEST
from gateway.schedule.times.zone_words import zones_answered
from gateway.store.outbox import ASKS_WHERE
from gateway.store.rows import InboxItem, Offered
from gateway.store.store import Store
from gateway.texts.say import Language, say

ASKED_FOR = 24 * 3600.0
"""Seconds after which a name of a place no longer answers the question."""
_MOST_BETWEEN = 20
"""Messages of the chat that are searched for another one of the person."""
_MOST_CHOICES = 4
_MINE = "/tz mine "


class ZoneAnswers:
    """Takes messages as answers to `Where are you?`."""

    def __init__(self, store: Store, delivery: Delivery, clock: Clock) -> None:
        self._store = store
        self._delivery = delivery
        self._clock = clock

    def may_answer(self, event: MessageReceived) -> bool:
        """Return True if a message is the name of a place or a zone, and nothing else."""
        is_alone = not event.attachments and not event.shared and len(event.text) <= LONGEST
        return is_alone and bool(zones_answered(event.text))

    async def meant(
        self, item: InboxItem, event: MessageReceived, language: Language
    ) -> ButtonPressed | OutboundMessage | None:
        """Return the button press that a name stands for, or a question about which zone it is.

        Return None if nobody asked its author for a place, or if they have written something else since.
        """
        await self._delivery.caught_up(event.chat)
        found = await self._store.outbox.offers(event.chat, self._clock.time() - ASKED_FOR, ASKS_WHERE)
        mine = [each for each in found if each.post.message.asks == event.sender.id]
        if not mine or mine[-1].post.message_id is None or not await self._is_next(item, event, mine[-1]):
            return None
        post, zones = mine[-1].post, zones_answered(event.text)
        actions = [each.action for row in post.message.buttons for each in row if each.action.startswith(_MINE)]
        job_id = " ".join(actions[0].removeprefix(_MINE).split()[1:])
        if len(zones) > 1:
            text = say("zone_several", language, name=literal(event.text.strip(" .!。！")))
            buttons = zone_buttons(zones[:_MOST_CHOICES], job_id)
            return OutboundMessage(markdown=text, buttons=buttons, asks=event.sender.id)
        return ButtonPressed(
            event_id=event.event_id,
            chat=event.chat,
            sender=event.sender,
            at=event.at,
            addressed=event.addressed,
            message_id=mine[-1].post.message_id,
            action=f"{_MINE}{zones[0]} {job_id}".strip(),
            by_word=True,
        )

    async def _is_next(self, item: InboxItem, event: MessageReceived, asked: Offered) -> bool:
        """Return True if a message is the first of its author after the question, or a reply to it."""
        if asked.said_at is None or asked.said_at > event.at:
            return False
        if event.reply_to == asked.post.message_id:
            return True
        if event.reply_to not in (None, event.chat.thread):
            return False
        before = await self._store.inbox.before(item, _MOST_BETWEEN)
        return all(each.sender.id != event.sender.id or each.at <= asked.said_at for each in before)
