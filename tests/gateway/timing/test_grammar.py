"""Times as users write them, in English and Chinese."""

from datetime import datetime
from zoneinfo import ZoneInfo

import pytest
from hypothesis import given
from hypothesis import strategies as st

from gateway.schedule.times.grammar import parse_when
from gateway.schedule.times.slots import upcoming
from gateway.schedule.times.words import rule_words, slot_words
from gateway.store.rule import BadRule, Cron, Every, Once, Rule
from gateway.texts.say import LANGUAGES, Language, say
from tests.gateway.jobs.kit import meaning

BERLIN = ZoneInfo("Europe/Berlin")
NOW = datetime(2026, 11, 22, 12, 0, tzinfo=BERLIN).timestamp()
"""A Sunday."""


def understood(text: str, now: float = NOW) -> tuple[str, str]:
    when = parse_when(text, BERLIN, now)
    return rule_words(when.rule, BERLIN, "en"), when.rest


@pytest.mark.parametrize(
    ("text", "words", "rest"),
    [
        ("in 20m call mum", "on Sun 22 Nov 2026 at 12:20", "call mum"),
        ("me in 2 hours to look", "on Sun 22 Nov 2026 at 14:00", "look"),
        ("in half an hour tea", "on Sun 22 Nov 2026 at 12:30", "tea"),
        ("in an hour and a half tea", "on Sun 22 Nov 2026 at 13:30", "tea"),
        ("1h30m tea", "on Sun 22 Nov 2026 at 13:30", "tea"),
        ("in a month pay", "on Tue 22 Dec 2026 at 12:00", "pay"),
        ("in 2 years and 1 day pay", "on Thu 23 Nov 2028 at 12:00", "pay"),
        ("every weekday at nine x", "every weekday at 09:00", "x"),
        ("tomorrow evening at 8 x", "on Mon 23 Nov 2026 at 20:00", "x"),
        ("monday morning at 9 x", "on Mon 23 Nov 2026 at 09:00", "x"),
        ("in 2 weeks pay", "on Sun 6 Dec 2026 at 12:00", "pay"),
        ("in 3 days at 9:00 pay", "on Wed 25 Nov 2026 at 09:00", "pay"),
        ("at 9:00 x", "on Mon 23 Nov 2026 at 09:00", "x"),
        ("at 13:00 x", "on Sun 22 Nov 2026 at 13:00", "x"),
        ("9 pm x", "on Sun 22 Nov 2026 at 21:00", "x"),
        ("12 am x", "on Mon 23 Nov 2026 at 00:00", "x"),
        ("noon x", "on Mon 23 Nov 2026 at 12:00", "x"),
        ("tonight at 8 x", "on Sun 22 Nov 2026 at 20:00", "x"),
        ("tomorrow 9:00 buy, milk", "on Mon 23 Nov 2026 at 09:00", "buy, milk"),
        ("9:00 tomorrow x", "on Mon 23 Nov 2026 at 09:00", "x"),
        ("tmrw at 9 x", "on Mon 23 Nov 2026 at 09:00", "x"),
        ("at 5 pm tmr x", "on Mon 23 Nov 2026 at 17:00", "x"),
        ("tonite at 9 x", "on Sun 22 Nov 2026 at 21:00", "x"),
        ("at 0900 x", "on Mon 23 Nov 2026 at 09:00", "x"),
        ("tomorrow at 0900 x", "on Mon 23 Nov 2026 at 09:00", "x"),
        ("tomorrow at 18h30 x", "on Mon 23 Nov 2026 at 18:30", "x"),
        ("at 5 pm day after tmrw x", "on Tue 24 Nov 2026 at 17:00", "x"),
        ("at 1830 hours x", "on Sun 22 Nov 2026 at 18:30", "x"),
        ("at 18h30 x", "on Sun 22 Nov 2026 at 18:30", "x"),
        ("at 18h x", "on Sun 22 Nov 2026 at 18:00", "x"),
        ("call mum at 0900", "on Mon 23 Nov 2026 at 09:00", "call mum"),
        ("the day after tomorrow at 9 x", "on Tue 24 Nov 2026 at 09:00", "x"),
        ("monday 9:00 x", "on Mon 23 Nov 2026 at 09:00", "x"),
        ("sunday 9:00 x", "on Sun 29 Nov 2026 at 09:00", "x"),
        ("2026-12-24 9:00 x", "on Thu 24 Dec 2026 at 09:00", "x"),
        ("24 December at 9:00: x", "on Thu 24 Dec 2026 at 09:00", "x"),
        ("Dec 24, 2027 9:00 x", "on Fri 24 Dec 2027 at 09:00", "x"),
        ("29 feb 9:00 x", "on Tue 29 Feb 2028 at 09:00", "x"),
        ("every 30m x", "every 30 minutes", "x"),
        ("every hour x", "every hour", "x"),
        ("every day 9:00 x", "every day at 09:00", "x"),
        ("every evening at 8 x", "every day at 20:00", "x"),
        ("every weekday 9:00 x", "every weekday at 09:00", "x"),
        ("weekdays at 9 x", "every weekday at 09:00", "x"),
        ("every mon, wed and fri 9:00 x", "every Monday, Wednesday and Friday at 09:00", "x"),
        ("every month 1 9:00 x", "on the 1st of every month at 09:00", "x"),
        ("every month on the 15th and 31st at 9:00 x", "on the 15th and 31st of every month at 09:00", "x"),
        ("0 9 * * 1-5 report on x", "every weekday at 09:00", "report on x"),
        ("0 9 * * MON-FRI", "every weekday at 09:00", ""),
        ("1 2 * * * 3 pushups", "every day at 02:01", "3 pushups"),
        ("call mum tomorrow at 9:00.", "on Mon 23 Nov 2026 at 09:00", "call mum"),
        ("remind me to call mum in 20 minutes", "on Sun 22 Nov 2026 at 12:20", "call mum"),
    ],
)
def test_english_is_understood(text: str, words: str, rest: str) -> None:
    assert understood(text) == (words, rest)


