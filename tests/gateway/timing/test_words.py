"""Rules, moments and changes of clocks as text, in both languages."""

from datetime import datetime
from zoneinfo import ZoneInfo

import pytest

from gateway.schedule.times.clock_change import next_change
from gateway.schedule.times.words import change_words, rule_words, slot_words
from gateway.store.rule import Cron, Every, Once

BERLIN, NUUK = ZoneInfo("Europe/Berlin"), ZoneInfo("America/Nuuk")


def moment(text: str) -> float:
    return datetime.fromisoformat(text).replace(tzinfo=BERLIN).timestamp()


NOW = moment("2026-11-22 12:00")


@pytest.mark.parametrize(
    ("expression", "english", "chinese"),
    [
        ("0 9 * * *", "every day at 09:00", "每天 09:00"),
        ("0 9 * * 1-5", "every weekday at 09:00", "每个工作日 09:00"),
        ("0 9 * * MON-FRI", "every weekday at 09:00", "每个工作日 09:00"),
        ("30 8,18 * * 0,6", "every Saturday and Sunday at 08:30 and 18:30", "每周六、周日 08:30、18:30"),
        ("0 9 * * 1", "every Monday at 09:00", "每周一 09:00"),
        ("0 9 * * 7", "every Sunday at 09:00", "每周日 09:00"),
        ("0 9 1,22 * *", "on the 1st and 22nd of every month at 09:00", "每月1日、22日 09:00"),
        ("0 9 L * *", "on the last day of every month at 09:00", "每月最后一天 09:00"),
        ("0 9 24 12 *", "every year on 24 December at 09:00", "每年12月24日 09:00"),
        ("0 9 11 1,7 *", "on the 11th of January and July at 09:00", "1月、7月的11日 09:00"),
        ("0 9 * 1-3 1", "every Monday in January to March at 09:00", "1月至3月每周一 09:00"),
        ("0 9 * * 5#3", "on the third Friday of every month at 09:00", "每月第三个周五 09:00"),
        ("0 9 * * 5L", "on the last Friday of every month at 09:00", "每月最后一个周五 09:00"),
        ("0 9 LW * *", "on the last working day of every month at 09:00", "每月最后一个工作日 09:00"),
        ("0 * * * *", "every full hour", "每个整点"),
        ("5 * * * *", "every hour at :05", "每小时的 :05"),
        ("* * * * *", "every minute", "每分钟"),
        ("*/15 * * * *", "every 15 minutes from the full hour on", "从整点起每 15 分钟"),
        ("0 9-17 * * 1-5", "every weekday, every hour from 09:00 to 17:00", "每个工作日，09:00 至 17:00 每小时"),
        ("0 */2 * * *", "every 2 hours from 00:00 on", "从 00:00 起每 2 小时"),
    ],
)
def test_cron_in_words(expression: str, english: str, chinese: str) -> None:
    rule = Cron(expression=expression)

    assert rule_words(rule, BERLIN, "en") == english
    assert rule_words(rule, BERLIN, "zh") == chinese


def test_a_day_or_a_weekday_is_told_from_a_day_that_is_one() -> None:
    """In the first rule either counts, as in cron; a star requires both."""
    assert (
        rule_words(Cron(expression="0 9 1 * 1"), BERLIN, "en") == "on the 1st of every month and every Monday at 09:00"
    )
    assert rule_words(Cron(expression="0 9 1 * */8"), BERLIN, "en") == (
        "on the 1st of every month at 09:00, but only if that is a Sunday"
    )


@pytest.mark.parametrize(
    ("seconds", "english", "chinese"),
    [
        (60, "every minute", "每分钟"),
        (90, "every 90 seconds", "每 90 秒"),
        (1800, "every 30 minutes", "每 30 分钟"),
        (3600, "every hour", "每小时"),
        (5400, "every 90 minutes", "每 90 分钟"),
        (86_400, "every 24 hours", "每 24 小时"),
        (172_800, "every 2 days", "每 2 天"),
    ],
)
def test_intervals_in_words(seconds: int, english: str, chinese: str) -> None:
    rule = Every(seconds=seconds, since=NOW)

    assert rule_words(rule, BERLIN, "en") == english
    assert rule_words(rule, BERLIN, "zh") == chinese


def test_a_moment_in_words() -> None:
    at = moment("2026-12-24 09:00")

    assert rule_words(Once(at=at), BERLIN, "en") == "on Thu 24 Dec 2026 at 09:00"
    assert rule_words(Once(at=at), BERLIN, "zh") == "2026年12月24日 周四 09:00"
    assert slot_words(at, BERLIN, "en", NOW) == "Thu 24 Dec 09:00"
    assert slot_words(at, BERLIN, "zh", NOW) == "12月24日 周四 09:00"
    assert slot_words(moment("2027-01-01 09:00"), BERLIN, "en", NOW) == "Fri 1 Jan 2027 09:00"


def told(expression: str, zone: ZoneInfo = BERLIN, now: float = NOW) -> list[str]:
    change = next_change(Cron(expression=expression), zone, now)
    return [change_words(change, zone, language, now) for language in ("en", "zh")] if change else []


def test_people_are_told_that_the_time_of_day_stays() -> None:
    assert told("0 9 * * *") == [
        "Clocks change on Sun 28 Mar 2027: 09:00 stays 09:00.",
        "2027年3月28日 周日 时钟调整：09:00 仍是 09:00。",
    ]


def test_they_are_told_what_becomes_of_a_time_that_is_left_out() -> None:
    assert told("30 2 * * *")[0] == (
        "Clocks go forward on Sun 28 Mar 2027: there is no 02:30 that day, so it comes at 03:00."
    )
    assert told("30 23 * * *", NUUK)[0] == (
        "Clocks go forward on Sat 27 Mar 2027: there is no 23:30 that day, so it comes at 00:00."
    )


def test_they_are_told_what_becomes_of_a_time_that_comes_twice() -> None:
    assert told("30 2 * * *", now=moment("2027-04-01 12:00"))[0] == (
        "Clocks go back on Sun 31 Oct: 02:30 comes twice, and only the first one counts."
    )


@pytest.mark.parametrize("expression", ["*/30 * * * *", "0 * * * *"])
def test_what_does_not_go_by_the_hour_knows_no_change(expression: str) -> None:
    assert told(expression) == []


def test_a_zone_that_has_none_knows_no_change() -> None:
    assert told("0 9 * * *", ZoneInfo("Asia/Shanghai")) == []
    assert next_change(Once(at=NOW + 1), BERLIN, NOW) is None
    assert next_change(Every(seconds=60, since=NOW), BERLIN, NOW) is None


def test_a_change_before_the_first_run_needs_no_words() -> None:
    assert told("0 9 1 7 *") == [
        "Clocks change on Sun 31 Oct 2027: 09:00 stays 09:00.",
        "2027年10月31日 周日 时钟调整：09:00 仍是 09:00。",
    ]
