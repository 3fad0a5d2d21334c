"""Notifies owners, and of some matters admins too, in their private chats."""

from collections.abc import Callable, Iterable, Mapping
from dataclasses import replace

import structlog

from agent_core.background import Background
from channels.base import Button, ChannelError, ChatKey, OutboundMessage
from channels.capabilities import FindsPrivateChats
from gateway.delivery.delivery import Delivery
from gateway.permissions.roles import Role, Roles
from gateway.settings.current import CurrentSettings
from gateway.store.person import Account
from gateway.store.rows import STRANGER, Post
from gateway.store.store import Store
from gateway.texts.say import Language, language_of, say

log = structlog.get_logger(__name__)


class Owners:
    """Sends each owner a separate message. Owners without a private chat get none; that is logged."""

    def __init__(
        self, roles: Roles, store: Store, delivery: Delivery, current: CurrentSettings, new_id: Callable[[], str]
    ) -> None:
        self._roles = roles
        self._store = store
        self._delivery = delivery
        self._current = current
        self._new_id = new_id
        self._telling = Background("notifying an owner failed")

    def tell(self, key: str, *, show: str = "", **facts: str | int) -> None:
        """Send a text to every owner in the background.

        Args:
            key: Key of the text.
            show: Command for a button that shows more.
            facts: Values for the text's placeholders.
        """
        notice = f"owners-{self._new_id()}"

        def message(language: Language) -> OutboundMessage:
            buttons = ((Button(label=say("look_button", language), action=show),),) if show else ()
            return OutboundMessage(markdown=say(key, language, **facts), buttons=buttons, silent=True)

        self._send_all(f"{notice}:notice:", message, self._roles.accounts(Role.OWNER))

    @property
    def can_be_asked(self) -> bool:
        """True if there is anybody whom `tell_of_stranger` tells."""
        return bool(self._delivery.own_chats or self._roles.accounts(Role.ADMIN))

    def tell_of_stranger(self, notice: str, message: Callable[[Language], OutboundMessage]) -> None:
        """Send a message about a stranger to every owner and admin in the background, also on the page.

        `notice` is its unique name; who got one with this name gets no second one.
        """
        pages = [Account(str(each), chat=each) for each in self._delivery.own_chats]
        self._send_all(f"{notice}{STRANGER}", message, [*self._roles.accounts(Role.ADMIN), *pages], once=True)

    def tell_pages(self, notice: str, key: str, **facts: str) -> None:
        """Send a text to the page, whose user owns this machine; `notice` is its unique name."""
        pages = [Account(str(each), chat=each) for each in self._delivery.own_chats]
        self._send_all(
            f"{notice}:notice:", lambda language: OutboundMessage(markdown=say(key, language, **facts)), pages
        )

    async def close_notice(self, notice: str, message: Callable[[Language], OutboundMessage]) -> None:
        """Replace a message that was sent to several people by another text."""
        for post in await self._store.outbox.of_run(notice):
            closed = replace(post, message=message(await self._language_of(post.chat, post.key.rpartition(":")[2])))
            await self._store.outbox.add([closed])
            self._telling.start(self._delivery.deliver(post.chat, [closed]), f"close {post.key}")

    def tell_admins_once(
        self, notice: str, messages: Mapping[Language, OutboundMessage], besides: ChatKey | None
    ) -> None:
        """Send a message to every owner and admin in the background, unless one with this name was sent before.

        `besides` is a chat that has been told already.
        """
        for account in self._roles.accounts(Role.ADMIN):
            sending = self._send(account, f"owners-{notice}:notice:", messages.__getitem__, once=True, besides=besides)
            self._telling.start(sending, f"tell {account.principal}")

    def work_failed(self, name: str, error: Exception) -> None:
        """Report that a background task meant to run forever has failed and is being restarted."""
        self.tell("work_failed", name=name, error=type(error).__name__)

    async def settled(self) -> None:
        """Wait until all notices are sent."""
        await self._telling.join()

    async def close(self) -> None:
        """Cancel sending. Notices already stored are delivered after the next start."""
        await self._telling.stop()

    def _send_all(
        self,
        notice: str,
        message: Callable[[Language], OutboundMessage],
        accounts: Iterable[Account],
        *,
        once: bool = False,
    ) -> None:
        for account in accounts:
            self._telling.start(self._send(account, notice, message, once=once), f"tell {account.principal}")

    async def _send(
        self,
        account: Account,
        notice: str,
        message: Callable[[Language], OutboundMessage],
        *,
        once: bool = False,
        besides: ChatKey | None = None,
    ) -> None:
        person = account.principal.rpartition(":")[2]
        chat = account.chat or await self._private_chat(account.principal.partition(":")[0], person)
        if chat is None or chat == besides or not self._delivery.knows(chat):
            return
        key = f"{notice}{account.principal}"
        if once and await self._store.outbox.find(key) is not None:
            return
        post = Post(
            key,
            notice.partition(":")[0],
            chat,
            message(await self._language_of(chat, person)),
        )
        await self._store.outbox.add([post])
        await self._delivery.deliver(chat, [post])

    async def _language_of(self, chat: ChatKey, person: str) -> Language:
        return language_of(await self._store.chats.language_of(chat, person), self._current.language)

    async def _private_chat(self, platform: str, person: str) -> ChatKey | None:
        channel = self._delivery.on(platform)
        if not isinstance(channel, FindsPrivateChats):
            return None
        try:
            return await channel.private_chat(person)
        except ChannelError as error:
            log.info("an owner's private chat was not found", platform=platform, reason=error.reason)
            return None
