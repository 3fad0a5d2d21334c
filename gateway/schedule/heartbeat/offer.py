"""Offers owners a heartbeat, once, in their private chat."""

from channels.base import Button, OutboundMessage, Sender
from gateway.delivery.delivery import Delivery
from gateway.permissions.access import Access
from gateway.schedule.heartbeat.switches import EVERY, Switches, words_of
from gateway.store.job import Heartbeat
from gateway.store.rows import Run
from gateway.store.store import Store
from gateway.texts.say import Language, language_of, say

NAME = "offer"
BUTTONS = (("on", "heartbeat_accept_button"), ("cancel", "heartbeat_decline_button"))


class Offer:
    """Made once per store, unless an owner has used the heartbeat before. It switches nothing on."""

    def __init__(
        self, store: Store, delivery: Delivery, access: Access, switches: Switches, language: Language
    ) -> None:
        """`language` is the one for users whose language is unknown."""
        self._store = store
        self._delivery = delivery
        self._access = access
        self._switches = switches
        self._language = language
        self._is_over = False

    async def answered(self, run: Run) -> None:
        """Send the offer after the first answer to an owner in a private chat on a remote platform."""
        if self._is_over or not self._is_owners_own(run):
            return
        self._is_over = True
        if await self._is_known():
            return
        tag = await self._store.chats.language_of(run.chat, run.person)
        post = words_of(NAME, run.chat, _offer(language_of(tag, self._language)))
        if await self._switches.noted(post):
            self._switches.say(post)

    async def _is_known(self) -> bool:
        """Return True if an owner has a heartbeat anywhere, even one that is off."""
        found = await self._store.heartbeats.all()
        return any(self._access.is_owner(each.chat, Sender(id=each.person, name="")) for each in found)

    def _is_owners_own(self, run: Run) -> bool:
        channel = self._delivery.channel(run.chat)
        own = not channel.limits.is_local and not channel.is_group(run.chat) and run.chat.thread is None
        return own and self._access.is_owner(run.chat, Sender(id=run.person, name=""))


def _offer(language: Language) -> OutboundMessage:
    text = say("heartbeat_offer", language, minutes=EVERY // 60, most=Heartbeat.most_a_day)
    row = tuple(Button(label=say(key, language), action=f"/heartbeat {verb}") for verb, key in BUTTONS)
    return OutboundMessage(markdown=text, buttons=(row,))
