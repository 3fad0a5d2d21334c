"""Sums of what each account has used today and this month, in memory. Without I/O."""

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import replace
from datetime import date, datetime, time, timedelta
from zoneinfo import ZoneInfo

from gateway.store.budget import Account, Scope, Spent
from gateway.texts.amounts import Period

NOTHING = Spent()
Change = tuple[tuple[Account, ...], float, Spent]
"""Accounts, the moment at which a call began, and what is added."""


def first_day(day: date, period: Period) -> date:
    """Return the first day of the period that holds a day."""
    return day if period is Period.DAY else day.replace(day=1)


def day_after(day: date, period: Period) -> date:
    """Return the first day of the next period."""
    if period is Period.DAY:
        return day + timedelta(days=1)
    return (day.replace(day=1) + timedelta(days=32)).replace(day=1)


def _alone(principal: str) -> Sequence[str]:
    return (principal,)


class Ledger:
    """What was used in calendar days and months of a time zone. A call belongs to the day on which it began."""

    def __init__(self, zone: ZoneInfo, linked: Callable[[str], Sequence[str]] = _alone) -> None:
        """Create a ledger.

        Args:
            zone: The time zone of days and months.
            linked: Returns the principals of all accounts of the person who has one of them. They share budgets and
                what was used, so that linking accounts gives no one more.
        """
        self.zone = zone
        self._linked = linked
        self._sums: dict[tuple[Period, date], dict[Account, Spent]] = {}
        """By the first day of each period."""
        self._noted: list[Change] | None = None

    def day_of(self, at: float) -> date:
        return datetime.fromtimestamp(at, self.zone).date()

    def begins(self, at: float, period: Period) -> float:
        """Return when the period that holds this moment began."""
        return self._midnight(first_day(self.day_of(at), period))

    def ends(self, at: float, period: Period) -> float:
        """Return when the period that holds this moment ends."""
        return self._midnight(day_after(self.day_of(at), period))

    @contextmanager
    def noted(self) -> Iterator[list[Change]]:
        """Collect what is added from now on, while the sums of before are read."""
        self._noted = []
        try:
            yield self._noted
        finally:
            self._noted = None

    def begin_anew(
        self, zone: ZoneInfo, at: float, sums: Mapping[Period, Mapping[Account, Spent]], later: Iterable[Change]
    ) -> None:
        """Go by the days of a zone, with the sums of the periods that hold this moment and what was added later."""
        self.zone, self._noted = zone, None
        self._sums = {(period, first_day(self.day_of(at), period)): dict(known) for period, known in sums.items()}
        for change in later:
            self.add(*change)

    def add(self, accounts: Iterable[Account], at: float, spent: Spent) -> None:
        """Add to the accounts what a call that began at this moment has used; also a negative correction."""
        day, accounts = self.day_of(at), tuple(accounts)
        if self._noted is not None:
            self._noted.append((accounts, at, spent))
        for period in Period:
            self._add((period, first_day(day, period)), accounts, spent)

    def learn(self, account: Account, at: float, period: Period, used: Spent) -> None:
        """Take over what all nodes have used of an account and those that share budgets with it."""
        if (known := self.used(account, at, period)) != used:
            self._add((period, first_day(self.day_of(at), period)), [account], used - known)

    def used(self, account: Account, at: float, period: Period) -> Spent:
        """Return what the account has used in the period that holds this moment, with what is reserved."""
        sums = self._sums.get((period, first_day(self.day_of(at), period)), {})
        return sum((sums.get(each, NOTHING) for each in self.shared(account)), NOTHING)

    def shared(self, account: Account) -> list[Account]:
        """Return the accounts that share budgets with this one, itself among them."""
        if account.scope is not Scope.PERSON:
            return [account]
        return [replace(account, subject=each) for each in self._linked(account.subject)]

    @property
    def accounts(self) -> set[Account]:
        """Return the accounts that have been charged lately."""
        return {account for sums in self._sums.values() for account in sums}

    def _add(self, key: tuple[Period, date], accounts: Iterable[Account], spent: Spent) -> None:
        if key not in self._sums:
            self._begin(key)
        sums = self._sums[key]
        for account in accounts:
            sums[account] = sums.get(account, NOTHING) + spent

    def _begin(self, key: tuple[Period, date]) -> None:
        """Begin a period, and forget all of its kind but the one before it."""
        period, _ = key
        kept = sorted(each for each in self._sums if each[0] is period)[-1:]
        self._sums = {each: sums for each, sums in self._sums.items() if each[0] is not period or each in kept}
        self._sums[key] = {}

    def _midnight(self, day: date) -> float:
        return datetime.combine(day, time.min, self.zone).timestamp()
