"""Chooses whose tokens an added server is shown, and checks the addresses that such servers may have."""

import asyncio
from collections.abc import Collection, Sequence
from typing import Protocol

import structlog

from agent_core.mcp.grants import OAuthClient, SignInFailed, Tokens, oauth_client
from agent_core.tools.tool import ToolContext, ToolFailed
from agent_core.tools.web.fetch import MayReach
from channels.base import ChatKey, Sender
from gateway.permissions.roles import Role
from gateway.plugin import Core
from gateway.plugins.mcp.addresses import may_reach
from gateway.plugins.mcp.settings import McpSettings
from gateway.plugins.mcp.table import RENEW_WITHIN, Account, SignIns, forget
from gateway.runs.added_servers import AddedServer
from gateway.security.sealed import Sealed
from gateway.store.connection import Connection
from gateway.store.owed import Owed

EARLY = 30.0
"""Seconds before their end at which tokens are renewed."""
LOOK_EVERY = 0.2
"""Seconds between two looks at whether another node has renewed tokens."""

log = structlog.get_logger(__name__)


class Asks(Protocol):
    """Asks people to sign in again."""

    async def account(self, account: Account) -> None:
        """Ask whoever has signed in with an account that is refused, unless it is night."""

    async def caller(self, server: str, person: str, context: ToolContext) -> None:
        """Ask in the chat in which a server was called."""


class ServerAccess:
    """The access of a person to a server, or of everybody."""

    def __init__(self, accounts: "ServerAccounts", name: str, person: str) -> None:
        self.hindrance = ""
        """Why tokens cannot be renewed now, though they may be later."""
        self.is_refused = False
        """True once the server has asked for a sign-in, until somebody has signed in, here or on another node."""
        self._shown = ""
        """The tokens, sealed, that were shown last."""
        self._accounts = accounts
        self._name = name
        self._person = person

    @property
    def may_reach(self) -> MayReach:
        return self._accounts.may_reach

    async def token(self) -> str:
        found = await self._accounts.tokens(self._name, self._person)
        if found is None:
            return ""
        account, tokens = found
        if account.tokens != self._shown:  # what the server said of others says nothing of these
            self._shown = account.tokens
            self.signed_in()
        if tokens.until is not None and tokens.refresh and self._accounts.now() > tokens.until - EARLY:
            return await self._renewed(account, tokens) or tokens.access
        return tokens.access

    async def renewed(self, refused: str) -> str:
        found = await self._accounts.tokens(self._name, self._person)
        if found is None:
            return ""
        account, tokens = found
        return tokens.access if tokens.access != refused else await self._renewed(account, tokens)

    def challenged(self, header: str) -> None:
        self.is_refused = not self.hindrance

    def signed_in(self) -> None:
        """Take note that somebody has signed in."""
        self.is_refused, self.hindrance = False, ""

    async def _renewed(self, account: Account, tokens: Tokens) -> str:
        """Return a renewed token; empty if there is none."""
        try:
            access = await self._accounts.renewed(account, tokens)
        except SignInFailed as error:
            self.hindrance = "" if error.is_final else error.fact
            return ""
        self.signed_in()
        return access


