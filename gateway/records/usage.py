"""Usage by day, kind and model, as agents read it: calls of models, tokens, cost. Without I/O."""

from collections.abc import Iterable, Mapping
from datetime import date, datetime, timedelta
from zoneinfo import ZoneInfo

from gateway.records.spending_report import Sum
from gateway.store.spending import Used
from gateway.texts.amounts import USD


def midnight(now: float, zone: ZoneInfo, days: int) -> float:
    """Return when the first of the last `days` days began, today included."""
    first = datetime.fromtimestamp(now, zone).date() - timedelta(days=days - 1)
    return datetime.combine(first, datetime.min.time(), zone).timestamp()


def usage_text(rows: Iterable[Used], zone: ZoneInfo, now: float, days: int, whose: str) -> str:
    """Return totals, then CSV with a row for each day, including days without usage."""
    today = datetime.fromtimestamp(now, zone).date()
    per_day = {today - timedelta(days=ago): Sum() for ago in reversed(range(days))}
    total, kinds, models = Sum(), dict[str, Sum](), dict[str, Sum]()
    for row in rows:
        day = datetime.fromtimestamp(row.at, zone).date()
        per_day[day] = per_day.get(day, Sum()).with_(row)
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
