"""Sums up model calls for /usage: totals, bars of a chart, and rows for each bar and model. Without I/O."""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from datetime import date, datetime, time, timedelta
from enum import StrEnum
from zoneinfo import ZoneInfo

from gateway.store.budget import Spent
from gateway.store.spending import Used
from gateway.texts.amounts import USD, Unit

DAYS_OF_WEEK = 7
NOTHING = Spent()


class Span(StrEnum):
    """Today, the last seven days, or this month."""

    DAY = "day"
    WEEK = "week"
    MONTH = "month"


@dataclass(frozen=True)
class Bar:
    """A bar of a chart; the upper part `estimated` of its value is drawn lighter."""

    label: str
    value: float
    estimated: float = 0.0


@dataclass(frozen=True)
class Sum:
    """A sum of model calls, and the part of it that is estimated."""

    calls: int = 0
    spent: Spent = NOTHING
    estimated: Spent = NOTHING

    def with_(self, used: Used) -> "Sum":
        return Sum(self.calls + used.calls, self.spent + used.spent, self.estimated + used.estimated)


@dataclass(frozen=True)
class SpendingReport:
    """Usage of one account in a span."""

    first: date
    last: date
    total: Sum
    bars: Mapping[str, Sum]
    """By hour of today, or by day."""
    models: Mapping[str, Sum]

    @property
    def unit(self) -> Unit:
        """Return the unit to draw: money, unless everything was free."""
        return Unit.USD if self.total.spent.cost else Unit.TOKENS

    def chart(self) -> list[Bar]:
        size = USD if self.unit is Unit.USD else 1
        return [
            Bar(label, each.spent.of(self.unit) / size, each.estimated.of(self.unit) / size)
            for label, each in self.bars.items()
        ]


def first_of(span: Span, now: float, zone: ZoneInfo) -> date:
    """Return the first day of the span."""
    today = datetime.fromtimestamp(now, zone).date()
    match span:
        case Span.DAY:
            return today
        case Span.WEEK:
            return today - timedelta(days=DAYS_OF_WEEK - 1)
        case Span.MONTH:
            return today.replace(day=1)


def began(day: date, zone: ZoneInfo) -> float:
    return datetime.combine(day, time.min, zone).timestamp()


def report_of(rows: Iterable[Used], span: Span, now: float, zone: ZoneInfo) -> SpendingReport:
    """Sum up rows of a span, with empty bars for hours and days without calls."""
    first, today = first_of(span, now, zone), datetime.fromtimestamp(now, zone).date()
    if span is Span.DAY:
        labels = [f"{hour:02}:00" for hour in range(24)]
    else:
        labels = [f"{first + timedelta(days=each):%m-%d}" for each in range((today - first).days + 1)]
    bars, models, total = dict.fromkeys(labels, Sum()), dict[str, Sum](), Sum()
    for row in rows:
        at = datetime.fromtimestamp(row.at, zone)
        label = f"{at:%H}:00" if span is Span.DAY else f"{at:%m-%d}"
        bars[label] = bars.get(label, Sum()).with_(row)
        models[row.model] = models.get(row.model, Sum()).with_(row)
        total = total.with_(row)
    most_first = dict(sorted(models.items(), key=lambda pair: -pair[1].spent.tokens))
    return SpendingReport(first, today, total, bars, most_first)
