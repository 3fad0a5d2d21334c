"""Usage of agents by day, kind and model: runs, tokens, cost. Without I/O."""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from datetime import date, datetime, timedelta
from zoneinfo import ZoneInfo

from gateway.store.runs import UsageRow


@dataclass(frozen=True)
class Used:
    """A sum of usage."""

    runs: int = 0
    tokens: int = 0
    cost_usd: float = 0.0

    def with_(self, row: UsageRow) -> "Used":
        return Used(self.runs + row.runs, self.tokens + row.tokens, self.cost_usd + row.cost_usd)


def midnight(now: float, zone: ZoneInfo, days: int) -> float:
    """Return when the first of the last `days` days began, today included."""
    first = datetime.fromtimestamp(now, zone).date() - timedelta(days=days - 1)
    return datetime.combine(first, datetime.min.time(), zone).timestamp()


def usage_text(rows: Iterable[UsageRow], zone: ZoneInfo, now: float, days: int, whose: str) -> str:
    """Return totals, then CSV with a row for each day, including days without usage."""
    today = datetime.fromtimestamp(now, zone).date()
    per_day = {today - timedelta(days=ago): Used() for ago in reversed(range(days))}
    total, kinds, models = Used(), dict[str, Used](), dict[str, Used]()
    for row in rows:
        day = datetime.fromtimestamp(row.at, zone).date()
        per_day[day] = per_day.get(day, Used()).with_(row)
        kinds[row.kind] = kinds.get(row.kind, Used()).with_(row)
        models[row.model or "unknown"] = models.get(row.model or "unknown", Used()).with_(row)
        total = total.with_(row)
    lines = [
        f"Used by {whose}, {min(per_day)} to {max(per_day)} ({zone.key}): {_words(total)}",
        *_table("kind", kinds),
        *_table("model", models),
        "",
        "Per day, as CSV; keep it with write_file to draw it:",
        "day,runs,tokens,cost_usd",
        *(_row(day, used) for day, used in sorted(per_day.items())),
    ]
    return "\n".join(lines)


def _table(what: str, sums: Mapping[str, Used]) -> list[str]:
    most_first = sorted(sums.items(), key=lambda pair: -pair[1].tokens)
    return [f"- {what} {name}: {_words(used)}" for name, used in most_first]


def _words(used: Used) -> str:
    runs = "1 run" if used.runs == 1 else f"{used.runs:,} runs"
    return f"{runs}, {used.tokens:,} tokens, ${used.cost_usd:,.4f}"


def _row(day: date, used: Used) -> str:
    return f"{day},{used.runs},{used.tokens},{used.cost_usd:.4f}"
