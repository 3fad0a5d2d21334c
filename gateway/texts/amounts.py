"""Allowances of budgets, such as `5 USD a day`: read from text, and written in both languages. Without I/O."""

import re
import unicodedata
from collections.abc import Mapping
from decimal import Decimal
from enum import StrEnum
from typing import Literal, TypeVar

from msgspec import Struct

from agent_core.late_pattern import LatePattern

T = TypeVar("T", bound=StrEnum)

USD = 1_000_000_000
"""Units of a US dollar: money is counted in whole billionths, so that sums are exact."""
MOST = 10**9
"""The largest amount in dollars; in tokens it is a thousand times as much."""
LONGEST = 80
"""Characters of an allowance."""


class Unit(StrEnum):
    USD = "usd"
    TOKENS = "tokens"


class Period(StrEnum):
    """A calendar period in the installation's time zone."""

    DAY = "day"
    MONTH = "month"


class Allowance(Struct, frozen=True, order=True):
    """An amount that may be used in each period."""

    period: Period
    unit: Unit
    amount: int
    """Tokens, or billionths of a US dollar."""


class BadAmount(ValueError):
    """The text is no allowance; `key` is that of the text that says why."""

    def __init__(self, key: str) -> None:
        super().__init__(key)
        self.key = key


_PERIODS = {
    Period.MONTH: r"(?:\b(?:a|per|each|every)\s+month\b|/\s*month\b|\bmonthly\b|每个?月|一个月|/\s*月)",
    Period.DAY: r"(?:\b(?:a|per|each|every)\s+day\b|/\s*day\b|\bdaily\b|每一?[天日]|一天|/\s*[天日])",
}
_UNITS = {
    Unit.USD: r"(?:us\$|\$|(?<![a-z])(?:us\s*dollars?|usd|dollars?)(?![a-z])|美元|美金)",
    Unit.TOKENS: r"(?:个?(?:(?<![a-z])tokens?(?![a-z])|(?<=k|m)\s*tokens?(?![a-z])|词元))",
}
_NUMBER = LatePattern(r"([-+]?)\s*(\d{1,3}(?:,\d{3})+(?:\.\d+)?|\d+(?:\.\d+)?)\s*(k|m|千|万|百万|千万|亿)?")
_CURRENCY = LatePattern(
    r"[€£¥₹₽₩]|(?<![a-z])(?:eur|euros?|gbp|pounds?|cny|rmb|yuan|jpy|yen|chf|cad|aud|inr|hkd|krw)(?![a-z])"
    r"|人民币|欧元|英镑|日元|港币|港元|块钱?|元"
)
"""Other currencies, in what is left of a text without its US dollars."""
_TIMES = {"k": 10**3, "千": 10**3, "万": 10**4, "m": 10**6, "百万": 10**6, "千万": 10**7, "亿": 10**8}


def parse_allowance(text: str) -> Allowance:
    """Return the allowance in a text such as `5 USD a day` or `每月10万词元`. Raises BadAmount."""
    text = unicodedata.normalize("NFKC", text).lower().strip()
    if len(text) > LONGEST:
        raise BadAmount("amount_unclear")
    period, text = _taken(text, _PERIODS)
    unit, text = _taken(text, _UNITS)
    if unit is None and _CURRENCY.search(text):
        raise BadAmount("amount_other_currency")
    found = _NUMBER.fullmatch(" ".join(text.split()))
    if found is None:
        raise BadAmount("amount_unclear")
    sign, digits, times = found.groups()
    value = Decimal(digits.replace(",", "")) * _TIMES.get(times or "", 1)
    if sign == "-" or not value:
        raise BadAmount("amount_not_positive")
    if period is None or unit is None:
        raise BadAmount("amount_unclear")
    amount = int(value * (USD if unit is Unit.USD else 1))
    if amount < 1:
        raise BadAmount("amount_not_positive")
    if amount > MOST * (USD if unit is Unit.USD else 1000):
        raise BadAmount("amount_too_large")
    return Allowance(period, unit, amount)


def parse_allowances(text: str) -> tuple[Allowance, ...]:
    """Return the allowances of a list such as `2 USD a day; 30 USD a month`, which may be empty. Raises BadAmount."""
    return tuple(parse_allowance(part) for part in re.split("[;；]", text) if part.strip())


def period_of(text: str) -> Period | None:
    """Return the period that the text names, if it names nothing else; None for an empty text. Raises BadAmount."""
    period, rest = _taken(unicodedata.normalize("NFKC", text).lower().strip(), _PERIODS)
    if rest.strip():
        raise BadAmount("amount_unclear")
    return period


_LEAST = Decimal("0.0001")
"""Shown for smaller amounts, as they are not zero."""


def amount_words(amount: int, unit: Unit, language: Literal["en", "zh"]) -> str:
    """Return an amount in words: cents for money, more digits only for less than a cent."""
    if unit is Unit.TOKENS:
        return f"{amount:,} tokens" if language == "en" else f"{amount:,} 词元"
    return f"{money(amount)} USD" if language == "en" else f"{money(amount)} 美元"


def money(amount: int) -> str:
    """Return the dollars of an amount as digits."""
    dollars = Decimal(amount) / USD
    if not amount % USD:
        return f"{dollars:,.0f}"
    if abs(dollars) >= Decimal("0.01"):
        return f"{dollars:,.2f}"
    return f"{max(abs(dollars), _LEAST).copy_sign(dollars):.4f}"


def allowance_words(allowance: Allowance, language: Literal["en", "zh"]) -> str:
    """Return an allowance as it can also be typed: `5 USD a day`, `每天 5 美元`."""
    amount = amount_words(allowance.amount, allowance.unit, language)
    if language == "zh":
        return f"每{'天' if allowance.period is Period.DAY else '月'} {amount}"
    return f"{amount} a {allowance.period}"


def exact(allowance: Allowance) -> str:
    """Return an allowance without rounding and as short as possible, for the action of a button."""
    if allowance.unit is Unit.TOKENS:
        return f"{allowance.amount}tokens/{allowance.period}"
    return f"${(Decimal(allowance.amount) / USD).normalize():f}/{allowance.period}"


def _taken(text: str, patterns: Mapping[T, str]) -> tuple[T | None, str]:
    """Return the first kind whose pattern is in the text, and the text without it."""
    for kind, pattern in patterns.items():
        if found := re.search(pattern, text):
            return kind, f"{text[: found.start()]} {text[found.end() :]}"
    return None, text
