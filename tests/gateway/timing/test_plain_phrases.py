"""Recurring times as people and crontabs write them: lists of hours, periods that name no day, nicknames."""

from datetime import datetime
from zoneinfo import ZoneInfo

import pytest

from gateway.schedule.times.grammar import parse_when, read_when
from gateway.schedule.times.slots import upcoming
from gateway.schedule.times.words import rule_words
from gateway.store.rule import BadRule
from gateway.texts.say import LANGUAGES, say

BERLIN, NEW_YORK = ZoneInfo("Europe/Berlin"), ZoneInfo("America/New_York")
NOW = datetime(2026, 11, 22, 12, 0, tzinfo=BERLIN).timestamp()
"""A Sunday."""
QUARTERS = "on the 1st of January, April, July and October at 09:00"


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("@hourly x", "every full hour"),
        ("@daily x", "every day at 00:00"),
        ("@Daily: x", "every day at 00:00"),
        ("@midnight x", "every day at 00:00"),
        ("@weekly x", "every Sunday at 00:00"),
        ("@monthly x", "on the 1st of every month at 00:00"),
        ("@yearly x", "every year on 1 January at 00:00"),
        ("@annually x", "every year on 1 January at 00:00"),
        ("every weekday at 9 and 17 x", "every weekday at 09:00 and 17:00"),
        ("every day at 9, 12 and 17 x", "every day at 09:00, 12:00 and 17:00"),
        ("every day at 9, 12 and 17: x", "every day at 09:00, 12:00 and 17:00"),
        ("every day at 9, 12, 17 x", "every day at 09:00, 12:00 and 17:00"),
        ("every day at 9, 12:30 and 17 x", "every day at 09:00, 12:30 and 17:00"),
        ("every day at 9, 12 and 5pm x", "every day at 09:00, 12:00 and 17:00"),
        ("every day at 9 & 17 x", "every day at 09:00 and 17:00"),
        ("every day at nine and eleven x", "every day at 09:00 and 11:00"),
        ("every monday and friday at 9 and 17 x", "every Monday and Friday at 09:00 and 17:00"),
        ("weekdays 9 and 17 x", "every weekday at 09:00 and 17:00"),
        ("at 9 and 17 every weekday x", "every weekday at 09:00 and 17:00"),
        ("twice a day at 9 and 17 x", "every day at 09:00 and 17:00"),
        ("工作日9点和17点 x", "every weekday at 09:00 and 17:00"),
        ("每天9、12、17点 x", "every day at 09:00, 12:00 and 17:00"),
        ("每天9和17点 x", "every day at 09:00 and 17:00"),
        ("每天两次，9点和17点 x", "every day at 09:00 and 17:00"),
        ("quarterly at 9 x", QUARTERS),
        ("every quarter at 9 x", QUARTERS),
        ("at 9:00 every quarter x", QUARTERS),
        ("每季度9点 x", QUARTERS),
        ("每个季度9点 x", QUARTERS),
        ("every 3 months at 9 x", "every 3 months on the 23rd at 09:00"),
        ("every 3 months at 13:00 x", "every 3 months on the 22nd at 13:00"),
        ("every other month at 9 x", "every 2 months on the 23rd at 09:00"),
        ("每3个月9点 x", "every 3 months on the 23rd at 09:00"),
        ("每两个月9点 x", "every 2 months on the 23rd at 09:00"),
        ("隔月9点 x", "every 2 months on the 23rd at 09:00"),
        ("每半年9点 x", "every 6 months on the 23rd at 09:00"),
        ("monthly at 9 x", "on the 23rd of every month at 09:00"),
        ("每月9点 x", "on the 23rd of every month at 09:00"),
        ("weekly at 9 x", "every Monday at 09:00"),
        ("fortnightly at 9 x", "every 2 weeks on Monday at 09:00"),
        ("every fortnight at 9 x", "every 2 weeks on Monday at 09:00"),
        ("every other week at 9 x", "every 2 weeks on Monday at 09:00"),
        ("in a fortnight x", "on Sun 6 Dec 2026 at 12:00"),
        ("in a couple of hours x", "on Sun 22 Nov 2026 at 14:00"),
        ("in two and a half hours x", "on Sun 22 Nov 2026 at 14:30"),
        ("every day but Sunday at 9 x", "every Monday, Tuesday, Wednesday, Thursday, Friday and Saturday at 09:00"),
        ("once a week on Monday at 9 x", "every Monday at 09:00"),
        ("once a month on the 5th at 9 x", "on the 5th of every month at 09:00"),
        ("in two fortnights at 9 x", "on Sun 20 Dec 2026 at 09:00"),
        ("two weeks from now x", "on Sun 6 Dec 2026 at 12:00"),
        ("in two weeks' time x", "on Sun 6 Dec 2026 at 12:00"),
        ("两周后 x", "on Sun 6 Dec 2026 at 12:00"),
        ("10 minutes x", "on Sun 22 Nov 2026 at 12:10"),
        ("5 min: x", "on Sun 22 Nov 2026 at 12:05"),
        ("2 hours and 30 minutes x", "on Sun 22 Nov 2026 at 14:30"),
        ("mon,wed,fri at 7 x", "every Monday, Wednesday and Friday at 07:00"),
        ("Mon, Wed, and Fri 7am x", "every Monday, Wednesday and Friday at 07:00"),
        ("on Saturday and Sunday at 10 x", "every Saturday and Sunday at 10:00"),
        ("tue/thu 18:00 x", "every Tuesday and Thursday at 18:00"),
        ("every mon/wed 9am x", "every Monday and Wednesday at 09:00"),
        ("周一到周五9点 x", "every weekday at 09:00"),
        ("周六周日上午10点 x", "every Saturday and Sunday at 10:00"),
        ("周一、周三下午3点 x", "every Monday and Wednesday at 15:00"),
        ("every 15th at 9 x", "on the 15th of every month at 09:00"),
        ("every 1st and 15th at 9 x", "on the 1st and 15th of every month at 09:00"),
    ],
)
def test_what_is_plain_is_read(text: str, words: str) -> None:
    when = parse_when(text, BERLIN, NOW)

    assert (rule_words(when.rule, BERLIN, "en"), when.rest) == (words, "x")


