"""Sums of what each account has used today and this month, in memory. Without I/O."""

from collections import defaultdict
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from datetime import date, datetime, time, timedelta
from zoneinfo import ZoneInfo

from msgspec import Struct, field

from gateway.store.budget import Account, Scope, Spent
from gateway.texts.amounts import Period

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


class _Sums(Struct):
    """The sums that accounts have used from one midnight to another."""

    begins: float
    ends: float
    tokens: defaultdict[Account, int] = field(default_factory=lambda: defaultdict(int))
    cost: defaultdict[Account, int] = field(default_factory=lambda: defaultdict(int))

    def add(self, accounts: Iterable[Account], spent: Spent) -> None:
        for account in accounts:
            self.tokens[account] += spent.tokens
            self.cost[account] += spent.cost

    def of(self, accounts: Iterable[Account]) -> Spent:
        """Return what these have used together."""
        known = [each for each in accounts if each in self.tokens]
        return Spent(sum(map(self.tokens.__getitem__, known)), sum(map(self.cost.__getitem__, known)))


class Ledger:
    """Usage by calendar day and month of a time zone. A call belongs to the day on which it began."""

    def __init__(self, zone: ZoneInfo, linked: Callable[[str], Sequence[str]] = _alone) -> None:
        """Create a ledger.

        Args:
            zone: The time zone of days and months.
            linked: Returns the principals of all accounts of the person who has one of them. They share budgets and
                what was used, so that linking accounts gives no one more.
        """
        self.zone = zone
        self._linked = linked
        self._sums: dict[Period, list[_Sums]] = {period: [] for period in Period}
        """The last two days, and the last two months, for which something was added."""
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
        self._sums = {period: [] for period in Period}
        for period, known in sums.items():
            begun = self._begin(period, at)
            for account, spent in known.items():
                begun.add((account,), spent)
        for change in later:
            self.add(*change)

    def add(self, accounts: Iterable[Account], at: float, spent: Spent) -> None:
        """Add to the accounts what a call that began at this moment has used; also a negative correction."""
        accounts = tuple(accounts)
        if self._noted is not None:
            self._noted.append((accounts, at, spent))
        for period in self._sums:
            (self._holding(at, period) or self._begin(period, at)).add(accounts, spent)

    def learn(self, account: Account, at: float, period: Period, used: Spent) -> None:
        """Take over what all nodes have used of an account and those that share budgets with it."""
        if (known := self.used(account, at, period)) != used:
            (self._holding(at, period) or self._begin(period, at)).add((account,), used - known)

    def used(self, account: Account, at: float, period: Period) -> Spent:
        """Return what the account has used in the period that holds this moment, with what is reserved."""
        sums = self._holding(at, period)
        return sums.of(self.shared(account)) if sums else Spent()

    def shared(self, account: Account) -> list[Account]:
        """Return the accounts that share budgets with this one, itself among them."""
        if account.scope is not Scope.PERSON:
            return [account]
        return [account._replace(subject=each) for each in self._linked(account.subject)]

    @property
    def accounts(self) -> set[Account]:
        """Return the accounts that have been charged lately."""
        return {account for known in self._sums.values() for sums in known for account in sums.tokens}

    def _holding(self, at: float, period: Period) -> _Sums | None:
        """Return the sums of the period that holds this moment, if something was added in it."""
        for sums in self._sums[period]:
            if sums.begins <= at < sums.ends:
                return sums
        return None

    def _begin(self, period: Period, at: float) -> _Sums:
        """Begin the sums of a period, and forget those of its kind before the last one.

        Later ones stay: a clock that went wrong has begun them.
        """
        sums = _Sums(self.begins(at, period), self.ends(at, period))
        known = sorted(self._sums[period], key=lambda each: each.begins)
        before = [each for each in known if each.begins < sums.begins]
        self._sums[period] = [*before[-1:], sums, *known[len(before) :]]
        return sums

    def _midnight(self, day: date) -> float:
        return datetime.combine(day, time.min, self.zone).timestamp()
