"""Allowances are read in both languages, and whatever is none is refused with a reason."""

import contextlib

import pytest
from hypothesis import given
from hypothesis import strategies as st

from gateway.texts.amounts import (
    MOST,
    USD,
    Allowance,
    BadAmount,
    Period,
    Unit,
    allowance_words,
    exact,
    parse_allowance,
    parse_allowances,
)
from gateway.texts.say import LANGUAGES, say


@pytest.mark.parametrize(
    ("text", "amount"),
    [
        ("5 USD a day", Allowance(Period.DAY, Unit.USD, 5 * USD)),
        ("$0.50 per day", Allowance(Period.DAY, Unit.USD, USD // 2)),
        ("2.5usd/day", Allowance(Period.DAY, Unit.USD, 5 * USD // 2)),
        ("100k tokens a month", Allowance(Period.MONTH, Unit.TOKENS, 100_000)),
        ("monthly 1,500,000 tokens", Allowance(Period.MONTH, Unit.TOKENS, 1_500_000)),
        ("2m tokens every month", Allowance(Period.MONTH, Unit.TOKENS, 2_000_000)),
        ("每天 5 美元", Allowance(Period.DAY, Unit.USD, 5 * USD)),
        ("每月10万词元", Allowance(Period.MONTH, Unit.TOKENS, 100_000)),
        ("５０ＵＳＤ／月", Allowance(Period.MONTH, Unit.USD, 50 * USD)),
        ("20美金/天", Allowance(Period.DAY, Unit.USD, 20 * USD)),
    ],
)
def test_an_allowance_is_read(text: str, amount: Allowance) -> None:
    assert parse_allowance(text) == amount


@pytest.mark.parametrize(
    ("text", "key"),
    [
        ("", "amount_unclear"),
        ("lots", "amount_unclear"),
        ("lots of USD a day", "amount_unclear"),
        ("1e309 USD a day", "amount_unclear"),
        ("NaN USD a day", "amount_unclear"),
        ("inf USD a day", "amount_unclear"),
        ("5 EUR a day", "amount_other_currency"),
        ("€5 a day", "amount_other_currency"),
        ("每天 5 元", "amount_other_currency"),
        ("5 人民币 每天", "amount_other_currency"),
        ("5 bananas", "amount_unclear"),
        ("5 bananas a day", "amount_unclear"),
        ("-1", "amount_not_positive"),
        ("0", "amount_not_positive"),
        ("－１", "amount_not_positive"),
        ("0.0000000001 USD a day", "amount_not_positive"),
        ("9" * 40 + " USD a day", "amount_too_large"),
        ("5 USD", "amount_unclear"),
        ("5 a day", "amount_unclear"),
        ("5 USD a week", "amount_unclear"),
        ("5 6 USD a day", "amount_unclear"),
        ("9" * 400 + " USD a day", "amount_unclear"),
        ("-1 USD a day", "amount_not_positive"),
        ("0 tokens a month", "amount_not_positive"),
        ("0.00 USD a day", "amount_not_positive"),
        ("0.4 tokens a day", "amount_not_positive"),
        ("999999999999 USD a day", "amount_too_large"),
        ("99999999999亿 词元 每天", "amount_too_large"),
    ],
)
def test_anything_else_is_refused_with_a_reason(text: str, key: str) -> None:
    with pytest.raises(BadAmount) as caught:
        parse_allowance(text)

    assert caught.value.key == key
    assert all(say(key, language) for language in LANGUAGES)


@given(st.text(max_size=100))
def test_no_text_does_anything_else(text: str) -> None:
    with contextlib.suppress(BadAmount):
        assert 0 < parse_allowance(text).amount <= MOST * USD


@given(st.sampled_from(Period), st.integers(1, MOST * USD))
def test_a_button_says_exactly_its_amount(period: Period, amount: int) -> None:
    allowance = Allowance(period, Unit.USD, amount)

    assert parse_allowance(exact(allowance)) == allowance
    assert parse_allowance(exact(Allowance(period, Unit.TOKENS, amount % 10**12 + 1))).amount == amount % 10**12 + 1


@given(st.sampled_from(Period), st.integers(1, 10**9), st.sampled_from(LANGUAGES))
def test_what_is_shown_can_be_typed(period: Period, tokens: int, language: str) -> None:
    allowance = Allowance(period, Unit.TOKENS, tokens)

    assert parse_allowance(allowance_words(allowance, language)) == allowance  # type: ignore[arg-type]


def test_settings_may_list_several() -> None:
    assert len(parse_allowances("2 USD a day; 30 USD a month")) == 2
    assert parse_allowances("") == ()