@pytest.mark.parametrize(
    ("text", "why"),
    [
        ("every 3 months x", "rule_no_time"),
        ("every quarter x", "rule_no_time"),
        ("every day at 9 and 24 x", "bad_time"),
        ("every day at 5 and 9 pm x", "rule_which_time"),
        ("every day at 9am and 5 x", "rule_which_time"),
        ("每天下午3点和5点 x", "rule_which_time"),
        ("tomorrow at 9 and 17 x", "rule_one_at_a_time"),
        ("three times a day at 9 and 17 x", "rule_how_often"),
        ("每天三次，9点 x", "rule_how_often"),
        ("CRON_TZ=Nowhere/Nope @daily x", "zone_which"),
        ("today at 8 x", "rule_past"),
        ("every 2nd monday at 9 x", "rule_half_understood"),
        ("monday or tuesday at 9 x", "rule_no_time"),
        ("10 minutes before noon x", "rule_not_understood"),
        ("5 minutes a day x", "rule_not_understood"),
        ("30 min gym every monday", "rule_not_understood"),
        ("30 min walk tomorrow", "rule_not_understood"),
        ("email Tom on friday, monday at 9", "rule_half_understood"),
        ("call mum fri/monday 9am", "rule_half_understood"),
        ("1 hour exam on december 5", "rule_not_understood"),
        ("30 min call tomorrow at 25:00", "rule_not_understood"),
    ],
)
def test_what_is_missing_is_asked(text: str, why: str) -> None:
    with pytest.raises(BadRule) as caught:
        parse_when(text, BERLIN, NOW)

    assert caught.value.key == why
    assert all(say(caught.value.key, language, **caught.value.facts) for language in LANGUAGES)