@pytest.mark.parametrize(
    ("text", "words", "rest"),
    [
        ("20分钟后提醒我打电话", "on Sun 22 Nov 2026 at 12:20", "打电话"),
        ("提醒我20分钟后打电话", "on Sun 22 Nov 2026 at 12:20", "打电话"),
        ("半个小时后喝水", "on Sun 22 Nov 2026 at 12:30", "喝水"),
        ("一个半小时后喝水", "on Sun 22 Nov 2026 at 13:30", "喝水"),
        ("三天后上午9点交费", "on Wed 25 Nov 2026 at 09:00", "交费"),
        ("一个月后交费", "on Tue 22 Dec 2026 at 12:00", "交费"),
        ("半年后交费", "on Sat 22 May 2027 at 12:00", "交费"),
        ("两周后交费", "on Sun 6 Dec 2026 at 12:00", "交费"),
        ("明天9点开会", "on Mon 23 Nov 2026 at 09:00", "开会"),
        ("明天早上9点半开会", "on Mon 23 Nov 2026 at 09:30", "开会"),
        ("明天９：００开会", "on Mon 23 Nov 2026 at 09:00", "开会"),
        ("今晚八点一刻看电影", "on Sun 22 Nov 2026 at 20:15", "看电影"),
        ("后天下午三点二十分开会", "on Tue 24 Nov 2026 at 15:20", "开会"),
        ("明天中午吃饭", "on Mon 23 Nov 2026 at 12:00", "吃饭"),
        ("9点一起吃饭", "on Mon 23 Nov 2026 at 09:00", "一起吃饭"),
        ("周一9点 x", "on Mon 23 Nov 2026 at 09:00", "x"),
        ("下周三9点 x", "on Wed 25 Nov 2026 at 09:00", "x"),
        ("12月24日9点 x", "on Thu 24 Dec 2026 at 09:00", "x"),
        ("2027年1月31号晚上8点 x", "on Sun 31 Jan 2027 at 20:00", "x"),
        ("每天9点 喝水", "every day at 09:00", "喝水"),
        ("每天早上9点半 喝水", "every day at 09:30", "喝水"),
        ("每晚10点睡觉", "every day at 22:00", "睡觉"),
        ("工作日9:00 站会", "every weekday at 09:00", "站会"),
        ("每周一9点 周会", "every Monday at 09:00", "周会"),
        ("每周一三五 9点 健身", "every Monday, Wednesday and Friday at 09:00", "健身"),
        ("每周一到周五9点 x", "every weekday at 09:00", "x"),
        ("每个月1号和15号9点 x", "on the 1st and 15th of every month at 09:00", "x"),
        ("每月最后一天18:00 x", "on the last day of every month at 18:00", "x"),
        ("每年12月24日9点 x", "every year on 24 December at 09:00", "x"),
        ("每30分钟 x", "every 30 minutes", "x"),
        ("每隔两小时 x", "every 2 hours", "x"),
        ("每半小时 x", "every 30 minutes", "x"),
        ("打电话给妈妈，明天9点", "on Mon 23 Nov 2026 at 09:00", "打电话给妈妈"),
    ],
)
def test_chinese_is_understood(text: str, words: str, rest: str) -> None:
    assert understood(text) == (words, rest)


