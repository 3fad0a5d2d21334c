"""Phrases that name a time zone: it is read, or asked for, and never passed over."""

from datetime import datetime

import pytest

from gateway.schedule.times.grammar import parse_when, read_when
from gateway.store.rule import BadRule, Once
from tests.cpu import cpu_seconds_at_most
from tests.gateway.jobs.kit import PARIS, moment

NOW = moment("2026-07-01 08:00")
"""In Paris; the same day from Denver to Auckland."""


@pytest.mark.parametrize(
    ("text", "at", "rest"),
    [
        ("9:10 AM ET call Ben", "2026-07-01T09:10-04:00", "call Ben"),
        ("9:10 am et call Ben", "2026-07-01T09:10-04:00", "call Ben"),
        ("9:10 AM PT call Ben", "2026-07-01T09:10-07:00", "call Ben"),
        ("tomorrow at 9:00 MT call Ben", "2026-07-02T09:00-06:00", "call Ben"),
        ("tomorrow at 9:00 CT call Ben", "2026-07-02T09:00-05:00", "call Ben"),
        ("call Ben at 9 AM ET", "2026-07-01T09:00-04:00", "call Ben"),
        ("tomorrow at 5pm Eastern to call Ben", "2026-07-02T17:00-04:00", "call Ben"),
        ("at 5pm Central tomorrow to call Ben", "2026-07-02T17:00-05:00", "call Ben"),
        ("call Ben at 9am Eastern on Friday", "2026-07-03T09:00-04:00", "call Ben"),
        ("9am Mountain Friday call Ben", "2026-07-03T09:00-06:00", "call Ben"),
        ("9:00 in America/New_York call Ben", "2026-07-01T09:00-04:00", "call Ben"),
        ("tomorrow 9:00 America/New_York call Ben", "2026-07-02T09:00-04:00", "call Ben"),
        ("tomorrow 9am Pacific/Auckland call", "2026-07-02T09:00+12:00", "call"),
        ("tomorrow 9:00 GMT+3 call", "2026-07-02T09:00+03:00", "call"),
        ("tomorrow 9:00 UTC+8 call", "2026-07-02T09:00+08:00", "call"),
        ("tomorrow 9:00 (UTC+8) call", "2026-07-02T09:00+08:00", "call"),
        ("tomorrow 9:00 UTC+5:30 call", "2026-07-02T09:00+05:30", "call"),
        ("tomorrow 9:00 GMT-3 call", "2026-07-02T09:00-03:00", "call"),
        ("tomorrow 9:00 +08:00 call", "2026-07-02T09:00+08:00", "call"),
        ("2026-08-01T09:00Z call", "2026-08-01T09:00+00:00", "call"),
        ("at 9pm JST call", "2026-07-01T21:00+09:00", "call"),
        ("tomorrow 9:00 CET call", "2026-07-02T09:00+02:00", "call"),
        ("call Ann tomorrow at 9:00 Tokyo time", "2026-07-02T09:00+09:00", "call Ann"),
        ("tomorrow at 9:00 New York time call Ann", "2026-07-02T09:00-04:00", "call Ann"),
        ("at 9:00 by London time call Ann", "2026-07-01T09:00+01:00", "call Ann"),
        ("tomorrow 9:00 my time call Ann", "2026-07-02T09:00+02:00", "call Ann"),
        ("tomorrow 9:00 local time in Tokyo call Ann", "2026-07-02T09:00+09:00", "call Ann"),
        ("call Ann tomorrow at 9:00 local time in New York", "2026-07-02T09:00-04:00", "call Ann"),
        ("tomorrow 17:00Z call", "2026-07-02T17:00+00:00", "call"),
        ("call mum tomorrow at 17:00 Z", "2026-07-02T17:00+00:00", "call mum"),
        ("2026-08-01T09:00:00Z call", "2026-08-01T09:00+00:00", "call"),
        ("2026-08-01 09:00:00 UTC call", "2026-08-01T09:00+00:00", "call"),
        ("call Ken tomorrow 8am, EST", "2026-07-02T08:00-04:00", "call Ken"),
        ("call Ken tomorrow at 9am, Tokyo time.", "2026-07-02T09:00+09:00", "call Ken"),
        ("6pm tomorrow in the Tokyo time zone call", "2026-07-02T18:00+09:00", "call"),
        ("6pm tomorrow (Tokyo timezone) call", "2026-07-02T18:00+09:00", "call"),
        ("tomorrow 6pm Tokyo local time call", "2026-07-02T18:00+09:00", "call"),
        ("tomorrow 6pm local Tokyo time call", "2026-07-02T18:00+09:00", "call"),
        ("tomorrow 9:00 Tokioter Zeit call", "2026-07-02T09:00+09:00", "call"),
        ("tomorrow at 9:00 MESZ call", "2026-07-02T09:00+02:00", "call"),
        ("tomorrow 9:00 WITA call", "2026-07-02T09:00+08:00", "call"),
        ("tomorrow 9:00 UYT call", "2026-07-02T09:00-03:00", "call"),
        ("noon tomorrow ET call", "2026-07-02T12:00-04:00", "call"),
        ("明天上午9点，按东京时间，开会", "2026-07-02T09:00+09:00", "开会"),
        ("明天上午9点 以纽约时间 开会", "2026-07-02T09:00-04:00", "开会"),
        ("北京时间晚上八点 打电话", "2026-07-01T20:00+08:00", "打电话"),
        ("美国太平洋时间明天下午7点 开会", "2026-07-01T19:00-07:00", "开会"),
        ("北京时间明天上午9点 开会", "2026-07-02T09:00+08:00", "开会"),
        ("明天上午9点北京时间 开会", "2026-07-02T09:00+08:00", "开会"),
        ("明天北京时间上午9点 开会", "2026-07-02T09:00+08:00", "开会"),
        ("明天早上9点(纽约时间)开会", "2026-07-02T09:00-04:00", "开会"),
        ("美国东部时间明天上午9点 开会", "2026-07-02T09:00-04:00", "开会"),
        ("伦敦时间下周一15:00 开会", "2026-07-06T15:00+01:00", "开会"),
        ("明天上午9点 UTC+8 开会", "2026-07-02T09:00+08:00", "开会"),
        ("今晚8点当地时间 开会", "2026-07-01T20:00+02:00", "开会"),
    ],
)
def test_a_zone_in_a_phrase_is_the_clock_of_its_time(text: str, at: str, rest: str) -> None:
    when = read_when(text, PARIS, NOW)
    assert (when.rule, when.rest) == (Once(at=datetime.fromisoformat(at).timestamp()), rest)