def test_a_period_asks_for_a_day_that_not_every_month_has() -> None:
    on_the_29th = datetime(2026, 11, 29, 8, 0, tzinfo=BERLIN).timestamp()
    with pytest.raises(BadRule) as caught:
        parse_when("every month at 9 x", BERLIN, on_the_29th)
    assert caught.value.key == "rule_which_day"

    on_the_last = datetime(2026, 11, 30, 8, 0, tzinfo=BERLIN).timestamp()
    when = parse_when("every month at 9 x", BERLIN, on_the_last)
    assert rule_words(when.rule, BERLIN, "en") == "on the last day of every month at 09:00"


@pytest.mark.parametrize(
    ("text", "words", "rest"),
    [
        ("30 minutes walk tomorrow at 19:00", "on Mon 23 Nov 2026 at 19:00", "30 minutes walk"),
        ("10 min of stretching every day at 9:00", "every day at 09:00", "10 min of stretching"),
    ],
)
def test_a_length_beside_another_time_is_part_of_what_is_said(text: str, words: str, rest: str) -> None:
    when = read_when(text, BERLIN, NOW)

    assert (rule_words(when.rule, BERLIN, "en"), when.rest) == (words, rest)


@pytest.mark.parametrize("text", ["10 minutes tea", "30 min yoga twice a week", "2 hours parking until 5"])
def test_a_length_alone_is_confirmed(text: str) -> None:
    assert not read_when(text, BERLIN, NOW).is_certain


@pytest.mark.parametrize("text", ["gym mon, wed and fri at 7", "gym mon,wed,fri at 7", "gym on mondays, fridays at 7"])
def test_weekdays_in_a_row_may_stand_at_the_end(text: str) -> None:
    when = read_when(text, BERLIN, NOW)

    assert (rule_words(when.rule, BERLIN, "en").startswith("every Monday"), when.rest) == (True, "gym")


def test_monday_at_one_in_chinese_is_no_list_of_weekdays() -> None:
    assert rule_words(read_when("周一一点 x", BERLIN, NOW).rule, BERLIN, "en") == "on Mon 23 Nov 2026 at 01:00"


@pytest.mark.parametrize("text", ["quarterly report at 21:00", "weekly sync at 21:00", "monthly plan tonight at 9"])
def test_an_adjective_is_no_period(text: str) -> None:
    when = read_when(text, BERLIN, NOW)

    assert rule_words(when.rule, BERLIN, "en") == "on Sun 22 Nov 2026 at 21:00"
    assert when.rest.split()[0] == text.split(maxsplit=1)[0]


def shown(text: str, after: str, most: int) -> list[str]:
    when = parse_when(text, BERLIN, NOW)
    assert when.zone == NEW_YORK
    start = datetime.fromisoformat(after).replace(tzinfo=NEW_YORK).timestamp()
    found = upcoming(when.rule, when.zone, start, most)
    return [datetime.fromtimestamp(slot.at, NEW_YORK).isoformat(timespec="minutes") for slot in found]


def test_a_nickname_keeps_the_clock_of_its_zone_through_both_changes() -> None:
    daily = "CRON_TZ=America/New_York @daily x"
    assert shown(daily, "2027-03-13T12:00", 2) == ["2027-03-14T00:00-05:00", "2027-03-15T00:00-04:00"]
    assert shown(daily, "2027-11-06T12:00", 2) == ["2027-11-07T00:00-04:00", "2027-11-08T00:00-05:00"]

    hourly = "TZ=America/New_York @hourly x"
    assert shown(hourly, "2027-03-14T00:30", 2) == ["2027-03-14T01:00-05:00", "2027-03-14T03:00-04:00"]
    assert shown(hourly, "2027-11-07T00:30", 3) == [
        "2027-11-07T01:00-04:00",
        "2027-11-07T01:00-05:00",
        "2027-11-07T02:00-05:00",
    ]


def test_times_of_a_list_keep_the_clock_of_its_zone_through_both_changes() -> None:
    text = "every day at 2:30 and 9:00 New York time x"
    assert shown(text, "2027-03-13T12:00", 2) == ["2027-03-14T03:00-04:00", "2027-03-14T09:00-04:00"]
    assert shown(text, "2027-11-06T12:00", 2) == ["2027-11-07T02:30-05:00", "2027-11-07T09:00-05:00"]
