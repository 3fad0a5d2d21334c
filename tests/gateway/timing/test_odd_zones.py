"""Zones as people type them: odd spacing, several names of one clock, half hours, other scripts, words like zones."""

from datetime import datetime
from zoneinfo import ZoneInfo

import pytest

from gateway.schedule.times.grammar import read_when
from gateway.schedule.times.zone_names import zones_named
from gateway.store.rule import BadRule, Once
from tests.gateway.jobs.kit import PARIS, moment

NOW = moment("2026-07-01 08:00")
"""In Paris; in California it is still the day before."""


@pytest.mark.parametrize(
    ("text", "at", "rest"),
    [
        ("9am EST/EDT tomorrow call", "2026-07-02T09:00-04:00", "call"),
        ("9am PST/PDT tomorrow call", "2026-07-01T09:00-07:00", "call"),
        ("tomorrow 9am CET / CEST call", "2026-07-02T09:00+02:00", "call"),
        ("tomorrow 12:00 UTC/GMT call", "2026-07-02T12:00+00:00", "call"),
        ("tomorrow 9am  UTC + 5:30 call", "2026-07-02T09:00+05:30", "call"),
        ("tomorrow 9am UTC+ 0545 call", "2026-07-02T09:00+05:45", "call"),
        ("tomorrow 12:00 UTC plus 2 call", "2026-07-02T12:00+02:00", "call"),
        ("tomorrow 12:00 UTC minus 5 call", "2026-07-02T12:00-05:00", "call"),
        ("tomorrow 12:00 UTC−5 call", "2026-07-02T12:00-05:00", "call"),
        ("tomorrow 9am GMT+14 call", "2026-07-02T09:00+14:00", "call"),
        ("tomorrow 9am Etc/GMT+5 call", "2026-07-02T09:00-05:00", "call"),
        ("tomorrow 9am EST5EDT call", "2026-07-02T09:00-04:00", "call"),
        ("tomorrow 9am E.S.T. call", "2026-07-02T09:00-04:00", "call"),
        ("tomorrow 9 a.m. E.T. call", "2026-07-02T09:00-04:00", "call"),
        ("tomorrow 9am p.s.t. call", "2026-07-01T09:00-07:00", "call"),
        ("tomorrow 9am D.C. time call", "2026-07-02T09:00-04:00", "call"),
        ("tomorrow 9am NY time call", "2026-07-02T09:00-04:00", "call"),
        ("tomorrow 9am west coast time call", "2026-07-01T09:00-07:00", "call"),
        ("tomorrow 9:00 Zulu time call", "2026-07-02T09:00+00:00", "call"),
        ("tomorrow 9:00Z call", "2026-07-02T09:00+00:00", "call"),
        ("tomorrow at 0900Z call", "2026-07-02T09:00+00:00", "call"),
        ("noon Kathmandu time call", "2026-07-01T12:00+05:45", "call"),
        ("tomorrow noon Nepal time call", "2026-07-02T12:00+05:45", "call"),
        ("tomorrow 9am Adelaide time call", "2026-07-02T09:00+09:30", "call"),
        ("tomorrow 9am Newfoundland time call", "2026-07-02T09:00-02:30", "call"),
        ("tomorrow 9am Lord Howe time call", "2026-07-02T09:00+10:30", "call"),
        ("tomorrow 9am Afghanistan time call", "2026-07-02T09:00+04:30", "call"),
        ("tomorrow 9am Bogotá time call", "2026-07-02T09:00-05:00", "call"),
        ("tomorrow 9am São Paulo time call", "2026-07-02T09:00-03:00", "call"),
        ("tomorrow 9:00 heure de Montréal call", "2026-07-02T09:00-04:00", "call"),
        ("tomorrow 9:00 hora de Madrid call", "2026-07-02T09:00+02:00", "call"),
        ("tomorrow at 9:00 Berliner Zeit call", "2026-07-02T09:00+02:00", "call"),
        ("tomorrow 9am (Tokyo time) call", "2026-07-02T09:00+09:00", "call"),
        ("明早9点 (北京时间) 开会", "2026-07-02T09:00+08:00", "开会"),
        ("明天中午12点 东八区 开会", "2026-07-02T12:00+08:00", "开会"),
        ("明天中午12点 西五区时间 开会", "2026-07-02T12:00-05:00", "开会"),
        ("明天9点尼泊尔时间 开会", "2026-07-02T09:00+05:45", "开会"),
        ("明天9点半印度时间 开会", "2026-07-02T09:30+05:30", "开会"),
        ("明天中午12点英国夏令时 开会", "2026-07-02T12:00+01:00", "开会"),
        ("明天12點紐約時間 開會", "2026-07-02T12:00-04:00", "開會"),
        ("明天12点東京時間 開会", "2026-07-02T12:00+09:00", "開会"),
        ("2026-07-05T09:00+05:45 call", "2026-07-05T09:00+05:45", "call"),
        ("tomorrow 9am - EST - call", "2026-07-02T09:00-04:00", "call"),
        ("tomorrow 9am — ET — call Ben", "2026-07-02T09:00-04:00", "call Ben"),
        ("tomorrow 9am: EST: call", "2026-07-02T09:00-04:00", "call"),
        ("tomorrow 9am | UTC+8 | call", "2026-07-02T09:00+08:00", "call"),
        ("tomorrow 9am • Tokyo time • call", "2026-07-02T09:00+09:00", "call"),
        ("tomorrow 9am - Europe/Lisbon - call", "2026-07-02T09:00+01:00", "call"),
        ('tomorrow 9am "EST" call', "2026-07-02T09:00-04:00", "call"),
        ("tomorrow 9am «JST» call", "2026-07-02T09:00+09:00", "call"),
        ("tomorrow 9am {JST} call", "2026-07-02T09:00+09:00", "call"),
        ("tomorrow 9am *EST* call", "2026-07-02T09:00-04:00", "call"),
        ("tomorrow 9am _EST_ call", "2026-07-02T09:00-04:00", "call"),
        ("tomorrow 9am/EST call", "2026-07-02T09:00-04:00", "call"),
        ("tomorrow 9am@EST call", "2026-07-02T09:00-04:00", "call"),
        ("tomorrow 9am, that's EST, call", "2026-07-02T09:00-04:00", "call"),
        ("tomorrow 9am (i.e. ET) call", "2026-07-02T09:00-04:00", "call"),
        ("tomorrow 9am EST! call Ben", "2026-07-02T09:00-04:00", "call Ben"),
        ("明天上午9点 - 东京时间 - 开会", "2026-07-02T09:00+09:00", "开会"),
        ("明天上午9点【纽约时间】开会", "2026-07-02T09:00-04:00", "开会"),
        ("明天上午9点：纽约时间：开会", "2026-07-02T09:00-04:00", "开会"),
        ("tomorrow 9am ET time call", "2026-07-02T09:00-04:00", "call"),
        ("tomorrow 9am pt time call", "2026-07-01T09:00-07:00", "call"),
        ("明天上午9点 世界时 开会", "2026-07-02T09:00+00:00", "开会"),
        ("明天上午9点（协调世界时）开会", "2026-07-02T09:00+00:00", "开会"),
        ("明天上午9点 UTC+8时区 开会", "2026-07-02T09:00+08:00", "开会"),
        ("明天上午9点GMT+8时间 开会", "2026-07-02T09:00+08:00", "开会"),
        ("明天上午9点GMT-3开会", "2026-07-02T09:00-03:00", "开会"),
        ("tomorrow 9am HK time call", "2026-07-02T09:00+08:00", "call"),
        ("tomorrow 9am Brasília time call", "2026-07-02T09:00-03:00", "call"),
        ("tomorrow 9am CDMX time call", "2026-07-02T09:00-06:00", "call"),
    ],
)
def test_a_zone_is_read_however_it_is_written(text: str, at: str, rest: str) -> None:
    when = read_when(text, PARIS, NOW)
    assert (when.rule, when.rest) == (Once(at=datetime.fromisoformat(at).timestamp()), rest)