@pytest.mark.parametrize(
    ("text", "zone"),
    [
        ("every weekday at 9:00 PT report", "America/Los_Angeles"),
        ("0 9 * * 1-5 America/New_York report", "America/New_York"),
        ("CRON_TZ=Asia/Tokyo 0 9 * * * report", "Asia/Tokyo"),
        ("东京时间每天9点 报告", "Asia/Tokyo"),
        ("every weekday at 9 ET report", "America/New_York"),
        ("every weekday at 17:00Z report", "UTC"),
        ("每个工作日 ET 9点 站会", "America/New_York"),
        ("每周一上午10点（纽约时间）报告", "America/New_York"),
    ],
)
def test_a_recurring_time_keeps_the_zone_that_it_names(text: str, zone: str) -> None:
    found = parse_when(text, PARIS, NOW).zone
    assert found is not None
    assert found.key == zone


@pytest.mark.parametrize(
    ("text", "key"),
    [
        ("tomorrow 9am CST call", "zone_which"),
        ("tomorrow 9am IST call", "zone_which"),
        ("tomorrow 9am BST call", "zone_which"),
        ("明天9点CST开会", "zone_which"),
        ("明天9点美国时间 开会", "zone_which"),
        ("tomorrow 9:00 in Tokyo call Ben", "zone_or_place"),
        ("tomorrow 9am Eastern call", "zone_or_place"),
        ("明天9点在东京 开会", "zone_or_place"),
        ("tomorrow 9:00 Ben's time call", "rule_half_understood"),
        ("tomorrow 9:00 ben's local time call", "rule_half_understood"),
        ("tomorrow 9:00 his time call", "rule_half_understood"),
        ("tomorrow 9:00 local time in Atlantis call", "rule_half_understood"),
        ("tomorrow 9:00 (Tokyo) call Ben", "zone_or_place"),
        ("明天上午9点（东京）开会", "zone_or_place"),
        ("every day at 9:00 ET and 17:00 PT report", "rule_half_understood"),
        ("noon Pacific call Ben", "zone_or_place"),
        ("tomorrow at 8am eastern call", "zone_or_place"),
        ("tomorrow 9:00 tokyo call Ben", "zone_or_place"),
        ("tomorrow 9:00 nyc call Ben", "zone_or_place"),
        ("tomorrow 9:00 NYC call Ben", "zone_or_place"),
        ("tomorrow 9:00 Tokio call Ben", "zone_or_place"),
        ("call Ben tomorrow at 9am in Tokyo", "zone_or_place"),
        ("9:00 PET scan", "zone_or_place"),
        ("明天晚上八点整（东京）开会", "zone_or_place"),
        ("tomorrow 9:00 XST call", "rule_half_understood"),
        ("tomorrow 9:00 server time call", "rule_half_understood"),
        ("tomorrow 9:00 time in Tokyo call", "rule_half_understood"),
        ("tomorrow 9:00 Ortszeit call", "rule_half_understood"),
        ("tomorrow 9:00 Uhr Ben anrufen", "rule_half_understood"),
        ("tomorrow 9:00 Kieler Zeit call", "rule_half_understood"),
        ("tomorrow 9:00 UTC+25 call", "rule_half_understood"),
        ("tomorrow 9:00 UTC+5:20 call", "rule_half_understood"),
        ("tomorrow 9:00 UTC+5.5 call", "rule_half_understood"),
        ("tomorrow 9:00 UTC+5½ call", "rule_half_understood"),
        ("明天9点服务器时间 开会", "rule_half_understood"),
        ("明天9点按月球时间 开会", "rule_half_understood"),
    ],
)
def test_a_zone_that_may_be_several_or_a_place_is_asked_for(text: str, key: str) -> None:
    with pytest.raises(BadRule) as caught:
        read_when(text, PARIS, NOW)
    assert caught.value.key == key


