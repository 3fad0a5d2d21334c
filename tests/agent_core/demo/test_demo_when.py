"""The demo model reads from a message when something is wanted, and what."""

from datetime import UTC, datetime

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from agent_core.demo.when import After, ByCron, Each, OnDay, When, read_when
from tests.cpu import cpu_seconds_at_most

SUNDAY = datetime(2026, 11, 22, 11, 0, tzinfo=UTC)


@pytest.mark.parametrize(
    ("text", "when", "rest"),
    [
        ("in 20 minutes to stretch", After(20), "to stretch"),
        ("to stretch in half an hour", After(30), "to stretch"),
        ("in an hour: tea", After(60), ": tea"),
        ("after 2h to call", After(120), "to call"),
        ("in two weeks to pay", After(20160), "to pay"),
        ("every 30 minutes to drink", Each(30), "to drink"),
        ("every hour to drink", Each(60), "to drink"),
        ("every weekday at nine send me a report", ByCron("0 9 * * 1-5"), "send me a report"),
        ("every monday at 9:15 to water the plants", ByCron("15 9 * * 1"), "to water the plants"),
        ("on fridays at nine thirty to go", ByCron("30 9 * * 5"), "to go"),
        ("daily at 8 pm to read", ByCron("0 20 * * *"), "to read"),
        ("every day at noon to eat", ByCron("0 12 * * *"), "to eat"),
        ("tomorrow at 9 to call Ann", OnDay("+1", 9, 0), "to call Ann"),
        ("to call Ann at 6:30 pm", OnDay("", 18, 30), "to call Ann"),
        ("next monday at 10 to call", OnDay("1", 10, 0), "to call"),
        ("on 2026-12-24 at 18:00 to sing", OnDay("2026-12-24", 18, 0), "to sing"),
        ("20分钟后 喝水", After(20), "喝水"),
        ("半小时后 喝水", After(30), "喝水"),
        ("一个半小时后", After(90), ""),
        ("二十五分钟后", After(25), ""),
        ("每隔30分钟 喝水", Each(30), "喝水"),
        ("每个工作日九点给我发日报", ByCron("0 9 * * 1-5"), "给我发日报"),
        ("每天早上9点半 站会", ByCron("30 9 * * *"), "站会"),
        ("每晚十一点 睡觉", ByCron("0 23 * * *"), "睡觉"),
        ("每周一9点 开会", ByCron("0 9 * * 1"), "开会"),
        ("每个月1号9点 交房租", ByCron("0 9 1 * *"), "交房租"),
        ("明天下午3点 开会", OnDay("+1", 15, 0), "开会"),
        ("下周三十点一刻 开会", OnDay("3", 10, 15), "开会"),
        ("晚上8点 吃药", OnDay("", 20, 0), "吃药"),
        ("call mum", None, "call mum"),
        ("at 25:00 to call", None, "to call"),
    ],
)
def test_a_time_is_found_wherever_it_stands(text: str, when: When | None, rest: str) -> None:
    found, words = read_when(text)

    assert found == when
    assert " ".join(words.split()) == rest


@pytest.mark.parametrize(
    ("when", "moment"),
    [
        (OnDay("", 18, 30), "2026-11-22T18:30"),
        (OnDay("", 9, 0), "2026-11-23T09:00"),
        (OnDay("+0", 12, 0), "2026-11-22T12:00"),
        (OnDay("+1", 9, 0), "2026-11-23T09:00"),
        (OnDay("1", 10, 0), "2026-11-23T10:00"),
        (OnDay("0", 12, 0), "2026-11-22T12:00"),
        (OnDay("0", 9, 0), "2026-11-29T09:00"),
        (OnDay("2026-12-24", 18, 0), "2026-12-24T18:00"),
    ],
)
def test_a_day_is_the_next_one_of_its_name(when: OnDay, moment: str) -> None:
    assert when.moment(SUNDAY) == moment


@settings(max_examples=300)
@given(st.text(alphabet="inatevrydmo to每天个工作日点半后明周一二十0123456789:-h ", max_size=60))
def test_any_words_are_read(text: str) -> None:
    when, _ = read_when(text)
    try:
        moment = when.moment(SUNDAY) if isinstance(when, OnDay) else ""
    except ValueError:
        moment = "no such day"

    assert len(moment) in (0, 11, 16)


def test_very_long_words_are_read_in_no_time() -> None:
    with cpu_seconds_at_most(1):
        read_when("every " * 5_000 + "in " * 5_000)
