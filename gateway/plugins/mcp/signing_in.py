"""Signs people in to servers and out: the address at which somebody signs in, and the end of it."""

import hashlib
from collections.abc import Sequence

from agent_core.mcp.grants import Begun, SignInFailed
from agent_core.origin import CLEAN
from channels.base import ChannelError, ChatKey, OutboundMessage
from channels.text import in_code, in_link
from gateway.chat.replies import Answer
from gateway.commands.command import Invocation, reply
from gateway.plugin import Core
from gateway.plugins.mcp.accounts import ServerAccounts, may_sign_in
from gateway.plugins.mcp.table import SIGN_IN_WITHIN, SignIn, begin
from gateway.plugins.mcp.texts import reading
from gateway.store.connection import Connection
from gateway.store.owed import Owed
from gateway.store.rows import Post
from gateway.texts.say import say

PATH = "/mcp-sign-in"
LINK = "mcp_link"
"""The kind of what a private chat is owed for a sign-in that was begun in a group: its address."""


class SigningIn:
    """Begins sign-ins, and signs people out."""

    def __init__(self, core: Core, accounts: ServerAccounts) -> None:
        self._core = core
        self._accounts = accounts

    async def sign_in(self, given: Invocation, name: str, _: str) -> Answer:
        """Begin a sign-in, and tell its address to whoever asked for it, alone."""
        wrong = self._wrong(given, name)
        if wrong is not None:
            return wrong
        private = await self._private(given)
        if private is None:
            return _say(given, "mcp_in_no_private_chat")
        server, back = self._core.servers.added[name], f"{self._core.settings.address_for_programs}{PATH}"
        try:
            begun = await (await self._accounts.oauth()).begin(server.url, back)
        except SignInFailed as error:
            return _say(given, "mcp_in_failed", name=name, why=in_code(error.fact))
        access = self._core.access
        person = access.person(given.chat, given.sender) if server.of_each else ""
        row = SignIn(
            digest(begun.state),
            name,
            server.url,
            person,
            access.principal(given.chat, given.sender),
            given.sender.id,
            given.chat,
            given.language,
            await self._accounts.seal(begun.model_dump_json()),
            self._core.clock.time(),
        )

        def change(connection: Connection) -> Sequence[Owed]:
            begin(connection, row)
            return [Owed(LINK, row.state, private)] if private != given.chat else ()

        await self._core.owe(change)
        if private != given.chat:
            return _say(given, "mcp_in_sent", name=name)
        return self._message(row, begun)

    async def link(self, item: Owed) -> Sequence[Post]:
        """Return the message with the address, for somebody alone."""
        row = await self._accounts.rows.sign_in(item.key)
        text = await self._accounts.opened(row.begun) if row and row.begun else None
        if row is None or text is None:
            return ()
        run = f"mcp-link-{item.key[:16]}"
        message = self._message(row, Begun.model_validate_json(text))
        parts = self._core.delivery.masked_channel(item.chat).split(message)
        return [Post(f"{run}:proactive:{number}", run, item.chat, part, CLEAN) for number, part in enumerate(parts)]

    async def sign_out(self, given: Invocation, name: str, _: str) -> Answer:
        """Forget the tokens of a person, or of everybody, and revoke them."""
        server = self._core.servers.added.get(name)
        if server is None:
            return _say(given, "mcp_not_added", name=in_code(name))
        if not server.of_each and not given.is_owner:
            return _say(given, "mcp_in_not_yours")
        mine = self._core.access.accounts(given.chat, given.sender) if server.of_each else [""]
        people = [each.person for each in await self._accounts.rows.accounts(name) if each.person in mine]
        if not people:
            return _say(given, "mcp_out_nobody", name=name)
        revoked = [await self._accounts.sign_out(name, person) for person in people]
        await self._core.servers.tell()
        return _say(given, "mcp_out" if all(revoked) else "mcp_out_here", name=name)

    async def forget(self, name: str) -> None:
        """Sign everybody out of a server."""
        for account in await self._accounts.rows.accounts(name):
            await self._accounts.sign_out(name, account.person)
        await self._accounts.rows.forget(name, None)

    def _wrong(self, given: Invocation, name: str) -> OutboundMessage | None:
        """Return what is said instead of beginning a sign-in."""
        server = self._core.servers.added.get(name)
        if server is None:
            return _say(given, "mcp_not_added", name=in_code(name))
        if not may_sign_in(given.role, of_each=server.of_each):
            return _say(given, "mcp_in_not_yours")
        if not self._core.settings.now.web.enabled:
            return _say(given, "mcp_in_page_off")
        return None

    def _message(self, row: SignIn, begun: Begun) -> OutboundMessage:
        spoken = reading(row.language, self._core.settings.language)
        minutes = round(SIGN_IN_WITHIN / 60)
        link = f"[{say('mcp_in_here', spoken)}]({in_link(begun.address)})"
        words = say("mcp_in_link", spoken, name=row.server, link=link)
        lines = [words, say("mcp_in_minutes", spoken, minutes=minutes)]
        if not (self._core.settings.now.web.programs_url or self._core.settings.now.web.url):
            lines.append(say("mcp_in_local", spoken))
        return OutboundMessage(markdown=" ".join(lines))

    async def _private(self, given: Invocation) -> ChatKey | None:
        try:
            return await self._core.delivery.private_chat(given.chat, given.sender.id)
        except ChannelError:
            return None


def digest(state: str) -> str:
    """Return what is kept of what a browser brings."""
    return hashlib.sha256(state.encode(errors="replace")).hexdigest()


def _say(given: Invocation, key: str, **facts: str | int) -> OutboundMessage:
    return reply(say(key, given.language, slash=given.slash, **facts))
