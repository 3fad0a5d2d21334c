"""Sums up model calls for the page of costs: by hour or day, and by one property of the calls. Without I/O."""

from collections.abc import Sequence
from datetime import date, timedelta
from functools import cached_property, reduce
from zoneinfo import ZoneInfo

from msgspec import Struct

from gateway.records.spending_report import Sum, began
from gateway.store.budget import NOTHING
from gateway.store.spending import Share
from gateway.texts.amounts import USD, Unit
from gateway.texts.moments import DAY, moment_words

MOST_SERIES = 5
"""Subjects with a colour of their own in a chart; all others share the next one."""


class Days(Struct, frozen=True):
    """A row of calendar days of a time zone."""

    first: date
    last: date
    zone: ZoneInfo

    @property
    def is_one(self) -> bool:
        return self.first == self.last

    @property
    def since(self) -> float:
        return began(self.first, self.zone)

    @property
    def until(self) -> float:
        return began(self.last + timedelta(days=1), self.zone)

    @property
    def labels(self) -> list[str]:
        """Return the hours if it is one day, else the dates."""
        if self.is_one:
            return [f"{hour:02}:00" for hour in range(24)]
        return [f"{self.first + timedelta(days=each)}" for each in range((self.last - self.first).days + 1)]

    def label(self, at: float) -> str:
        return moment_words(at, self.zone, "%H:00" if self.is_one else DAY)


class CostReport(Struct, frozen=True, dict=True):
    """Usage on some days, by one property of the calls."""

    days: Days
    shares: Sequence[Share]

    @cached_property
    def total(self) -> Sum:
        return reduce(_with, self.subjects.values(), Sum())

    @property
    def unit(self) -> Unit:
        """Return the unit to draw: money, unless everything was free."""
        return Unit.USD if self.total.spent.cost else Unit.TOKENS

    @cached_property
    def subjects(self) -> dict[str, Sum]:
        """Return the sum of each subject, what cost most first."""
        sums: dict[str, Sum] = {}
        for each in self.shares:
            sums[each.subject] = _with(sums.get(each.subject, Sum()), each)
        return dict(sorted(sums.items(), key=lambda pair: (-pair[1].spent.cost, -pair[1].spent.tokens, pair[0])))

    @cached_property
    def bars(self) -> dict[str, Sum]:
        """Return the sum of each hour or day, also of those without calls."""
        found = dict.fromkeys(self.days.labels, Sum())
        for each in self.shares:
            label = self._labels[each.at]
            found[label] = _with(found.get(label, Sum()), each)
        return found

    @cached_property
    def _labels(self) -> dict[float, str]:
        """The hour or date of each time at which shares begin, of which many begin together."""
        return {at: self.days.label(at) for at in {each.at for each in self.shares}}

    @cached_property
    def colours(self) -> dict[str, int]:
        """Return the number of each subject's series in the chart, from 1."""
        return {subject: min(rank, MOST_SERIES) + 1 for rank, subject in enumerate(self.subjects)}

    def series(self) -> list[list[float]]:
        """Return the values of each series of a stacked chart, in dollars or tokens, by hour or day."""
        labels, unit = list(self.bars), self.unit
        values = [[0] * len(labels) for _ in range(max(self.colours.values(), default=0))]
        place = {label: index for index, label in enumerate(labels)}
        for each in self.shares:
            values[self.colours[each.subject] - 1][place[self._labels[each.at]]] += each.spent.of(unit)
        size = USD if unit is Unit.USD else 1
        return [[value / size for value in row] for row in values]


def _with(found: Sum, more: Sum | Share) -> Sum:
    estimated = found.estimated if more.estimated is NOTHING else found.estimated + more.estimated
    return Sum(found.calls + more.calls, found.spent + more.spent, estimated)
