"""Notifies owners, and of some matters admins too, in their private chats."""

import asyncio
from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from functools import partial

import structlog
from msgspec.structs import replace

from agent_core.background import Background
from agent_core.origin import NOT_KNOWN
from channels.base import Button, ChannelError, ChatKey, OutboundMessage
from channels.capabilities import FindsPrivateChats
from gateway.delivery.attempts import Unconfirmed
from gateway.delivery.delivery import Delivery
from gateway.permissions.roles import Role, Roles
from gateway.settings.current import CurrentSettings
from gateway.store.person import Account
from gateway.store.rows import STRANGER, Post, PostState
from gateway.store.store import Store
from gateway.texts.say import Language, language_of, say
from gateway.upkeep.readers import Reader, Readers

PATIENCE = 60.0
"""Seconds that a platform has to take a message before another account of the same person is told."""

log = structlog.get_logger(__name__)

NamesAccounts = Callable[[Sequence[Account], Language], OutboundMessage]
Fact = str | int | Callable[[Language], str]


class Owners:
    """Sends each owner one message: where they were heard last, or else on an account on which they can be reached.

    Owners without a private chat get none; that is logged.
    """

    def __init__(
        self,
        roles: Roles,
        readers: Readers,
        store: Store,
        delivery: Delivery,
        current: CurrentSettings,
        new_id: Callable[[], str],
    ) -> None:
        self._roles = roles
        self._readers = readers
        self._store = store
        self._delivery = delivery
        self._current = current
        self._new_id = new_id
        self._telling = Background("notifying an owner failed")
        self._closing = asyncio.Lock()
        """Held while a notice is closed, so that whoever closes it next finds it closed."""
        self._counting = asyncio.Lock()
        """An edit waits until the message was sent."""

    def tell(self, key: str, *, show: str = "", least: Role = Role.OWNER, **facts: Fact) -> None:
        """Send a text to every owner in the background.

        Args:
            key: Key of the text.
            show: Command for a button that shows more.
            least: ADMIN: send it to admins, too.
            facts: Values for the text's placeholders, or functions that return them in a language.
        """
        notice = f"owners-{self._new_id()}"

        def message(language: Language) -> OutboundMessage:
            buttons = ((Button(label=say("look_button", language), action=show),),) if show else ()
            said = {name: fact(language) if callable(fact) else fact for name, fact in facts.items()}
            return OutboundMessage(markdown=say(key, language, **said), buttons=buttons, silent=True)

        self._send_all(f"{notice}:notice:", message, self._readers.having(least))

    def name_of(self, who: str) -> str:
        """Return the name of `platform:id`, or ""."""
        platform, _, key = who.partition(":")
        accounts = (account for person in self._roles.people for account in person.accounts)
        known = ((each.principal.partition(":"), each.name) for each in accounts)
        return next((name for (on, _, rest), name in known if on == platform and rest.rpartition(":")[2] == key), "")

    @property
    def can_be_asked(self) -> bool:
        """True if there is anybody whom `tell_of_stranger` tells."""
        return self._readers.is_anybody()

    def tell_of_stranger(
        self, notice: str, message: Callable[[Language], OutboundMessage], to_namesakes: NamesAccounts
    ) -> None:
        """Send a message about a stranger to every owner and admin in the background; this may be on the page.

        `notice` is its unique name; who got one with this name gets no second one. Owners with accounts that look alike
        and are not linked get the message `to_namesakes` after their first one.
        """

        async def tell() -> None:
            readers = self._readers.having(Role.ADMIN, with_pages=True)
            await asyncio.gather(*(self._send(each, f"{notice}{STRANGER}", message, once=True) for each in readers))
            for reader in self._readers.namesakes():
                name = "namesakes-" + "+".join(sorted(each.principal for each in reader))
                await self._send(reader, f"{name}:notice:", partial(to_namesakes, reader), once=True)

        self._telling.start(tell(), f"tell {notice}")

    def tell_pages(self, notice: str, key: str, **facts: str) -> None:
        """Send a text to the page, whose user owns this machine; `notice` is its unique name."""

        def message(language: Language) -> OutboundMessage:
            return OutboundMessage(markdown=say(key, language, **facts))

        self._send_all(f"{notice}:notice:", message, [page.accounts for page in self._readers.pages])

    def tell_how_many(self, notice: str, message: Callable[[Language], OutboundMessage]) -> None:
        """Send a message as `tell_of_stranger` does, or edit the last one of this name while it has buttons."""

        async def tell() -> None:
            async with self._counting:
                sent = await self._store.outbox.of_run(notice)
                still_open = (each.key.partition(STRANGER)[0] for each in sent if each.message.buttons)
                name = next(still_open, f"{notice}:{self._new_id()}")
                for reader in self._readers.having(Role.ADMIN, with_pages=True):
                    await self._send(reader, f"{name}{STRANGER}", message, once=False)

        self._telling.start(tell(), f"tell {notice}")

    async def correct(self, notice: str, message: Callable[[Language], OutboundMessage]) -> None:
        """Edit what `tell_how_many` sent, where it has buttons still."""
        async with self._counting:
            await self.close_notice(notice, message, only_open=True)

    def tell_account(self, account: Account, notice: str, message: Callable[[Language], OutboundMessage]) -> None:
        """Send a message to one account in the background; `notice` is its unique name."""
        self._send_all(f"{notice}:notice:", message, [[self._readers.page_of(account)]])

    async def close_notice(
        self, notice: str, message: Callable[[Language], OutboundMessage], *, only_open: bool = False
    ) -> None:
        """Replace a message that was sent to several people by another text; `only_open`: if it still has buttons."""
        async with self._closing:
            for post in await self._store.outbox.of_run(notice):
                if only_open and not post.message.buttons:
                    continue
                closed = replace(post, message=message(await self._language_of(post.chat, post.key.rpartition(":")[2])))
                if closed == post:
                    continue
                await self._store.outbox.add([closed])
                self._telling.start(self._delivery.deliver(post.chat, [closed]), f"close {post.key}")

    def tell_admins_once(
        self, notice: str, messages: Mapping[Language, OutboundMessage], besides: ChatKey | None
    ) -> None:
        """Send a message to every owner and admin in the background, unless one with this name was sent before.

        `besides` is a chat that has been told already.
        """
        for reader in self._readers.having(Role.ADMIN):
            sending = self._send(reader, f"owners-{notice}:notice:", messages.__getitem__, once=True, besides=besides)
            self._telling.start(sending, f"tell {reader[0].principal}")

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
        readers: Iterable[Reader],
    ) -> None:
        for reader in readers:
            self._telling.start(self._send(reader, notice, message), f"tell {reader[0].principal}")

    async def _send(
        self,
        reader: Reader,
        notice: str,
        message: Callable[[Language], OutboundMessage],
        *,
        once: bool = False,
        besides: ChatKey | None = None,
    ) -> None:
        """Send a message to the first of somebody's accounts that can be reached, or edit the one of this name."""
        known = [await self._store.outbox.find(f"{notice}{account.principal}") for account in reader]
        before = next((post for post in known if post is not None and post.state is not PostState.FAILED), None)
        if before is not None:
            if not once:
                words = message(await self._language_of(before.chat, before.key.rpartition(":")[2]))
                await self._reaches(replace(before, message=words))
            return
        untried = [account for account, post in zip(reader, known, strict=True) if post is None]
        chats = await self._chats_of(untried if once else reader)
        if besides in chats.values():
            return
        for account, chat in chats.items():
            words = message(await self._language_of(chat, account.principal.rpartition(":")[2]))
            # it may quote names, of people or of a server's tools
            post = Post(f"{notice}{account.principal}", notice.partition(":")[0], chat, words, NOT_KNOWN)
            if await self._reaches(post):
                return

    async def _reaches(self, post: Post) -> bool:
        """Store and send a post. Returns False if it has certainly not arrived within `PATIENCE`."""
        await self._store.outbox.add([post])
        sending = self._telling.start(self._delivery.attempt(post.chat, [post]), f"send {post.key}")
        done, _ = await asyncio.wait([sending], timeout=PATIENCE)
        return bool(done) and (sending.result() is None or isinstance(sending.result(), Unconfirmed))

    async def _chats_of(self, reader: Reader) -> dict[Account, ChatKey]:
        found = [(account, await self._chat_of(account)) for account in reader]
        return {account: chat for account, chat in found if chat is not None and self._delivery.knows(chat)}

    async def _chat_of(self, account: Account) -> ChatKey | None:
        platform, person = account.principal.partition(":")[0], account.principal.rpartition(":")[2]
        return account.chat or await self._private_chat(platform, person)

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


class PairingCode:
    """Shows each code on the console, and the first one on the page, where /pair shows the later ones."""

    def __init__(
        self, platforms: Collection[str], owners: Owners, current: CurrentSettings, console: Callable[[str], None]
    ) -> None:
        self._platforms = platforms
        self._owners = owners
        self._current = current
        self._console = console

    def __call__(self, code: str, is_first: bool) -> None:  # noqa: FBT001
        platforms = ", ".join(self._platforms)
        self._console(say("pair_no_owner", self._current.language, platforms=platforms, code=code).replace("`", ""))
        if is_first:
            self._owners.tell_pages(f"pairing-{code}", "pair_no_owner", platforms=platforms, code=code)
