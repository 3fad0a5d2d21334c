"""Sums up model calls: totals, bars of a chart, and rows for each bar and model. Without I/O."""

from collections.abc import Iterable, Mapping
from datetime import date, datetime, time, timedelta
from enum import StrEnum
from zoneinfo import ZoneInfo

from msgspec import Struct

from gateway.store.budget import NOTHING, Spent
from gateway.store.spending import Used
from gateway.texts.amounts import USD, Unit
from gateway.texts.moments import moment_at, moment_words

DAYS_OF_WEEK = 7


class Span(StrEnum):
    """Today, the last seven days, or this month."""

    DAY = "day"
    WEEK = "week"
    MONTH = "month"


class Bar(Struct, frozen=True):
    """A bar of a chart; the upper part `estimated` of its value is drawn lighter."""

    label: str
    value: float
    estimated: float = 0.0


class Sum(Struct, frozen=True):
    """A sum of model calls, and the part of it that is estimated."""

    calls: int = 0
    spent: Spent = NOTHING
    estimated: Spent = NOTHING

    def with_(self, used: Used) -> "Sum":
        return Sum(self.calls + used.calls, self.spent + used.spent, self.estimated + used.estimated)


class SpendingReport(Struct, frozen=True):
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
        label = moment_words(row.at, zone, "%H:00" if span is Span.DAY else "%m-%d")
        bars[label] = bars.get(label, Sum()).with_(row)
        models[row.model] = models.get(row.model, Sum()).with_(row)
        total = total.with_(row)
    most_first = dict(sorted(models.items(), key=lambda pair: -pair[1].spent.tokens))
    return SpendingReport(first, today, total, bars, most_first)


def midnight(now: float, zone: ZoneInfo, days: int) -> float:
    """Return when the first of the last `days` days began, today included."""
    first = datetime.fromtimestamp(now, zone).date() - timedelta(days=days - 1)
    return datetime.combine(first, datetime.min.time(), zone).timestamp()


def usage_text(rows: Iterable[Used], zone: ZoneInfo, now: float, days: int, whose: str) -> str:
    """Return usage as agents read it: totals, then CSV with a row for each day, including days without usage."""
    today = datetime.fromtimestamp(now, zone).date()
    per_day = {today - timedelta(days=ago): Sum() for ago in reversed(range(days))}
    total, kinds, models = Sum(), dict[str, Sum](), dict[str, Sum]()
    for row in rows:
        if (moment := moment_at(row.at, zone)) is not None:  # one that is damaged is counted on no day
            per_day[moment.date()] = per_day.get(moment.date(), Sum()).with_(row)
        kinds[row.kind] = kinds.get(row.kind, Sum()).with_(row)
        models[row.model or "unknown"] = models.get(row.model or "unknown", Sum()).with_(row)
        total = total.with_(row)
    lines = [
        f"Used by {whose}, {min(per_day)} to {max(per_day)} ({zone.key}): {_words(total)}",
        *_table("kind", kinds),
        *_table("model", models),
        "",
        "Per day, as CSV; keep it with write_file to draw it:",
        "day,calls,tokens,cost_usd",
        *(_row(day, used) for day, used in sorted(per_day.items())),
    ]
    return "\n".join(lines)


def _table(what: str, sums: Mapping[str, Sum]) -> list[str]:
    most_first = sorted(sums.items(), key=lambda pair: -pair[1].spent.tokens)
    return [f"- {what} {name}: {_words(used)}" for name, used in most_first]


def _words(used: Sum) -> str:
    calls = "1 call" if used.calls == 1 else f"{used.calls:,} calls"
    return f"{calls}, {used.spent.tokens:,} tokens, ${used.spent.cost / USD:,.4f}"


def _row(day: date, used: Sum) -> str:
    return f"{day},{used.calls},{used.spent.tokens},{used.spent.cost / USD:.4f}"
