"""Recurrence rules as text, as a model or a stored job gives them."""

from datetime import UTC, date, datetime
from itertools import islice, pairwise
from zoneinfo import ZoneInfo

import pytest

from gateway.schedule.times.recurrence import by_rrule
from gateway.schedule.times.slots import check_rule, upcoming
from gateway.schedule.times.words import rule_words
from gateway.store.rule import BadRule, Recurrence
from gateway.texts.say import LANGUAGES, say
from tests.cpu import cpu_seconds_at_most

BERLIN = ZoneInfo("Europe/Berlin")
TODAY = date(2026, 11, 23)
NOW = datetime(2026, 11, 23, 12, tzinfo=UTC).timestamp()
AT_NINE = ";BYHOUR=9;BYMINUTE=0"


@pytest.mark.parametrize(
    ("text", "words"),
    [
        (f"FREQ=DAILY{AT_NINE}", "every day at 09:00"),
        (f"RRULE:FREQ=WEEKLY;BYDAY=MO,TU,WE,TH,FR{AT_NINE}", "every weekday at 09:00"),
        (f"FREQ=DAILY;BYDAY=MO{AT_NINE}", "every Monday at 09:00"),
        (f"FREQ=WEEKLY;INTERVAL=2;BYDAY=MO{AT_NINE}", "every 2 weeks on Monday at 09:00"),
        (f"FREQ=MONTHLY;BYDAY=1MO{AT_NINE}", "on the first Monday of every month at 09:00"),
        (f"FREQ=MONTHLY;BYDAY=FR;BYSETPOS=-1{AT_NINE}", "on the last Friday of every month at 09:00"),
        (f"FREQ=MONTHLY;BYDAY=MO,TU,WE,TH,FR;BYSETPOS=-1{AT_NINE}", "on the last working day of every month at 09:00"),
        (f"FREQ=MONTHLY;BYMONTHDAY=-1{AT_NINE}", "on the last day of every month at 09:00"),
        (f"FREQ=YEARLY;BYMONTH=12;BYMONTHDAY=24{AT_NINE}", "every year on 24 December at 09:00"),
        (f"FREQ=YEARLY;BYMONTH=11;BYDAY=4TH{AT_NINE}", "on the fourth Thursday of November at 09:00"),
        ("DTSTART:20261201T093000\nRRULE:FREQ=MONTHLY;INTERVAL=3", "every 3 months on the 1st at 09:30"),
        ("DTSTART:20261201T093000 RRULE:FREQ=YEARLY", "every year on 1 December at 09:30"),
        ("FREQ=HOURLY;BYMINUTE=0", "every full hour"),
        (f"FREQ=DAILY;UNTIL=20261224T235959{AT_NINE}", "every day at 09:00, until Thu 24 Dec 2026"),
        ("FREQ=DAILY;BYHOUR=9\nFREQ=DAILY;BYHOUR=18;BYMINUTE=30", "every day at 09:00 and 18:30"),
        (
            f"FREQ=MONTHLY;BYMONTHDAY=13;BYDAY=FR{AT_NINE}",
            "on the 13th of every month at 09:00, but only if that is a Friday",
        ),
    ],
)
def test_a_rule_is_told_in_words_and_stays_the_same_as_text(text: str, words: str) -> None:
    found = by_rrule(text, TODAY)
    rule = Recurrence(text=found.text)

    check_rule(rule, BERLIN, NOW)
    assert rule_words(rule, BERLIN, "en") == words
    assert by_rrule(found.text) == found