@pytest.mark.parametrize(
    ("text", "key"),
    [
        ("kl 9 CET call", "rule_not_understood"),
        ("9 Uhr Berliner Zeit anrufen", "rule_not_understood"),
        ("京时间明天9点 开会", "rule_not_understood"),
        ("tomorrow 0900Z call", "rule_no_time"),
        ("tomorrow 9:00A call", "rule_half_understood"),
        ("tomorrow 9am GMT-13 call", "rule_half_understood"),
        ("every day at 9am GMT-13 call", "rule_half_understood"),
        ("tomorrow 9am UTC+5h30 call", "rule_half_understood"),
        ("tomorrow 9am UTC+5h call", "rule_half_understood"),
        ("tomorrow 9am UTC5:30 call", "rule_half_understood"),
        ("tomorrow 9am UTC±0 call", "rule_half_understood"),
        ("tomorrow 12:00 UTC-3:30 call", "rule_half_understood"),
        ("tomorrow 12:00 UTC+2/UTC+3 call", "rule_half_understood"),
        ("tomorrow 9am CET+1 call", "rule_half_understood"),
        ("tomorrow 9am ET/PT call", "rule_half_understood"),
        ("tomorrow 9am JST/KST call", "zone_which"),
        ("tomorrow 9am C.S.T. call", "zone_which"),
        ("9am tomorrow Tokyo call Ken", "zone_or_place"),
        ("9am tomorrow, Tokyo: call Ken", "zone_or_place"),
        ("noon tomorrow Kathmandu call", "zone_or_place"),
        ("9am on Monday Sydney call", "zone_or_place"),
        ("9:00 on 3 July Denver call", "zone_or_place"),
        ("9:00 on July 3rd Denver call", "zone_or_place"),
        ("tomorrow 9am East Coast call", "zone_or_place"),
        ("tomorrow 9am U.S. Eastern call", "zone_or_place"),
        ("tomorrow 9am NY call", "zone_or_place"),
        ("tomorrow 9:00 Zulu call", "zone_or_place"),
        ("tomorrow 12:00 UT call", "zone_or_place"),
        ("tomorrow 9am - CST - call", "zone_which"),
        ("tomorrow 9am – Tokyo – call Ben", "zone_or_place"),
        ("tomorrow 9:00 «PET» scan", "zone_or_place"),
        ("tomorrow 23:59 Anywhere on Earth submit", "zone_or_place"),
        ("tomorrow 12:00 (GMT+1) Paris call", "zone_or_place"),
        ("tomorrow 9am EST (Tokyo) call", "zone_or_place"),
        ("明天中午12点 美东 开会", "zone_or_place"),
        ("9am in London tomorrow call", "zone_or_place"),
        ("tomorrow in Tokyo at 9:00 call", "zone_or_place"),
        ("tomorrow 12:00 Ruritania Standard Time call", "rule_half_understood"),
        ("tomorrow 9am client time call", "rule_half_understood"),
        ("tomorrow 9am where Ken is call", "rule_half_understood"),
        ("tomorrow 9am america/new york call", "rule_half_understood"),
        ("tomorrow 12:00 ora di Atlantide call", "rule_half_understood"),
        ("明天中午12点夏令时 开会", "rule_half_understood"),
        ("tomorrow half past nine Kyiv call", "zone_or_place"),
        ("tomorrow at half past nine, Kyiv, call", "zone_or_place"),
        ("tomorrow at nine Tokyo call", "zone_or_place"),
        ("at quarter to five London tomorrow call", "zone_or_place"),
        ("tomorrow 9am @ London call", "zone_or_place"),
        ("明天上午九点基辅开会", "zone_or_place"),
        ("明天九点半（基辅）开会", "zone_or_place"),
        ("tomorrow 9am UTC 8 call", "rule_half_understood"),
        ("tomorrow 9am GMT 10 call", "rule_half_understood"),
        ("tomorrow 9am 2 hours behind London call", "rule_half_understood"),
        ("tomorrow 9am three hours ahead of UTC call", "rule_half_understood"),
        ("tomorrow at 9am Ann's timezone call Ann", "rule_half_understood"),
        ("tomorrow at 9am in her time zone call", "rule_half_understood"),
        ("tomorrow 9am daylight time call", "rule_half_understood"),
        ("20:00 мск", "rule_not_understood"),
        ("20:00 по Москве", "rule_not_understood"),
        ("tomorrow 20:00 (мск) call", "rule_not_understood"),
    ],
)
def test_what_may_be_another_clock_is_asked_for(text: str, key: str) -> None:
    with pytest.raises(BadRule) as caught:
        read_when(text, PARIS, NOW)
    assert caught.value.key == key