@pytest.mark.parametrize(
    ("text", "why"),
    [
        ("", "rule_not_understood"),
        ("buy milk", "rule_not_understood"),
        ("tomorrow buy milk", "rule_no_time"),
        ("明天开会", "rule_no_time"),
        ("every monday x", "rule_no_time"),
        ("2020-01-01 9:00 x", "rule_past"),
        ("today at 9:00 x", "rule_past"),
        ("in 0 minutes x", "rule_past"),
        ("99999-12-24 9:00 x", "rule_too_far"),
        ("9999-12-24 9:00 x", "rule_too_far"),
        ("in 999999999 weeks x", "rule_too_far"),
        ("in 999999999 years x", "rule_too_far"),
        ("in 999999999 weeks at 9:00 x", "rule_too_far"),
        ("999999999天后9点 x", "rule_too_far"),
        ("every day at 9:00 until 31 feb x", "bad_date"),
        ("tomorrow's weather", "rule_not_understood"),
        ("every 0 minutes x", "rule_too_often"),
        ("every 10 seconds x", "rule_too_often"),
        ("每0分钟 x", "rule_too_often"),
        ("every 999999999 days x", "rule_too_seldom"),
        ("2027-02-30 9:00 x", "bad_date"),
        ("0000-01-01 9:00 x", "bad_date"),
        ("31 feb 9:00 x", "bad_date"),
        ("二月三十日9点 x", "bad_date"),
        ("十十分钟后 x", "rule_not_understood"),
        ("every month 32 9:00 x", "bad_date"),
        ("每月0日9点 x", "bad_date"),
        ("at 25:00 x", "bad_time"),
        ("at 9:75 x", "bad_time"),
        ("13 pm x", "bad_time"),
        ("25点 x", "bad_time"),
        ("晚上12点 x", "rule_which_midnight"),
        ("tomorrow 9:00 and 18:00 x", "rule_one_at_a_time"),
        ("every 30 minutes at 9:00 x", "rule_days_or_times"),
        ("每30分钟9点 x", "rule_days_or_times"),
        ("every hour from 9 to 5 x", "rule_which_time"),
        ("5/6/2027 9:00 x", "rule_which_date"),
        ("every 0 days at 9:00 x", "rule_too_often"),
        ("every 1000 days at 9:00 x", "rule_too_seldom"),
        ("every year on 31 feb at 9:00 x", "rule_never"),
        ("every 2 years on 31 feb at 9:00 x", "bad_date"),
        ("every day at 9:00 until 2020-01-01 x", "bad_date"),
        ("0 9 31 2 * x", "rule_never"),
        ("0 0 9 * * * x", "bad_cron_fields"),
        ("0 0 9 * * ? x", "bad_cron_fields"),
        ("0 0 9 * * MON-FRI x", "bad_cron_fields"),
        ("0 0 9 * * MON,WED x", "bad_cron_fields"),
        ("0 0 9 * * 1", "bad_cron_fields"),
        ("0 9 * *", "bad_cron_fields"),
        ("0 9 * * report", "bad_cron_fields"),
        ("60 9 * * * x", "bad_cron_minute"),
    ],
)
def test_what_cannot_be_is_refused_with_the_reason(text: str, why: str) -> None:
    with pytest.raises(BadRule) as caught:
        parse_when(text, BERLIN, NOW)

    assert caught.value.key == why
    assert all(say(caught.value.key, language, **caught.value.facts) for language in LANGUAGES)