@pytest.mark.parametrize(
    ("text", "why"),
    [
        ("", "bad_rrule"),
        ("every monday", "bad_rrule"),
        (f"FREQ=MINUTELY{AT_NINE}", "bad_rrule"),
        (f"FREQ=SECONDLY{AT_NINE}", "bad_rrule"),
        (f"FREQ=HOURLY;INTERVAL=2{AT_NINE}", "bad_rrule"),
        (f"FREQ=DAILY;COUNT=3{AT_NINE}", "bad_rrule"),
        (f"FREQ=DAILY;INTERVAL=0{AT_NINE}", "bad_rrule"),
        (f"FREQ=DAILY;INTERVAL=99999{AT_NINE}", "bad_rrule"),
        (f"FREQ=YEARLY;BYWEEKNO=3{AT_NINE}", "bad_rrule"),
        (f"FREQ=MONTHLY;BYMONTHDAY=0{AT_NINE}", "bad_rrule"),
        (f"FREQ=MONTHLY;BYMONTHDAY=32{AT_NINE}", "bad_rrule"),
        (f"FREQ=MONTHLY;BYDAY=6MO{AT_NINE}", "bad_rrule"),
        (f"FREQ=WEEKLY;BYDAY=XX{AT_NINE}", "bad_rrule"),
        ("FREQ=DAILY;BYHOUR=24", "bad_rrule"),
        ("FREQ=DAILY;UNTIL=20261224T235959Z;BYHOUR=9", "bad_rrule"),
        ("FREQ=DAILY;UNTIL=20261399;BYHOUR=9", "bad_rrule"),
        ("FREQ=WEEKLY;BYDAY=MO;" * 100, "bad_rrule"),
        ("FREQ=WEEKLY;BYDAY=MO", "rule_no_time"),
    ],
)
def test_what_cannot_be_used_is_refused(text: str, why: str) -> None:
    with pytest.raises(BadRule) as caught:
        by_rrule(text, TODAY)

    assert caught.value.key == why
    assert all(say(caught.value.key, language, **caught.value.facts) for language in LANGUAGES)


@pytest.mark.parametrize(
    ("text", "why"),
    [
        (f"FREQ=YEARLY;BYMONTH=2;BYMONTHDAY=30{AT_NINE}", "rule_never"),
        (f"FREQ=MONTHLY;BYMONTH=4;BYMONTHDAY=31{AT_NINE}", "rule_never"),
        (f"FREQ=MONTHLY;BYMONTHDAY=1;BYDAY=2MO{AT_NINE}", "rule_never"),
        (f"DTSTART:20250101T000000\nFREQ=YEARLY;INTERVAL=2;BYMONTH=2;BYMONTHDAY=29{AT_NINE}", "rule_never"),
        (f"FREQ=DAILY;UNTIL=20261101{AT_NINE}", "rule_past"),
    ],
)
def test_what_never_comes_is_refused_at_once(text: str, why: str) -> None:
    """dateutil alone searches to the year 9999, which takes seconds."""
    with cpu_seconds_at_most(0.2), pytest.raises(BadRule) as caught:
        check_rule(Recurrence(text=by_rrule(text, TODAY).text), BERLIN, NOW)

    assert caught.value.key == why


def test_an_old_rule_keeps_its_phase_and_is_searched_from_now() -> None:
    rule = Recurrence(text=f"DTSTART:19700105T000000\nRRULE:FREQ=WEEKLY;INTERVAL=2;BYDAY=MO{AT_NINE}")

    with cpu_seconds_at_most(0.2):
        days = [datetime.fromtimestamp(slot.at, BERLIN).date() for slot in upcoming(rule, BERLIN, NOW, 3)]

    assert days == [date(2026, 12, 7), date(2026, 12, 21), date(2027, 1, 4)]
    assert all((day - date(1970, 1, 5)).days % 14 == 0 for day in days)


@pytest.mark.parametrize(
    "text",
    [
        "DTSTART:20261121T000000\nRRULE:FREQ=DAILY;INTERVAL=3;BYHOUR=9",
        "DTSTART:20261118T000000\nRRULE:FREQ=WEEKLY;INTERVAL=3;BYDAY=TU,FR;BYHOUR=9",
        "DTSTART:20260131T000000\nRRULE:FREQ=MONTHLY;INTERVAL=2;BYMONTHDAY=31;BYHOUR=9",
        "DTSTART:20240229T000000\nRRULE:FREQ=YEARLY;INTERVAL=4;BYMONTH=2;BYMONTHDAY=29;BYHOUR=9",
    ],
)
def test_wherever_a_search_starts_the_same_dates_follow(text: str) -> None:
    ((dates, _),) = by_rrule(text).rows
    every = [*islice(dates.since(dates.start or TODAY), 40)]

    for before, day in pairwise(every):
        assert next(dates.since(before)) == before
        assert next(dates.since(date.fromordinal(before.toordinal() + 1))) == day
