"""Signs people out of servers who have lost the right to sign in there, and tells those whom that affects."""

from collections.abc import Iterator, Mapping, Sequence

import structlog

from agent_core.origin import CLEAN
from channels.base import OutboundMessage, Sender
from channels.text import literal
from gateway.plugin import Core
from gateway.plugins.mcp.accounts import ServerAccounts, may_sign_in
from gateway.plugins.mcp.table import Account
from gateway.plugins.mcp.texts import reading
from gateway.runs.owed import Doer
from gateway.store.owed import Owed
from gateway.store.rows import Post
from gateway.texts.say import say

KIND = "mcp_lost_right"
"""The kind of what somebody is owed who lost the right."""

log = structlog.get_logger(__name__)


class LostRights:
    """Ends the sign-ins of people who have lost the right to them: of members, and of owners for everybody."""

    def __init__(self, core: Core, accounts: ServerAccounts) -> None:
        self._core = core
        self._accounts = accounts

    @property
    def doers(self) -> Mapping[str, Doer]:
        return {KIND: self.told}

    async def end(self) -> None:
        """Sign out people who have lost the right to sign in. Those of platforms that are not connected are left."""
        ended = [
            account
            for name, server in self._core.servers.added.items()
            for account in await self._accounts.rows.accounts(name)
            if self._core.delivery.knows(account.chat) and not self._may_still(account, of_each=server.of_each)
        ]
        for account in ended:
            log.warning("somebody who lost the right is signed out of an MCP server", server=account.server)
            await self._accounts.sign_out(account.server, account.person, [*self._news(account)])
            if not account.person:
                who = literal(self._core.access.name_of(account.principal) or account.principal)
                self._core.owners.tell("mcp_lost_account", show="/mcp", name=account.server, who=who)
        if ended:
            await self._core.servers.tell()

    def _may_still(self, account: Account, *, of_each: bool) -> bool:
        platform, _, rest = account.principal.partition(":")
        sender = Sender(id=rest.rpartition(":")[2] if platform == account.chat.platform else account.principal, name="")
        return may_sign_in(self._core.access.role(account.chat, sender), of_each=of_each)

    def _news(self, account: Account) -> Iterator[Owed]:
        """Yield the news for whoever lost the right, where they signed in, if they may still speak there."""
        is_group, role = self._core.access.is_group(account.chat), self._core.access.role_of(account.principal)
        if role is not None and not is_group:
            yield Owed(KIND, f"{account.server}:{account.language}:{self._core.clock.time()}", account.chat)

    async def told(self, item: Owed) -> Sequence[Post]:
        """Tell somebody that their account is not used any more."""
        server, language, _ = item.key.split(":", 2)
        spoken = reading(language, self._core.settings.language)
        run, message = f"mcp-lost-{item.key}", OutboundMessage(markdown=say("mcp_lost_right", spoken, name=server))
        parts = self._core.delivery.masked_channel(item.chat).split(message)
        return [Post(f"{run}:proactive:{number}", run, item.chat, part, CLEAN) for number, part in enumerate(parts)]