@pytest.mark.parametrize(
    "text", ["明天中午12点亚特兰蒂斯时间 开会", "明天中午12点吃饭时间到了", "tomorrow at 5 a day out"]
)
def test_what_may_be_the_name_of_a_clock_is_confirmed(text: str) -> None:
    assert not read_when(text, PARIS, NOW).is_certain


@pytest.mark.parametrize(
    "text",
    [
        "tomorrow 9:00 story time",
        "tomorrow 9am - Paris trip",
        "tomorrow 9am - Ben - call",
        'tomorrow 9am "quoted" call',
        "tomorrow 9:00 Story Time",
        "tomorrow 9:00 west coast swing class",
        "tomorrow 9:00 P.T. session",
        "tomorrow 9:00 a call",
        "tomorrow 9:00 Romeo and Juliet",
        "tomorrow 9:00 UTC 5 people come",
        "tomorrow 9:00 UTC 10 minutes of talk",
        "tomorrow 5pm @ the office",
        "明天中午12点时间管理课",
        "明天中午12点世界时装周",
    ],
)
def test_words_that_only_look_like_a_zone_stay_words(text: str) -> None:
    assert read_when(text, PARIS, NOW).is_certain


@pytest.mark.parametrize(
    ("here", "text", "at"),
    [
        ("America/Phoenix", "2026-07-02 9:00 MST call", "2026-07-02T09:00-07:00"),
        ("America/Phoenix", "2026-07-02 9:00 MST time call", "2026-07-02T09:00-07:00"),
        ("America/Phoenix", "2026-07-02 9:00 MDT call", "2026-07-02T09:00-06:00"),
        ("America/Phoenix", "2026-07-02 9:00 MT call", "2026-07-02T09:00-06:00"),
        ("America/Jamaica", "2026-07-02 9:00 EST call", "2026-07-02T09:00-05:00"),
        ("America/Denver", "2026-07-02 9:00 MST call", "2026-07-02T09:00-06:00"),
        ("America/New_York", "2026-07-02 9:00 EST call", "2026-07-02T09:00-04:00"),
        ("Africa/Abidjan", "2026-07-02 9:00 GMT call", "2026-07-02T09:00+00:00"),
    ],
)
def test_a_name_that_the_clocks_of_the_chat_have_is_theirs(here: str, text: str, at: str) -> None:
    assert read_when(text, ZoneInfo(here), NOW).rule == Once(at=datetime.fromisoformat(at).timestamp())


def test_gmt_is_no_summer_time_though_the_clocks_of_the_chat_have_that_name_in_winter() -> None:
    when = read_when("2026-07-02 09:00 GMT call", ZoneInfo("Europe/London"), moment("2026-01-10 08:00"))
    assert when.rule == Once(at=datetime.fromisoformat("2026-07-02T09:00+00:00").timestamp())


@pytest.mark.parametrize("minutes", range(-900, 960, 15))
def test_an_offset_means_that_many_minutes_or_nothing(minutes: int) -> None:
    hours, rest = divmod(abs(minutes), 60)
    for sign in ("GMT", "UTC ", "utc", ""):
        written = f"{sign}{'-' if minutes < 0 else '+'}{hours}:{rest:02d}"
        for zone in zones_named(written):
            offset = datetime.fromtimestamp(NOW, ZoneInfo(zone)).utcoffset()
            assert offset is not None
            assert offset.total_seconds() == minutes * 60, written