def test_tomorrow_is_confirmed_where_it_is_still_another_day() -> None:
    when = read_when("tomorrow 9:00 PT call Ben", PARIS, NOW)
    assert not when.is_certain
    assert read_when("tomorrow 9:00 ET call Ben", PARIS, NOW).is_certain


@pytest.mark.parametrize(
    "text",
    [
        "2027-03-28 02:30 call",
        "2026-10-25 02:30 call",
        "2027-03-14 02:30 ET call",
        "2026-11-01 01:30 ET call",
        "2026-11-05 9:00 book the EST meeting",
    ],
)
def test_what_clocks_skip_or_show_twice_and_a_zone_in_the_text_are_confirmed(text: str) -> None:
    assert not read_when(text, PARIS, NOW).is_certain


@pytest.mark.parametrize(
    "text", ["2026-10-25 03:00 call", "2027-03-28 04:00 call", "9:00 wake Ben", "9:00 TEST deploy"]
)
def test_what_is_no_zone_stays_certain(text: str) -> None:
    assert read_when(text, PARIS, NOW).is_certain


def test_many_zones_in_a_text_are_read_in_little_time() -> None:
    with cpu_seconds_at_most(1):
        assert read_when("9:00 call " + "x ET " * 60, PARIS, NOW).zone is None
