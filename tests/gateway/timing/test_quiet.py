"""Quiet hours as users write them, across midnight and on days when clocks change."""

from datetime import datetime
from zoneinfo import ZoneInfo

import pytest
from hypothesis import given
from hypothesis import strategies as st

from gateway.schedule.times.quiet import QuietHours, parse_quiet
from gateway.store.rule import BadRule

NEW_YORK = ZoneInfo("America/New_York")


def moment(text: str, fold: int = 0) -> float:
    return datetime.fromisoformat(text).replace(tzinfo=NEW_YORK, fold=fold).timestamp()


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("22-7", "22:00–07:00"),
        ("22:30-7:00", "22:30–07:00"),
        ("from 22 to 7", "22:00–07:00"),
        ("22点到7点半", "22:00–07:30"),
        ("22：30～7：15", "22:30–07:15"),
        ("13 – 14.30", "13:00–14:30"),
        ("22-24", "22:00–00:00"),
    ],
)
def test_quiet_hours_are_read_as_people_write_them(text: str, words: str) -> None:
    hours = parse_quiet(text)

    assert hours is not None
    assert hours.words == words
    assert parse_quiet(words) == hours


@pytest.mark.parametrize("text", ["off", " Off ", "none", "关闭"])
def test_there_need_be_none(text: str) -> None:
    assert parse_quiet(text) is None


@given(st.text(st.sampled_from("0123456789:-点半到至 to"), max_size=20))
@pytest.mark.parametrize("text", ["", "22", "25-7", "22:60-7", "7-7", "0-24", "22-7-9", "tonight"])
def test_anything_else_is_refused(text: str, anything: str) -> None:
    with pytest.raises(BadRule):
        parse_quiet(text)
    try:
        parse_quiet(anything)
    except BadRule:
        return


def test_they_go_across_midnight() -> None:
    hours = QuietHours(22 * 60, 7 * 60)
    times = ("21:59", "22:00", "23:59", "00:00", "06:59", "07:00")

    assert [at for at in times if hours.holds_at(moment(f"2026-11-23 {at}"), NEW_YORK)] == [*times[1:-1]]


def test_they_may_lie_within_a_day() -> None:
    hours = QuietHours(13 * 60, 14 * 60)

    assert hours.holds_at(moment("2026-11-23 13:30"), NEW_YORK)
    assert not hours.holds_at(moment("2026-11-23 14:00"), NEW_YORK)


@pytest.mark.parametrize(
    ("text", "zone"),
    [
        ("22-7 Tokyo time", "Asia/Tokyo"),
        ("22-7 ET", "America/New_York"),
        ("22:00-7:00 America/New_York", "America/New_York"),
        ("22-7 (UTC+8)", "Etc/GMT-8"),
        ("22-7 in Tokyo", "Asia/Tokyo"),
        ("北京时间22点到7点", "Asia/Shanghai"),
        ("22-7 my time", None),
    ],
)
def test_quiet_hours_go_by_the_clock_that_they_name(text: str, zone: str | None) -> None:
    assert parse_quiet(text) == QuietHours(22 * 60, 7 * 60, zone)


def test_quiet_hours_of_another_zone_hold_when_it_is_night_there() -> None:
    there = QuietHours(22 * 60, 7 * 60, "Asia/Tokyo")
    assert there.holds_at(moment("2026-11-23 09:00"), NEW_YORK)
    assert not there.holds_at(moment("2026-11-23 23:00"), NEW_YORK)


def test_a_zone_of_quiet_hours_that_may_be_several_is_asked_for() -> None:
    with pytest.raises(BadRule) as caught:
        parse_quiet("22-7 CST")
    assert caught.value.key == "zone_which"
