"""Notifies the owners in their private chats of matters that only they can handle."""

from collections.abc import Callable, Mapping

import structlog

from agent_core.background import Background
from channels.base import Button, ChannelError, ChatKey, OutboundMessage
from channels.capabilities import FindsPrivateChats
from gateway.delivery.delivery import Delivery
from gateway.permissions.roles import People
from gateway.store.rows import Post
from gateway.store.store import Store
from gateway.texts.say import Language, language_of, say

log = structlog.get_logger(__name__)


class Owners:
    """Sends each owner a separate message. Owners without a private chat get none; that is logged."""

    def __init__(
        self, people: People, store: Store, delivery: Delivery, language: Language, new_id: Callable[[], str]
    ) -> None:
        self._people = people
        self._store = store
        self._delivery = delivery
        self._language = language
        self._new_id = new_id
        self._telling = Background("notifying an owner failed")

    def tell(self, key: str, *, show: str = "", **facts: str | int) -> None:
        """Send a text to every owner in the background.

        Args:
            key: Key of the text.
            show: Command for a button that shows more.
            facts: Values for the text's placeholders.
        """
        notice = self._new_id()
        for owner in sorted(self._people.owners):
            self._telling.start(self._tell(owner, notice, (key, facts), show), f"tell {owner}")

    def tell_once(self, notice: str, messages: Mapping[Language, OutboundMessage]) -> None:
        """Send a message to every owner in the background, unless one with this name was sent before."""
        for owner in sorted(self._people.owners):
            self._telling.start(self._tell_once(owner, notice, messages), f"tell {owner}")

    def work_failed(self, name: str, error: Exception) -> None:
        """Report that a background task meant to run forever has failed and is being restarted."""
        self.tell("work_failed", name=name, error=type(error).__name__)

    async def settled(self) -> None:
        """Wait until all notices are sent."""
        await self._telling.join()

    async def close(self) -> None:
        """Cancel sending. Notices already stored are delivered after the next start."""
        await self._telling.stop()

    async def _tell(self, owner: str, notice: str, text: tuple[str, dict[str, str | int]], show: str) -> None:
        platform, _, person = owner.partition(":")
        chat = await self._private_chat(platform, person)
        if chat is None:
            return
        language = language_of(await self._store.chats.language_of(chat, person), self._language)
        key, facts = text
        buttons = ((Button(label=say("look_button", language), action=show),),) if show else ()
        message = OutboundMessage(markdown=say(key, language, **facts), buttons=buttons, silent=True)
        post = Post(f"owners-{notice}:notice:{person}", f"owners-{notice}", chat, message)
        await self._store.outbox.add([post])
        await self._delivery.deliver(chat, [post])

    async def _tell_once(self, owner: str, notice: str, messages: Mapping[Language, OutboundMessage]) -> None:
        platform, _, person = owner.partition(":")
        key = f"owners-{notice}:notice:{person}"
        chat = await self._private_chat(platform, person)
        if chat is None or await self._store.outbox.find(key) is not None:
            return
        language = language_of(await self._store.chats.language_of(chat, person), self._language)
        post = Post(key, f"owners-{notice}", chat, messages[language])
        await self._store.outbox.add([post])
        await self._delivery.deliver(chat, [post])

    async def _private_chat(self, platform: str, person: str) -> ChatKey | None:
        channel = self._delivery.on(platform)
        if not isinstance(channel, FindsPrivateChats):
            return None
        try:
            return await channel.private_chat(person)
        except ChannelError as error:
            log.info("an owner's private chat was not found", platform=platform, reason=error.reason)
            return None
