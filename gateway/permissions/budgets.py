"""Budgets of model calls: what is reserved, what is left, and who must wait.

The check and the reservation are one step, so any number of chats share a budget safely (`room.py`). A reservation
is on disk before its call is made; one that a crash leaves open counts in full, as an estimate.
"""

import asyncio
from collections.abc import Awaitable, Callable, Iterable, Mapping, Sequence
from dataclasses import replace
from itertools import chain
from zoneinfo import ZoneInfo

from agent_core.background import set_within
from agent_core.clock import Clock, NewId
from agent_core.loop.model_chain import Candidate
from gateway.permissions.budget_notices import BudgetNotices, digest
from gateway.permissions.ledger import Ledger
from gateway.permissions.room import Charged, Lack, Room
from gateway.store.budget import ALL, Account, Budget, Payer, Scope, Spent
from gateway.store.spending import State
from gateway.store.store import Store
from gateway.texts.amounts import Allowance, Period, Unit

NEAR = 0.8
"""Share of a budget from which on people are told, and the cheaper model answers."""


def by_scope(allowances: Callable[[Scope], Sequence[Allowance]]) -> Mapping[Scope, Sequence[Allowance]]:
    """Return the budgets of each scope that has some."""
    return {scope: found for scope in Scope if (found := allowances(scope))}


async def _go_on() -> None:
    """Hold nothing."""