@pytest.mark.parametrize(
    ("text", "words", "first"),
    [
        ("every other monday at 9 x", "every 2 weeks on Monday at 09:00", ["Mon 23 Nov", "Mon 7 Dec"]),
        ("every 2 weeks monday 9:00 x", "every 2 weeks on Monday at 09:00", ["Mon 23 Nov", "Mon 7 Dec"]),
        ("every two weeks on monday and friday at 9 x", "every 2 weeks on Monday and Friday at 09:00", ["Mon 23 Nov"]),
        ("fortnightly on sunday at 9 x", "every 2 weeks on Sunday at 09:00", ["Sun 29 Nov", "Sun 13 Dec"]),
        ("每两周周一9点 x", "every 2 weeks on Monday at 09:00", ["Mon 23 Nov", "Mon 7 Dec"]),
        ("每隔一周周一9点 x", "every 2 weeks on Monday at 09:00", ["Mon 23 Nov", "Mon 7 Dec"]),
        ("every other day 9:00 x", "every 2 days at 09:00", ["Mon 23 Nov", "Wed 25 Nov"]),
        ("每2天9点 x", "every 2 days at 09:00", ["Mon 23 Nov", "Wed 25 Nov"]),
        ("every 2 months on the 1st at 9 x", "every 2 months on the 1st at 09:00", ["Tue 1 Dec", "Mon 1 Feb 2027"]),
        ("每两个月1号9点 x", "every 2 months on the 1st at 09:00", ["Tue 1 Dec", "Mon 1 Feb 2027"]),
        ("first monday of the month at 9 x", "on the first Monday of every month at 09:00", ["Mon 7 Dec"]),
        ("every last friday at 9 x", "on the last Friday of every month at 09:00", ["Fri 27 Nov", "Fri 25 Dec"]),
        ("last day of the month at 9 x", "on the last day of every month at 09:00", ["Mon 30 Nov", "Thu 31 Dec"]),
        ("first working day of every month at 9 x", "on the first working day of every month at 09:00", ["Tue 1 Dec"]),
        ("每月第一个工作日9点 x", "on the first working day of every month at 09:00", ["Tue 1 Dec"]),
        ("weekdays except friday at 9 x", "every Monday, Tuesday, Wednesday and Thursday at 09:00", ["Mon 23 Nov"]),
        ("weekdays at 9:00 except mon-wed x", "every Thursday and Friday at 09:00", ["Thu 26 Nov", "Fri 27 Nov"]),
        ("每天9点除了周末 x", "every weekday at 09:00", ["Mon 23 Nov"]),
        ("every day at 9:00 and 18:30 x", "every day at 09:00 and 18:30", ["Sun 22 Nov", "Mon 23 Nov", "Mon 23 Nov"]),
        ("twice a day at 9:00 and 18:30 x", "every day at 09:00 and 18:30", ["Sun 22 Nov", "Mon 23 Nov", "Mon 23 Nov"]),
        ("每天两次9点和18点30分 x", "every day at 09:00 and 18:30", ["Sun 22 Nov", "Mon 23 Nov", "Mon 23 Nov"]),
        ("every hour from 9 to 17 on weekdays x", "every weekday, every hour from 09:00 to 17:00", ["Mon 23 Nov"]),
        ("every 2 hours between 9 and 13 x", "every day at 09:00, 11:00 and 13:00", ["Sun 22 Nov", "Mon 23 Nov"]),
        ("工作日9点到18点每小时 x", "every weekday, every hour from 09:00 to 18:00", ["Mon 23 Nov"]),
        ("every day at 9 until tuesday x", "every day at 09:00, until Tue 24 Nov 2026", ["Mon 23 Nov", "Tue 24 Nov"]),
        ("每天9点到周二为止 x", "every day at 09:00, until Tue 24 Nov 2026", ["Mon 23 Nov", "Tue 24 Nov"]),
        ("every 24 december at 9 x", "every year on 24 December at 09:00", ["Thu 24 Dec", "Fri 24 Dec 2027"]),
        ("every 2 years on 24 december at 9 x", "every 2 years on the 24th of December at 09:00", ["Thu 24 Dec"]),
        ("tomorrow at half past five x", "on Mon 23 Nov 2026 at 05:30", ["Mon 23 Nov"]),
        ("at quarter to 9 pm x", "on Sun 22 Nov 2026 at 20:45", ["Sun 22 Nov"]),
        ("24/12/2026 9:00 x", "on Thu 24 Dec 2026 at 09:00", ["Thu 24 Dec"]),
        ("on the 24th at 9 x", "on Tue 24 Nov 2026 at 09:00", ["Tue 24 Nov"]),
        ("next month on the 5th at 9 x", "on Sat 5 Dec 2026 at 09:00", ["Sat 5 Dec"]),
        ("下个月5号9点 x", "on Sat 5 Dec 2026 at 09:00", ["Sat 5 Dec"]),
    ],
)
def test_rhythms_are_understood_and_begin_with_the_next_date(text: str, words: str, first: list[str]) -> None:
    when = parse_when(text, BERLIN, NOW)

    coming = upcoming(when.rule, BERLIN, NOW, len(first))
    assert (rule_words(when.rule, BERLIN, "en"), when.rest) == (words, "x")
    assert [slot_words(slot.at, BERLIN, "en", NOW)[:-6] for slot in coming] == first
    again = parse_when(f"{rule_words(when.rule, BERLIN, 'zh')} x", BERLIN, NOW)
    assert again == when


