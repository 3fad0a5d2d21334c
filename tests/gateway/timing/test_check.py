"""Rules that cannot be kept are refused with the reason."""

from zoneinfo import ZoneInfo

import pytest
from hypothesis import given
from hypothesis import strategies as st

from gateway.schedule.times.slots import check_rule, next_slot
from gateway.store.rule import BadRule, Cron, Every, Once, Rule
from gateway.texts.say import LANGUAGES, say

BERLIN = ZoneInfo("Europe/Berlin")
NOW = 1_795_348_800.0


def refused(rule: Rule) -> str:
    with pytest.raises(BadRule) as caught:
        check_rule(rule, BERLIN, NOW)
    assert all(say(caught.value.key, language, **caught.value.facts) for language in LANGUAGES)
    return caught.value.key


@pytest.mark.parametrize(
    ("expression", "why"),
    [
        ("0 9 31 2 *", "rule_never"),
        ("0 9 30 2 *", "rule_never"),
        ("0 9 31 4,6 *", "rule_never"),
        ("0 9 32 * *", "bad_cron_day"),
        ("60 9 * * *", "bad_cron_minute"),
        ("0 24 * * *", "bad_cron_hour"),
        ("0 9 * 13 *", "bad_cron_month"),
        ("0 9 * * 8", "bad_cron_weekday"),
        ("0 9 * * someday", "bad_cron_weekday"),
        ("0 0 9 * * *", "bad_cron_fields"),
        ("0 9 * *", "bad_cron_fields"),
        ("", "bad_cron_fields"),
        ("@daily", "bad_cron_fields"),
        ("*/0 * * * *", "bad_cron_minute"),
        ("0 9 * * ５", "bad_cron"),
        (f"{'9' * 5000} * * * *", "bad_cron"),
    ],
)
def test_what_cron_cannot_mean_is_refused(expression: str, why: str) -> None:
    assert refused(Cron(expression=expression)) == why


@pytest.mark.parametrize("expression", ["0 9 29 2 *", "0 9 * * 1-5", "0 9 * * MON-FRI", "0 9 L * *", "0 9 * * 5#3"])
def test_what_cron_can_mean_is_taken(expression: str) -> None:
    check_rule(Cron(expression=expression), BERLIN, NOW)


@pytest.mark.parametrize(
    ("rule", "why"),
    [
        (Once(at=NOW), "rule_past"),
        (Once(at=NOW - 1), "rule_past"),
        (Once(at=float("nan")), "rule_past"),
        (Once(at=float("inf")), "rule_too_far"),
        (Once(at=1e300), "rule_too_far"),
        (Every(seconds=10**18, since=NOW), "rule_too_seldom"),
        (Every(seconds=60, since=float("nan")), "rule_too_seldom"),
        (Every.model_construct(seconds=0, since=NOW), "rule_too_often"),
    ],
)
def test_moments_and_intervals_have_bounds(rule: Rule, why: str) -> None:
    assert refused(rule) == why


@given(st.text(st.sampled_from("0123456789*/,-#LWMONJA "), max_size=30) | st.text(max_size=20))
def test_whatever_is_taken_for_cron_is_due_some_day(expression: str) -> None:
    rule = Cron(expression=expression)
    try:
        check_rule(rule, BERLIN, NOW)
    except BadRule:
        return
    assert next_slot(rule, BERLIN, NOW)
