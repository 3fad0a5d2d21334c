"""No word of a time vanishes: it is part of the rule or of the text, or the person is asked."""

from collections.abc import Sequence
from datetime import datetime
from zoneinfo import ZoneInfo

from hypothesis import given
from hypothesis import strategies as st

from gateway.schedule.times.grammar import parse_when
from gateway.schedule.times.slots import timetable
from gateway.store.rule import BadRule, Cron, Recurrence

BERLIN = ZoneInfo("Europe/Berlin")
NOW = datetime(2026, 11, 22, 12, 0, tzinfo=BERLIN).timestamp()
WISH = "water the plants"
HOURS = st.lists(st.integers(0, 23), min_size=1, max_size=4, unique=True)
ZONES = {"": None, " Tokyo time": "Asia/Tokyo", " PT": "America/Los_Angeles", " UTC": "UTC"}


def named_hours(hours: Sequence[int], style: str, joint: str) -> str:
    words = [{"9": f"{hour}", "9:00": f"{hour}:00", "at 9": f"at {hour}", "点": f"{hour}点"}[style] for hour in hours]
    return joint.join(words)


@given(
    day=st.sampled_from(["every day", "every weekday", "on mondays", "every month on the 3rd", "weekly", "quarterly"]),
    hours=HOURS,
    style=st.sampled_from(["9", "9:00", "at 9"]),
    joint=st.sampled_from(
        [", ", " and ", " & ", ", and ", " or ", "/", " ", " then ", "; ", " + ", " plus ", " as well as ", " | "]
    ),
    zone=st.sampled_from([*ZONES]),
    colon=st.sampled_from([":", ""]),
)
def test_all_hours_and_the_zone_of_an_english_list_are_read_or_asked_for(
    day: str, hours: list[int], style: str, joint: str, zone: str, colon: str
) -> None:
    check(f"{day} at {named_hours(hours, style, joint).removeprefix('at ')}{zone}{colon} {WISH}", hours, ZONES[zone])


@given(
    day=st.sampled_from(["每天", "工作日", "每周一", "每月3号", "每季度", "每3个月"]),
    hours=HOURS,
    style=st.sampled_from(["点", "9", "9:00"]),
    joint=st.sampled_from(["、", "和", "，", " ", "或", "/", "以及", "还有", "再", "加上"]),
    zone=st.sampled_from(["", "北京时间"]),
)
def test_all_hours_and_the_zone_of_a_chinese_list_are_read_or_asked_for(
    day: str, hours: list[int], style: str, joint: str, zone: str
) -> None:
    text = f"{zone}{day}{named_hours(hours, style, joint)}{'点' if style == '9' else ''} {WISH}"
    check(text, hours, "Asia/Shanghai" if zone else None)


def check(text: str, hours: Sequence[int], zone: str | None) -> None:
    try:
        when = parse_when(text, BERLIN, NOW)
    except BadRule:
        return
    assert isinstance(when.rule, Cron | Recurrence)
    read = {at.hour for _, times in timetable(when.rule).rows for at in times}
    assert (read, when.rest, when.zone and when.zone.key) == ({*hours}, WISH, zone)


PIECES = (
    *("every day", "tomorrow", "monday", "in 2 hours", "at 9", "9:00", "and", ",", "17", "5pm", "Tokyo time", "ET"),
    *("quarterly", "every 3 months", "@daily", "0 9 * * *", "in a fortnight", "next week", "until friday", "every"),
    *("except mondays", "in december", "call", "mum", "twice a day", "weekdays", "from 9 to 17", "in the evening"),
    *("每天", "9点", "和", "工作日", "两周后", "开会"),
)


@given(st.lists(st.sampled_from(PIECES), min_size=1, max_size=7))
def test_the_time_and_the_text_cover_all_words(pieces: list[str]) -> None:
    text = " ".join(pieces)
    try:
        when = parse_when(text, BERLIN, NOW)
    except BadRule:
        return

    assert when.rest in text
    if when.zone is None:
        first, last = when.span
        assert f"{text[:first]} {text[last:]}".replace(when.rest, "", 1).strip(" ,") == ""
