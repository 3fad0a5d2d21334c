"""The one-time code that makes its sender an owner: shown on the console and the page, said in a direct chat."""

import asyncio
from collections.abc import Callable, Collection

import structlog

from agent_core.background import set_within
from agent_core.clock import Clock
from gateway.permissions.codes import new_code, typed
from gateway.permissions.membership import Membership
from gateway.permissions.roles import Roles
from gateway.store.pairing import Code, Try
from gateway.store.pairing import Pairing as Table
from gateway.store.person import Account

log = structlog.get_logger(__name__)


class Pairing:
    """Shows a code while no platform has an owner, and takes the tries."""

    def __init__(
        self,
        table: Table,
        membership: Membership,
        roles: Roles,
        clock: Clock,
        platforms: Collection[str],
        show: Callable[[str, bool], None],
    ) -> None:
        """Create the pairing.

        Args:
            platforms: The names of the platforms that others can reach.
            show: Shows a code to the operator; the second argument is True for the first one.
        """
        self._table = table
        self._membership = membership
        self._roles = roles
        self._clock = clock
        self._platforms = platforms
        self._show = show
        self._changed = asyncio.Event()

    async def run(self) -> None:
        """Show each new code while there is no owner, until cancelled."""
        shown = ""
        while True:
            self._changed.clear()
            if not self._platforms or self._roles.has_owner(self._platforms):
                await self._changed.wait()
                continue
            code, _ = await self._table.current(new_code())
            if code.text != shown:
                self._show(code.text, not shown)
                shown = code.text
            await set_within(self._changed, max(0.0, code.expires - self._clock.time()), self._clock)

    def look(self) -> None:
        """See if there is another code, or an owner, because another node has changed that."""
        self._changed.set()

    async def code(self) -> Code:
        """Return the valid code, a new one if there is none."""
        code, _ = await self._table.current(new_code())
        return code

    async def outcome(self, event: str) -> Try | None:
        """Return what came of the try of an event, if the event was handled before."""
        found = await self._table.outcome(event)
        return Try(found) if found in list(Try) else None

    async def attempt(self, text: str, account: Account, event: str) -> Try:
        """Take the try of an event in an account's direct chat; the right code makes it an owner.

        An event that is handled again, after a crash, is no further try.
        """
        done = await self._membership.pair(
            account, lambda owner, seen: self._table.attempt(typed(text), account.principal, owner, event, seen)
        )
        if done in (Try.LOCKED, Try.NOW_LOCKED, Try.WRONG):
            log.warning("wrong pairing code", who=account.principal, outcome=done.value)
        self._changed.set()
        return done