class ServerAccounts:
    """The accounts at servers, by server and person; the person is empty where everybody uses one."""

    def __init__(self, core: Core, asks: Asks) -> None:
        self._core = core
        self._asks = asks
        self.rows = core.store.table(SignIns)
        self.may_reach = may_reach(local=core.settings.of(McpSettings).local)
        self.now = core.clock.time
        self._sealed = Sealed(core.home)
        self._access: dict[tuple[str, str], ServerAccess] = {}
        self._people: dict[str, Collection[str]] = {}
        self._masked: set[str] = set()

    def access(self, name: str, server: AddedServer, person: str) -> ServerAccess:
        return self.access_of(name, person)

    def access_of(self, name: str, person: str) -> ServerAccess:
        """Return the access of a person to a server."""
        return self._access.setdefault((name, person), ServerAccess(self, name, person))

    async def signed_in(self, name: str) -> Collection[str]:
        self._people[name] = [each.person for each in await self.rows.accounts(name)]
        return self._people[name]

    def hindrance(self, name: str, person: str) -> str:
        return self.access_of(name, person).hindrance

    def is_refused(self, name: str, person: str) -> bool:
        return self.access_of(name, person).is_refused

    def who_asks(self, server: str, context: ToolContext) -> str:
        if context.chat_id is None or context.user_id is None:
            return ""
        chat, sender = ChatKey.parse(context.chat_id), Sender(id=context.user_id, name="")
        if not may_sign_in(self._core.access.role(chat, sender), of_each=True):
            raise ToolFailed(
                f"the person who asks may not sign in to the MCP server {server}", "tell them that members may"
            )
        mine = self._core.access.accounts(chat, sender)
        return next((each for each in mine if each in self._people.get(server, ())), "")

    async def lack(self, server: str, person: str, context: ToolContext) -> None:
        await self._asks.caller(server, person, context)

    async def tokens(self, name: str, person: str) -> tuple[Account, Tokens] | None:
        """Return the tokens of a person at a server, as any node has kept them last; None if there are none."""
        account = await self.rows.account(name, person)
        if account is None or account.refused:
            return None
        text = await asyncio.to_thread(self._sealed.opened, account.tokens)
        if text is None:
            log.warning("tokens cannot be read with the key of this installation; sign in again", server=name)
            return None
        tokens = Tokens.model_validate_json(text)
        self._mask(tokens)
        return account, tokens

    async def seal(self, text: str) -> str:
        """Return a text as it is kept."""
        return await asyncio.to_thread(self._sealed.seal, text)

    async def opened(self, sealed: str) -> str | None:
        """Return a text that was sealed; None if that was done with another key."""
        return await asyncio.to_thread(self._sealed.opened, sealed)

    async def sealed_tokens(self, tokens: Tokens) -> str:
        """Return tokens as they are kept. They are masked everywhere from now on."""
        self._mask(tokens)
        return await self.seal(tokens.model_dump_json())

    async def renewed(self, account: Account, tokens: Tokens) -> str:
        """Renew tokens, on one node at a time, and return the new access. Raises SignInFailed."""
        if not tokens.refresh:
            await self._refuse(account, "it cannot be renewed")
            raise SignInFailed("the access has ended, and cannot be renewed")
        until = self.now() + RENEW_WITHIN
        while not await self.rows.claim(account, self.now()):
            found = await self.tokens(account.server, account.person)
            if found is None:
                raise SignInFailed("nobody is signed in any more")
            if found[0].tokens != account.tokens:
                return found[1].access
            if self.now() > until:
                raise SignInFailed("another node renews the tokens", is_final=False)
            await self._core.clock.sleep(LOOK_EVERY)
        oauth = await self.oauth()
        try:
            new = await oauth.renewed(tokens, self.now())
        except SignInFailed as error:
            if error.is_final:
                await self._refuse(account, error.fact)
            else:
                await self.rows.renew(account, account.tokens)
            raise
        await self.rows.renew(account, await self.sealed_tokens(new))
        return new.access

    async def sign_out(self, name: str, person: str, tells: Sequence[Owed] = ()) -> bool:
        """Forget the tokens of a person at a server, and revoke them there. Returns False if that was not confirmed.

        `tells` is what people are told of it.
        """
        found = await self.tokens(name, person)

        def change(connection: Connection) -> Sequence[Owed]:
            forget(connection, name, person)
            return tells

        await self._core.owe(change)
        return found is None or await (await self.oauth()).revoke(found[1])

    async def oauth(self) -> OAuthClient:
        """Return what speaks OAuth."""
        return await oauth_client(self.may_reach)

    async def _refuse(self, account: Account, why: str) -> None:
        log.warning("an MCP server does not let somebody in any more", server=account.server, why=why)
        await self.rows.renew(account, account.tokens, why)
        await self._asks.account(account)

    def _mask(self, tokens: Tokens) -> None:
        for each in (tokens.access, tokens.refresh, tokens.grant.client_secret):
            if each and each not in self._masked:
                self._masked.add(each)
                self._core.secrets.add(each)


def may_sign_in(role: Role | None, *, of_each: bool) -> bool:
    """Return True for people who may sign in to a server: owners for everybody, members for themselves."""
    return role is not None and role.is_at_least(Role.MEMBER if of_each else Role.OWNER)