class Budgets:
    """All budgets and accounts of this installation."""

    def __init__(
        self,
        store: Store,
        clock: Clock,
        new_id: NewId,
        room: Room,
        notices: BudgetNotices,
        *,
        defaults: Mapping[Scope, Sequence[Allowance]] | None = None,
        hold: Callable[[], Awaitable[None]] = _go_on,
    ) -> None:
        """Create the budgets.

        Args:
            room: Grants reservations.
            defaults: See the attribute.
            hold: Blocks once the program drains.
        """
        self.ledger = room.ledger
        self.cheaper: Candidate | None = None
        """The model that answers once most of a budget is used."""
        self.defaults = defaults or {}
        """The budgets of all accounts of a scope that have none of their own for the same period and unit, see
        `by_scope`. Replaced as a whole when the settings change."""
        self._store = store
        self._clock = clock
        self._new_id = new_id
        self._notices = notices
        self._room = room
        self._hold = hold
        self._set: dict[Account, tuple[Budget, ...]] = {}
        self._lacking: dict[Account, Lack] = {}
        """Budgets that last had no room for a call, by account; nothing may have been charged to these yet."""
        self._summing = asyncio.Lock()
        self._changed = asyncio.Event()
        """Replaced when it is set: there may be room again."""

    async def load(self) -> None:
        """Settle what the previous process left open, and read the sums and the budgets."""
        await self._store.spending.settle_unknown()
        await self._sum_up(self.ledger.zone)
        await self.reload()

    async def refresh(self) -> None:
        """Read again what is used, before people are shown it, if other nodes add to it."""
        if self._room.is_shared:
            await self._sum_up(self.ledger.zone)

    async def reload(self) -> None:
        """Read the budgets that people have set."""
        found: dict[Account, tuple[Budget, ...]] = {}
        for budget in await self._store.budgets.all():
            found[budget.account] = (*found.get(budget.account, ()), budget)
        self._set = found
        self.wake()

    async def recount(self) -> None:
        """Read the budgets and what is used again, as accounts have other names."""
        await self._sum_up(self.ledger.zone)
        await self.reload()

    async def use_zone(self, zone: ZoneInfo) -> None:
        """Count days and months in another time zone from now on."""
        if zone != self.ledger.zone:
            await self._sum_up(zone)
            self.wake()

    # For people

    def of(self, account: Account) -> list[Budget]:
        """Return the budgets of an account: its own, and the defaults that these do not replace.

        Of the budgets of linked accounts the lowest of each kind applies.
        """
        own = self._own(account) if self._set else ()
        kinds = {(each.allowance.period, each.allowance.unit) for each in own}
        default = (
            Budget(account, each, is_default=True)
            for each in self.defaults.get(account.scope, ())
            if (each.period, each.unit) not in kinds
        )
        return sorted((*own, *default), key=lambda each: each.allowance)

    def used(self, budget: Budget) -> int:
        """Return what is used of the budget in the current period, with what is reserved."""
        return self._used(budget, self._clock.time())

    def needed(self, budget: Budget) -> int:
        """Return what the last call needed for which the budget had no room, or 0."""
        lack = self._lacking.get(budget.account)
        return lack.needed if lack is not None and lack.budget == budget else 0

    async def reserved(self) -> Mapping[Period, Mapping[Account, Spent]]:
        """Return what is reserved for calls that are being made, by the period in which they began."""
        now, reserved = self._clock.time(), self._store.spending.reserved
        return {each: await reserved(self.ledger.begins(now, each)) for each in Period}

    @property
    def accounts(self) -> set[Account]:
        """Return the installation, and all accounts that have a budget of their own, were charged or lacked room."""
        return {ALL, *self._set, *self.ledger.accounts, *self._lacking}

    async def set(self, budget: Budget, by: str) -> None:
        for account in self.ledger.shared(budget.account):
            await self._store.budgets.set(replace(budget, account=account), by)
        await self.reload()

    async def remove(self, account: Account, period: Period | None) -> None:
        """Remove the budgets that people have set for an account, of one period or of all."""
        for each in self.ledger.shared(account):
            await self._store.budgets.remove(each, period)
        await self.reload()

    def named(self, name: str, among: Iterable[Account]) -> Account | None:
        """Return the account with a short name, among those given and those that share budgets with them."""
        known = {each for account in among for each in self.ledger.shared(account)}
        return next((each for each in known if digest(each) == name), None)

    def wake(self) -> None:
        """Let those who wait look again: there may be room."""
        self._changed.set()
        self._changed = asyncio.Event()

    # For agents

    def are_near(self, payer: Payer) -> bool:
        """Return True if most of a budget of the payer is used."""
        now = self._clock.time()
        return any(self._is_near(each, now) for each in self._of(payer))

    async def reserve(self, payer: Payer, model: str, spent: Spent) -> Charged | Lack:
        """Reserve what a call may use at most, if all budgets of the payer have room."""
        charged = Charged(self._new_id(), self._clock.time(), payer, spent)
        lack = await self._room.reserve(charged, model, self._of(payer))
        return charged if lack is None else self._noted(lack)

    def settle(self, charged: Charged, model: str, spent: Spent, state: State) -> None:
        """Replace a reservation by what the call has used."""
        self._room.settle(charged, model, spent, state)
        self.wake()
        now = self._clock.time()
        for budget in self._of(charged.payer):
            if self._is_near(budget, now):
                self._notices.near(budget, charged.payer, self._used(budget, now), self.ledger.day_of(now))

    async def room_for(self, payer: Payer, spent: Spent) -> None:
        """Wait until there is room: a budget was raised, other calls used less, or a period began."""
        while True:
            changed = self._changed
            if (lack := await self._room.lacking(spent, self._of(payer))) is None:
                break
            self._noted(lack)
            now, period = self._clock.time(), lack.budget.allowance.period
            self._notices.used_up(lack.budget, payer, lack.used, lack.needed, self.ledger.day_of(now))
            await set_within(changed, max(1.0, self.ledger.ends(now, period) - now), self._clock)
        await self._hold()

    # Implementation

    async def _sum_up(self, zone: ZoneInfo) -> None:
        """Add up today and this month of a zone. Calls that are made or settled meanwhile are counted exactly once."""
        async with self._summing:
            fresh, now = Ledger(zone), self._clock.time()
            reads = {period: self._store.spending.sums(fresh.begins(now, period)) for period in Period}
            with self.ledger.noted() as later:  # in the same step as the reads are queued behind all earlier changes
                sums = {period: await read for period, read in reads.items()}
                self.ledger.begin_anew(zone, now, sums, later)

    def _noted(self, lack: Lack) -> Lack:
        self._lacking[lack.budget.account] = lack
        return lack

    def _of(self, payer: Payer) -> list[Budget]:
        if not (self._set or self.defaults):
            return []
        return [budget for account in payer.accounts for budget in self.of(account)]

    def _own(self, account: Account) -> list[Budget]:
        lowest: dict[tuple[Period, Unit], Budget] = {}
        for each in chain.from_iterable(self._set.get(shared, ()) for shared in self.ledger.shared(account)):
            kind = each.allowance.period, each.allowance.unit
            if kind not in lowest or each.allowance.amount < lowest[kind].allowance.amount:
                lowest[kind] = replace(each, account=account)
        return list(lowest.values())

    def _used(self, budget: Budget, now: float) -> int:
        return self.ledger.used(budget.account, now, budget.allowance.period).of(budget.allowance.unit)

    def _is_near(self, budget: Budget, now: float) -> bool:
        return self._used(budget, now) >= NEAR * budget.allowance.amount
