"""Asks people to sign in to a server: at once where one of them called it, and else when it is no night for them."""

from collections.abc import Mapping, Sequence
from functools import partial
from zoneinfo import ZoneInfo

from agent_core.origin import CLEAN
from agent_core.tools.tool import ToolContext
from channels.base import Button, ChatKey, OutboundMessage, Sender
from gateway.plugin import Core
from gateway.plugins.mcp.table import Account, SignIns, ToAsk, asked, is_to_be_asked
from gateway.plugins.mcp.texts import reading
from gateway.runs.owed import Doer
from gateway.schedule.times.quiet import HOUR, QuietHours
from gateway.settings.zone import is_zone
from gateway.store.connection import Connection
from gateway.store.owed import Owed
from gateway.store.rows import Post
from gateway.texts.say import say

KIND = "mcp_sign_in"
NIGHT = QuietHours(22 * HOUR, 8 * HOUR)
"""The hours in which nobody is asked whose chat has no quiet hours of its own."""
LOOK_EVERY = 60.0
AGAIN_AFTER = 3_600.0
"""Seconds after which somebody who calls a server again is asked again."""


class Asking:
    """Asks people to sign in, once for each time that they have to."""

    def __init__(self, core: Core) -> None:
        self._core = core
        self._rows = core.store.table(SignIns)

    @property
    def doers(self) -> Mapping[str, Doer]:
        return {KIND: self.ask}

    async def account(self, account: Account) -> None:
        """Let whoever has signed in be asked, unless it is night."""
        zone = str(self._core.settings.zone)
        await self._note(ToAsk(account.server, account.person, account.principal, account.chat, account.language, zone))

    async def caller(self, server: str, person: str, context: ToolContext) -> None:
        """Let the person be asked for whom a server was called."""
        if context.chat_id is None or context.user_id is None:
            return
        chat, sender = ChatKey.parse(context.chat_id), Sender(id=context.user_id, name="")
        language = await self._core.store.chats.language_of(chat, context.user_id)
        zone = context.zone()
        who = ToAsk(
            server,
            person or self._person(server, chat, sender),
            self._core.access.principal(chat, sender),
            chat,
            reading(language, self._core.settings.language),
            getattr(zone, "key", "") or str(self._core.settings.zone),
        )
        is_talking = context.session_id == (await self._core.store.chats.get(chat)).session
        await self._note(who, at_once=is_talking)

    def _person(self, server: str, chat: ChatKey, sender: Sender) -> str:
        """Return as whom somebody is asked who has not signed in."""
        added = self._core.servers.added.get(server)
        return self._core.access.person(chat, sender) if added is not None and added.of_each else ""

    async def run(self) -> None:
        """Ask those whose night is over, for as long as this runs."""
        while True:
            for who in await self._rows.to_ask():
                if not await self._is_night(who):
                    await self._core.owe(partial(self._asked, who))
            await self._rows.tidy(self._core.clock.time())
            await self._core.clock.sleep(LOOK_EVERY)

    async def ask(self, item: Owed) -> Sequence[Post]:
        """Return the message with the button."""
        server, language, rest = item.key.split(":", 2)
        if server not in self._core.servers.added:
            return ()
        spoken = reading(language, self._core.settings.language)
        button = Button(label=say("mcp_sign_in_button", spoken), action=f"/mcp in {server}", style="primary")
        key = "mcp_sign_in_again" if await self._rows.account(server, rest.rpartition(":")[0]) else "mcp_sign_in_first"
        message = OutboundMessage(markdown=say(key, spoken, name=server), buttons=((button,),))
        run = f"mcp-sign-in-{item.key}"
        parts = self._core.delivery.masked_channel(item.chat).split(message)
        return [Post(f"{run}:proactive:{number}", run, item.chat, part, CLEAN) for number, part in enumerate(parts)]

    async def _note(self, who: ToAsk, *, at_once: bool = False) -> None:
        now = self._core.clock.time()
        if not at_once and await self._is_night(who):
            await self._rows.write(partial(is_to_be_asked, who=who, asked_since=now - AGAIN_AFTER))
            return

        def change(connection: Connection) -> Sequence[Owed]:
            is_news = is_to_be_asked(connection, who, now - AGAIN_AFTER)
            return self._asked(who, connection) if is_news else ()

        await self._core.owe(change)

    def _asked(self, who: ToAsk, connection: Connection) -> Sequence[Owed]:
        now = self._core.clock.time()
        return (
            [Owed(KIND, f"{who.server}:{who.language}:{who.person}:{now}", who.chat)]
            if asked(connection, who, now)
            else ()
        )

    async def _is_night(self, who: ToAsk) -> bool:
        heartbeat = await self._core.store.heartbeats.find(who.chat)
        quiet = (QuietHours.for_all(heartbeat) if heartbeat else None) or NIGHT
        zone = ZoneInfo(who.zone) if is_zone(who.zone) else self._core.settings.zone
        return quiet.holds_at(self._core.clock.time(), zone)
