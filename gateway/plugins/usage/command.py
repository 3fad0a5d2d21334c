"""The command /usage: what the models have cost."""

import asyncio
import hashlib
from collections.abc import Callable, Mapping, Sequence
from importlib import import_module
from zoneinfo import ZoneInfo

from channels.attachments import Attachment
from channels.base import OutboundMessage
from channels.text import literal
from gateway.chat.replies import Answer, Unfolded
from gateway.commands.command import Command, Invocation, reply
from gateway.commands.more import short_first
from gateway.delivery.outgoing import write
from gateway.permissions.rights import LOOK, OTHERWISE, Right, Rights
from gateway.permissions.roles import Role
from gateway.plugin import Core
from gateway.records.spending_report import Bar, Span, SpendingReport, Sum, began, first_of, report_of
from gateway.store.budget import Scope, chat_account
from gateway.texts.amounts import Unit, amount_words
from gateway.texts.say import Language, say

_SPANS = {
    Span.DAY: ("day", "today", "daily", "今天", "今日", "天", "日"),
    Span.WEEK: ("week", "weekly", "本周", "周", "七天"),
    Span.MONTH: ("month", "monthly", "本月", "月"),
}
_SCOPES = {
    Scope.PERSON: ("me", "mine", "我", "我的"),
    Scope.CHAT: ("here", "chat", "这里", "本聊天", "本群"),
    Scope.ALL: ("all", "everything", "全部", "所有"),
}
_TITLES = {Scope.PERSON: "usage_of_person", Scope.CHAT: "usage_of_chat", Scope.ALL: "usage_of_all"}
_MORE = frozenset({"more", "更多"})
_MOST_MODELS = 5
OF_ALL = Right("read", Role.ADMIN, Role.ADMIN, refusal="usage_not_yours")


class UsageCommand:
    """The command /usage."""

    def __init__(self, core: Core) -> None:
        self._core = core

    async def usage(self, given: Invocation) -> Answer:
        """Show what was used by the sender, this chat or, for owners and admins, everybody."""
        words = [word for word in given.arguments.lower().split() if word not in _MORE]
        spans = [span for span, names in _SPANS.items() if set(names) & set(words)]
        scopes = [scope for scope, names in _SCOPES.items() if set(names) & set(words)]
        if len(spans) + len(scopes) != len(words):
            return reply(say("usage_usage", given.language, slash=given.slash))
        span, scope = (spans or [Span.WEEK])[0], (scopes or [Scope.PERSON])[0]
        now, zone, language = self._core.clock.time(), self._core.settings.zone, given.language
        since = began(first_of(span, now, zone), zone)
        rows = await self._core.store.spending.usage(since, scope, self._subjects(given, scope))
        report = report_of(rows, span, now, zone)
        long = _text(report, scope, zone, language)
        if not given.arguments.strip():
            short = _text(report, scope, zone, language, is_short=True)
            return short_first(given, "usage", reply(short), reply(long))
        if not report.total.calls:
            return reply(long)
        picture = await asyncio.to_thread(self._draw, report, given.asked)
        found = OutboundMessage(markdown=long, attachments=(picture,))
        return Unfolded(found) if given.pressed else found

    def _subjects(self, given: Invocation, scope: Scope) -> list[str]:
        if scope is Scope.PERSON:
            return self._core.access.accounts(given.chat, given.sender)
        return [chat_account(given.chat).subject] if scope is Scope.CHAT else []

    def _draw(self, report: SpendingReport, asked: str) -> Attachment:
        """Write the chart to a file to be sent. Blocks."""
        draw: Callable[[Sequence[Bar], str], bytes] = import_module("gateway.plugins.usage.chart").bar_chart
        drawn = draw(report.chart(), "USD" if report.unit is Unit.USD else "")
        file = self._core.outgoing / f"usage-{hashlib.sha256(asked.encode()).hexdigest()[:24]}" / "usage.png"
        return write(file, drawn)

    @property
    def command(self) -> Command:
        return Command(
            "usage",
            {"en": "Show what the model has cost", "zh": "查看模型用量和费用"},
            self.usage,
            rights=Rights({Scope.ALL: OF_ALL, OTHERWISE: LOOK}, _form),
            arguments="[me|here|all] [day|week|month|more]",
            example={"en": "here month", "zh": "这里 本月"},
            after="budget",
        )


def _form(arguments: str) -> str:
    """Return the scope of the arguments, if it is that of everybody."""
    return Scope.ALL if set(_SCOPES[Scope.ALL]) & set(arguments.lower().split()) else ""


def _text(report: SpendingReport, scope: Scope, zone: ZoneInfo, language: Language, *, is_short: bool = False) -> str:
    """Return what was used; the short text is without days and models."""
    days = f"{report.first}" if report.first == report.last else f"{report.first} – {report.last}"
    title = say(_TITLES[scope], language, days=days, zone=zone.key)
    if not report.total.calls:
        return f"{title}\n\n{say('usage_none', language)}"
    parts = [title, _words(report.total, language), *([] if is_short else _shares(report, language))]
    if report.total.estimated.tokens:
        estimated = amount_words(report.total.estimated.tokens, Unit.TOKENS, language)
        parts.append(say("usage_estimated", language, tokens=estimated))
    return "\n\n".join(part for part in parts if part)


def _shares(report: SpendingReport, language: Language) -> list[str]:
    """Return the lists of the days, if there are several, and of the models."""
    days = _rows(report.bars, language) if len(report.bars) > 1 else ""
    models = {literal(name): each for name, each in list(report.models.items())[:_MOST_MODELS] if name}
    return [days, _rows(models, language)]


def _rows(sums: Mapping[str, Sum], language: Language) -> str:
    return "\n".join(f"- {name}: {_words(each, language)}" for name, each in sums.items() if each.calls)


def _words(used: Sum, language: Language) -> str:
    """Return a sum in words; one that is partly estimated is marked."""
    about = "≈ " if used.estimated.tokens else ""
    key = "usage_words_one" if used.calls == 1 else "usage_words"
    return about + say(
        key,
        language,
        calls=f"{used.calls:,}",
        tokens=amount_words(used.spent.tokens, Unit.TOKENS, language),
        cost=amount_words(used.spent.cost, Unit.USD, language),
    )
