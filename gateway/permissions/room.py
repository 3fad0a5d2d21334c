"""Checks model calls against budgets and reserves them: in memory, or in the database that nodes share."""

from collections.abc import Sequence
from typing import Protocol

from msgspec import Struct

from agent_core.clock import Clock
from gateway.permissions.ledger import Ledger
from gateway.store.budget import Budget, Payer, Spent
from gateway.store.shared_spending import Answer, Limit, SharedSpending
from gateway.store.spending import Spending, State


class Charged(Struct, frozen=True):
    """A reservation of one model call."""

    id: str
    at: float
    payer: Payer
    spent: Spent


class Lack(Struct, frozen=True):
    """A budget that has no room for a call."""

    budget: Budget
    used: int
    needed: int


class Room(Protocol):
    """Grants reservations, each only if all of its budgets have room. The ledger follows."""

    ledger: Ledger
    is_shared: bool
    """True if other nodes grant some, too."""

    async def reserve(self, charged: Charged, model: str, budgets: Sequence[Budget]) -> Lack | None:
        """Reserve what a call may use at most. Returns the first budget without room; then nothing is reserved."""

    async def lacking(self, spent: Spent, budgets: Sequence[Budget]) -> Lack | None:
        """Return the first budget without room for this."""

    def settle(self, charged: Charged, model: str, spent: Spent, state: State) -> None:
        """Replace a reservation by what the call has used."""


class OwnRoom:
    """Implements `Room` for a process that is alone: the check and the reservation are one step in memory."""

    is_shared = False

    def __init__(self, ledger: Ledger, spending: Spending, clock: Clock) -> None:
        self.ledger = ledger
        self._spending = spending
        self._clock = clock

    async def reserve(self, charged: Charged, model: str, budgets: Sequence[Budget]) -> Lack | None:
        if budgets and (lack := self._lacking(charged.spent, budgets)) is not None:
            return lack
        self.ledger.add(charged.payer.accounts, charged.at, charged.spent)
        is_written = False
        try:
            await self._spending.reserve(charged.id, charged.at, charged.payer, model, charged.spent)
            is_written = True
        finally:
            if not is_written:  # cut off before the call could be made
                self.settle(charged, model, Spent(), "settled")
        return None

    async def lacking(self, spent: Spent, budgets: Sequence[Budget]) -> Lack | None:
        return self._lacking(spent, budgets)

    def settle(self, charged: Charged, model: str, spent: Spent, state: State) -> None:
        self.ledger.add(charged.payer.accounts, charged.at, spent - charged.spent)
        self._spending.settle(charged.id, model, spent, state)

    def _lacking(self, spent: Spent, budgets: Sequence[Budget]) -> Lack | None:
        now = self._clock.time()
        for budget in budgets:
            allowance = budget.allowance
            used, needed = (
                self.ledger.used(budget.account, now, allowance.period).of(allowance.unit),
                spent.of(allowance.unit),
            )
            if used + needed > allowance.amount:
                return Lack(budget, used, needed)
        return None


class SharedRoom:
    """Implements `Room` for nodes that share a database, which makes the check and the reservation one transaction."""

    is_shared = True

    def __init__(self, ledger: Ledger, spending: SharedSpending, clock: Clock) -> None:
        self.ledger = ledger
        self._spending = spending
        self._clock = clock

    async def reserve(self, charged: Charged, model: str, budgets: Sequence[Budget]) -> Lack | None:
        limits, spent = self._limits(budgets, charged.at), charged.spent
        answer: Answer | None = None
        try:
            answer = await self._spending.reserve_within(charged.id, charged.at, charged.payer, model, spent, limits)
        finally:
            if answer is None:  # cut off before the call could be made
                self._spending.settle(charged.id, model, Spent(), "settled")
        self._learn(answer, limits, charged.at)
        if answer.lacking is None:
            self.ledger.add(charged.payer.accounts, charged.at, spent)
        return _lack(answer, limits, spent)

    async def lacking(self, spent: Spent, budgets: Sequence[Budget]) -> Lack | None:
        now = self._clock.time()
        limits = self._limits(budgets, now)
        answer = await self._spending.room(now, spent, limits)
        self._learn(answer, limits, now)
        return _lack(answer, limits, spent)

    def settle(self, charged: Charged, model: str, spent: Spent, state: State) -> None:
        self.ledger.add(charged.payer.accounts, charged.at, spent - charged.spent)
        self._spending.settle(charged.id, model, spent, state)

    def _limits(self, budgets: Sequence[Budget], at: float) -> list[Limit]:
        ledger = self.ledger
        return [
            Limit(
                each,
                tuple(ledger.shared(each.account)),
                ledger.begins(at, each.allowance.period),
                ledger.ends(at, each.allowance.period),
            )
            for each in budgets
        ]

    def _learn(self, answer: Answer, limits: Sequence[Limit], at: float) -> None:
        for limit, used in zip(limits, answer.used, strict=True):
            self.ledger.learn(limit.budget.account, at, limit.budget.allowance.period, used)


def _lack(answer: Answer, limits: Sequence[Limit], spent: Spent) -> Lack | None:
    if answer.lacking is None:
        return None
    budget = limits[answer.lacking].budget
    unit = budget.allowance.unit
    return Lack(budget, answer.used[answer.lacking].of(unit), spent.of(unit))
