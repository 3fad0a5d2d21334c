"""Times beside a wish: the parser finds them and leaves the wish."""

from datetime import datetime
from zoneinfo import ZoneInfo

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from gateway.schedule.times.grammar import read_when
from gateway.schedule.times.words import rule_words
from gateway.store.rule import BadRule
from tests.cpu import cpu_seconds_at_most
from tests.examples import examples

UTC = ZoneInfo("UTC")
SUNDAY = datetime(2026, 11, 22, 11, 0, tzinfo=UTC).timestamp()


@pytest.mark.parametrize(
    ("text", "rule", "rest"),
    [
        ("in 20 minutes to stretch", "on Sun 22 Nov 2026 at 11:20", "stretch"),
        ("to stretch in half an hour", "on Sun 22 Nov 2026 at 11:30", "stretch"),
        ("in an hour: tea", "on Sun 22 Nov 2026 at 12:00", "tea"),
        ("after 2h to call", "on Sun 22 Nov 2026 at 13:00", "call"),
        ("in two weeks to pay", "on Sun 6 Dec 2026 at 11:00", "pay"),
        ("every 30 minutes to drink", "every 30 minutes", "drink"),
        ("every hour to drink", "every hour", "drink"),
        ("every weekday at nine send me a report", "every weekday at 09:00", "send me a report"),
        ("every monday at 9:15 to water the plants", "every Monday at 09:15", "water the plants"),
        ("on fridays at nine thirty to go", "every Friday at 09:30", "go"),
        ("daily at 8 pm to read", "every day at 20:00", "read"),
        ("every day at noon to eat", "every day at 12:00", "eat"),
        ("tomorrow at 9 to call Ann", "on Mon 23 Nov 2026 at 09:00", "call Ann"),
        ("to call Ann at 6:30 pm", "on Sun 22 Nov 2026 at 18:30", "call Ann"),
        ("next monday at 10 to call", "on Mon 23 Nov 2026 at 10:00", "call"),
        ("on 2026-12-24 at 18:00 to sing", "on Thu 24 Dec 2026 at 18:00", "sing"),
        ("20分钟后 喝水", "on Sun 22 Nov 2026 at 11:20", "喝水"),
        ("半小时后 喝水", "on Sun 22 Nov 2026 at 11:30", "喝水"),
        ("一个半小时后", "on Sun 22 Nov 2026 at 12:30", ""),
        ("二十五分钟后", "on Sun 22 Nov 2026 at 11:25", ""),
        ("每隔30分钟 喝水", "every 30 minutes", "喝水"),
        ("每个工作日九点给我发日报", "every weekday at 09:00", "给我发日报"),
        ("每天早上9点半 站会", "every day at 09:30", "站会"),
        ("每晚十一点 睡觉", "every day at 23:00", "睡觉"),
        ("每周一9点 开会", "every Monday at 09:00", "开会"),
        ("每个月1号9点 交房租", "on the 1st of every month at 09:00", "交房租"),
        ("明天下午3点 开会", "on Mon 23 Nov 2026 at 15:00", "开会"),
        ("下周三十点一刻 开会", "on Wed 25 Nov 2026 at 10:15", "开会"),
        ("晚上8点 吃药", "on Sun 22 Nov 2026 at 20:00", "吃药"),
        ("to call Ann at noon", "on Sun 22 Nov 2026 at 12:00", "call Ann"),
        ("at 9:00 to call", "on Sun 22 Nov 2026 at 21:00", "call"),
        ("today at 12:00 to eat", "on Sun 22 Nov 2026 at 12:00", "eat"),
        ("on sunday at 12:00 to eat", "on Sun 22 Nov 2026 at 12:00", "eat"),
        ("on sunday at 9:00 to call", "on Sun 29 Nov 2026 at 09:00", "call"),
    ],
)
def test_a_time_is_found_at_either_end(text: str, rule: str, rest: str) -> None:
    found = read_when(text, UTC, SUNDAY)

    assert (rule_words(found.rule, UTC, "en"), found.rest) == (rule, rest)


@pytest.mark.parametrize(
    "text", ["call mum", "at 25:00 to call", "every monday to call", "on 2026-02-30 at 9:00 to sing"]
)
def test_what_names_no_time_is_refused(text: str) -> None:
    with pytest.raises(BadRule):
        read_when(text, UTC, SUNDAY)


@settings(max_examples=examples(300))
@given(st.text(alphabet="inatevrydmo to每天个工作日点半后明周一二十0123456789:-h ", max_size=60))
def test_any_words_are_read_or_refused(text: str) -> None:
    try:
        found = read_when(text, UTC, SUNDAY)
    except BadRule:
        return

    assert found.rest in text
    assert rule_words(found.rule, UTC, "en")


def test_very_long_words_are_read_in_no_time() -> None:
    with cpu_seconds_at_most(1), pytest.raises(BadRule):
        read_when("every " * 5_000 + "in " * 5_000, UTC, SUNDAY)