def test_days_are_counted_by_the_calendar_across_a_change_of_clocks() -> None:
    saturday = datetime(2027, 3, 27, 9, 0, tzinfo=BERLIN).timestamp()

    assert understood("in 1 day x", saturday)[0] == "on Sun 28 Mar 2027 at 09:00"
    assert understood("in 24 hours x", saturday)[0] == "on Sun 28 Mar 2027 at 10:00"
    assert understood("tomorrow 2:30 x", saturday)[0] == "on Sun 28 Mar 2027 at 03:00"


def test_a_month_that_is_too_short_ends_with_its_last_day() -> None:
    january = datetime(2027, 1, 31, 9, 0, tzinfo=BERLIN).timestamp()

    assert understood("in 1 month x", january)[0] == "on Sun 28 Feb 2027 at 09:00"


MINUTES, HOURS = st.integers(0, 59), st.integers(0, 23)
TIMES = st.one_of(
    st.tuples(MINUTES.map(str), st.lists(HOURS, min_size=1, max_size=3, unique=True).map(sorted)).map(
        lambda pair: f"{pair[0]} {','.join(map(str, pair[1]))}"
    ),
    st.tuples(st.lists(MINUTES, min_size=2, max_size=3, unique=True).map(sorted), HOURS).map(
        lambda pair: f"{','.join(map(str, pair[0]))} {pair[1]}"
    ),
)
DAYS = st.lists(st.integers(1, 31), min_size=1, max_size=2, unique=True).map(
    lambda days: ",".join(map(str, sorted(days)))
)
WEEKDAYS = st.lists(st.integers(0, 6), min_size=1, max_size=6, unique=True).map(
    lambda days: "1-5" if sorted(days) == [1, 2, 3, 4, 5] else ",".join(map(str, sorted(days)))
)
DATES = st.one_of(
    st.just("* * *"),
    DAYS.map(lambda days: f"{days} * *"),
    st.just("L * *"),
    st.just("LW * *"),
    st.tuples(st.integers(1, 28), st.integers(1, 12)).map(lambda pair: f"{pair[0]} {pair[1]} *"),
    WEEKDAYS.map(lambda days: f"* * {days}"),
    st.tuples(st.integers(0, 6), st.integers(1, 5)).map(lambda pair: f"* * {pair[0]}#{pair[1]}"),
    st.integers(0, 6).map(lambda day: f"* * {day}L"),
)
RULES = st.one_of(
    st.tuples(TIMES, DATES).map(lambda pair: Cron(expression=" ".join(pair))),
    st.integers(1, 500).map(lambda minutes: Every(seconds=60 * minutes, since=NOW)),
    st.integers(1, 2_000_000).map(lambda minutes: Once(at=NOW + 60 * minutes)),
)


@given(RULES, st.sampled_from(LANGUAGES))
def test_what_we_say_we_understand(rule: Rule, language: Language) -> None:
    words = rule_words(rule, BERLIN, language)

    when = parse_when(f"{words} x", BERLIN, NOW)

    assert rule_words(when.rule, BERLIN, language) == words
    assert when.rest == "x"
    if not isinstance(rule, Once):  # in an hour that comes twice, the words name the first
        assert meaning(when.rule) == meaning(rule)


ENGLISH = (
    "in at every on the of and to next day days month week monday sun jan feb 9 31 0 99 9:00 25:61 2026-02-30 T09 am pm"
    " noon * */5 L 1-5 m h 30m last third until"
    " except other weeks from twice half past"
)
CHINESE = "每 隔 天 周 一 月 除了 到 从 日 点 半 后 分钟 小时 晚上 下 年 十 两 、 ， ： - . 9999999999"
PIECES = st.lists(st.sampled_from(f"{ENGLISH} {CHINESE}".split()), max_size=12)


@given(PIECES.map(" ".join) | PIECES.map("".join) | st.text(max_size=40))
def test_whatever_is_written_is_understood_or_refused(text: str) -> None:
    try:
        rule = parse_when(text, BERLIN, NOW).rule
    except BadRule:
        return
    assert all(rule_words(rule, BERLIN, language) for language in LANGUAGES)


def test_a_long_text_is_read_in_no_time() -> None:
    with pytest.raises(BadRule):
        parse_when("a 1 " * 50_000, BERLIN, NOW)
