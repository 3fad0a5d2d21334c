"""A time that is understood only in part is not used; the user is asked."""

from datetime import datetime
from zoneinfo import ZoneInfo

import pytest

from gateway.schedule.times.grammar import parse_when
from gateway.schedule.times.words import rule_words
from gateway.store.rule import BadRule
from gateway.texts.say import LANGUAGES, say

BERLIN = ZoneInfo("Europe/Berlin")
NOW = datetime(2026, 11, 22, 15, 30, tzinfo=BERLIN).timestamp()
"""A Sunday."""


@pytest.mark.parametrize(
    "text",
    [
        "in 2 weeks on monday at 9",
        "at 17:00 this weekend x",
        "weekdays at 9, weekends at 11 x",
        "every hour at quarter past x",
        "at 17:00 on Christmas Eve x",
        "at 17:00 on New Year's Day x",
        "at 17:00 on my birthday x",
        "at 17:00 the day before Christmas x",
        "x on my birthday at 17:00",
        "christmas day at 8",
        "9点过十分 x",
        "9点差一刻 x",
        "上午9点，24号 x",
        "上午9点 12/24 x",
        "下午5点 2026-12-24 x",
        "下午5点 下周末 x",
        "下午5点 月底 x",
        "下午5点 平安夜 x",
        "上午9点 正月初一 x",
        "12月24日18点每年 x",
        "明天9点和第二天 x",
        "下周一9点加10分钟 x",
        "8月15日9点（农历） x",
        "on 24 december at 18:00 every year x",
        "at 9am every 24th: x",
        "9am on the fourth of December x",
        "at 9am on 2026/12/24 x",
        "at 9am on 24-12-2026 x",
        "9am 24th x",
        "9am Thursday 24th x",
        "9am 24 Dec 26 x",
        "9am Dec 24 '26 x",
        "9am 24Dec x",
        "at 0900 to 1000 x",
        "at 0900 then 1000 x",
        "at 0900; 1000 x",
        "at 0900 (1000) x",
        "every day at 0900 and 1800 x",
        "every day at 0900, 1200 and 1800 x",
        "at 0900 1000 x",
        "at 1830 hrs, 2000 x",
        "at 5 pm tommorow x",
        "at 5 pm New Year's Eve x",
        "at 5 pm christmas eve x",
        "at 5 pm Mother's Day x",
        "9am on December the 4th x",
        "9am (24 Dec) x",
        "9am Friday week x",
        "9am this coming Friday x",
        "at 9am two weeks from today x",
        "at 9am each first monday x",
        "at 17:00 on friday of next week x",
        "tomorrow at 9am and the day after x",
        "9点零5 x",
        "in 1 hour 30 x",
        "明天9点起每天吃药",
        "at 17:00, 10 minutes before x",
        "at 17:00 half an hour early x",
        "at 17:00, remind me an hour in advance",
        "下午3点，提前10分钟提醒我 x",
        "下午3点提前半小时 x",
        "下午3点在国庆 x",
        "下午3点 圣诞节 x",
        "两周后的周五9点 x",
        "in 1h30 x",
        "in 1 hour and 30 x",
        "every 2 hours on weekdays x",
        "every hour until 18:00 x",
        "every 5 minutes for an hour x",
        "every day at 9 or 17 x",
        "every day at 9/17 x",
        "every day at 9, 3 pushups",
        "every day at 9 12 17 x",
        "every morning at 9 and evening at 8 x",
        "every hour at :15 x",
        "at 9:00 next week x",
        "every monday at 9 in december x",
        "@reboot x",
        "@daily at 9 x",
        "@every 5m x",
        "every day at 9:00 except holidays x",
        "weekdays except 24 december at 9 x",
        "every hour from 9 o'clock on x",
        "每天9点除了节假日 x",
        "10:00-11:00 meeting",
        "tomorrow at 9-10 x",
        "meeting from 10:00 to 11:00 tomorrow",
        "at 5 to 9 x",
        "at 9 and again at 10",
        "in 10 minutes, then in 20 minutes x",
        "at 17:00 call mum tomorrow",
        "at 9 call mum every day",
        "friday call mum at 9",
        "call mum yesterday at 9:00",
        "call mum every second day at 9:00",
        "pay rent every second quarter at 9:00",
        "biweekly monday 9:00",
        "be there by 9:00",
        "every hour on the hour x",
        "at 15 past every hour x",
        "每天9点 持续一周 x",
        "每天9点连续三天 x",
        "每周一9点和周三10点 x",
        "9点到10点开会",
        "9点前提醒我",
        "9点左右开会",
        "明天8点20分钟后 x",
        "每天喝水 9点",
        "周五 打电话 9点",
    ],
)
def test_what_is_said_beside_a_time_is_not_passed_over(text: str) -> None:
    with pytest.raises(BadRule) as caught:
        parse_when(text, BERLIN, NOW)

    assert caught.value.key == "rule_half_understood"
    assert all(say(caught.value.key, language, **caught.value.facts) for language in LANGUAGES)


@pytest.mark.parametrize(
    ("text", "rest"),
    [
        ("in 20m and call mum", "and call mum"),
        ("in 20m tend the garden", "tend the garden"),
        ("in 20m as promised call", "as promised call"),
        ("in 20m am I there?", "am I there?"),
        ("in 20m from Peter", "from Peter"),
        ("in 20m for dinner", "for dinner"),
        ("in 20m: monday plan", "monday plan"),
        ("happy birthday at 15:50", "happy birthday"),
        ("wish Ann a nice day at 15:50", "wish Ann a nice day"),
        ("at 15:50 on the way home buy milk", "on the way home buy milk"),
        ("buy 3 apples in 20 minutes", "buy 3 apples"),
        ("20分钟后从烤箱拿出来", "从烤箱拿出来"),
        ("20分钟后和妈妈吃饭", "和妈妈吃饭"),
        ("15点50 20人会议", "20人会议"),
        ("15点五十 20人会议", "20人会议"),
        ("15点50分 3号楼开会", "3号楼开会"),
        ("15点50分 生日聚会", "生日聚会"),
        ("15点50分 2日游出发", "2日游出发"),
        ("at 15:50 take it an hour before dinner", "take it an hour before dinner"),
        ("15点50分 到公司", "到公司"),
        ("20分钟后台测试", "台测试"),
        ("20分钟后的会议", "会议"),
    ],
)
def test_what_is_to_be_said_is_no_time(text: str, rest: str) -> None:
    when = parse_when(text, BERLIN, NOW)

    assert (rule_words(when.rule, BERLIN, "en"), when.rest) == ("on Sun 22 Nov 2026 at 15:50", rest)


def test_a_day_at_the_end_belongs_to_what_is_said_where_the_time_has_one_or_ends_with_a_colon() -> None:
    assert parse_when("tomorrow 9:00 prepare the talk for friday", BERLIN, NOW).rest == "prepare the talk for friday"
    assert parse_when("at 17:00: prepare the talk for friday", BERLIN, NOW).rest == "prepare the talk for friday"
    assert parse_when("every weekday at 9 daily standup", BERLIN, NOW).rest == "daily standup"


def test_a_number_that_cannot_be_minutes_is_what_is_said() -> None:
    assert parse_when("in 2 hours 3 people come", BERLIN, NOW).rest == "3 people come"


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("tomorrow at five pm x", "on Mon 23 Nov 2026 at 17:00"),
        ("tomorrow at five thirty p.m. x", "on Mon 23 Nov 2026 at 17:30"),
        ("a quarter past 7 tomorrow x", "on Mon 23 Nov 2026 at 07:15"),
        ("a quarter after 7 tomorrow x", "on Mon 23 Nov 2026 at 07:15"),
        ("a quarter till 7 tomorrow x", "on Mon 23 Nov 2026 at 06:45"),
        ("tomorrow at ten to nine x", "on Mon 23 Nov 2026 at 08:50"),
        ("tomorrow at twenty past eight pm x", "on Mon 23 Nov 2026 at 20:20"),
        ("20 minutes past 8 tomorrow x", "on Mon 23 Nov 2026 at 08:20"),
        ("工作日每天早上九点 x", "every weekday at 09:00"),
        ("明天北京时间9点 x", "on Mon 23 Nov 2026 at 02:00"),
        ("明天下午三点三十五 x", "on Mon 23 Nov 2026 at 15:35"),
        ("明天早上八点二十 x", "on Mon 23 Nov 2026 at 08:20"),
        ("明天下午三点零五 x", "on Mon 23 Nov 2026 at 15:05"),
        ("明天下午三点零五分 x", "on Mon 23 Nov 2026 at 15:05"),
        ("明天下午三点钟整 x", "on Mon 23 Nov 2026 at 15:00"),
        ("3天后的下午3点 x", "on Wed 25 Nov 2026 at 15:00"),
        ("周一至周五每天早上9点 x", "every weekday at 09:00"),
        ("周一到周五每天9点 x", "every weekday at 09:00"),
        ("at 9 in the evening x", "on Sun 22 Nov 2026 at 21:00"),
        ("tomorrow at 9 in the evening x", "on Mon 23 Nov 2026 at 21:00"),
        ("at 9 tonight x", "on Sun 22 Nov 2026 at 21:00"),
        ("8 tonight x", "on Sun 22 Nov 2026 at 20:00"),
        ("at 9 o'clock x", "on Mon 23 Nov 2026 at 09:00"),
        ("every night at 2:00 x", "every day at 02:00"),
        ("every night at 12 x", "every day at 00:00"),
        ("every afternoon at 3 x", "every day at 15:00"),
        ("mondays at 9 x", "every Monday at 09:00"),
        ("at 9 on mondays x", "every Monday at 09:00"),
        ("monday to friday at 9 x", "every weekday at 09:00"),
        ("every mon-fri 9:00 x", "every weekday at 09:00"),
        ("every fri-mon 9:00 x", "every Monday, Friday, Saturday and Sunday at 09:00"),
        ("next sunday 17:00 x", "on Sun 29 Nov 2026 at 17:00"),
        ("Friday, 4 December 9am x", "on Fri 4 Dec 2026 at 09:00"),
        ("Sunday 3 January 9am x", "on Sun 3 Jan 2027 at 09:00"),
        ("12月4日（周五）上午9点 x", "on Fri 4 Dec 2026 at 09:00"),
        ("at 9am on December 24: x", "on Thu 24 Dec 2026 at 09:00"),
        ("at 9am on 24 December: x", "on Thu 24 Dec 2026 at 09:00"),
        ("at 9am on December 24, 2027: x", "on Fri 24 Dec 2027 at 09:00"),
        ("at 9am on the 24th: x", "on Tue 24 Nov 2026 at 09:00"),
        ("at 9am on the 24th. x", "on Tue 24 Nov 2026 at 09:00"),
        ("at 9am on the 24th of next month: x", "on Thu 24 Dec 2026 at 09:00"),
        ("at 9am monthly on the 15th: x", "on the 15th of every month at 09:00"),
        ("every day at 9 until 24 december: x", "every day at 09:00, until Thu 24 Dec 2026"),
        ("May 5, 10:30: x", "on Wed 5 May 2027 at 10:30"),
        ("in twenty minutes x", "on Sun 22 Nov 2026 at 15:50"),
        ("every half hour x", "every 30 minutes"),
        ("every hour and a half x", "every 90 minutes"),
        ("every 1 hour 30 minutes x", "every 90 minutes"),
        ("10.12.2026 9:00 x", "on Thu 10 Dec 2026 at 09:00"),
        ("每隔一天 x", "every 2 days"),
        ("first day of every month at 9 x", "on the 1st of every month at 09:00"),
        ("on the first of every month at 9 x", "on the 1st of every month at 09:00"),
        ("every first of the month at 9 x", "on the 1st of every month at 09:00"),
        ("每月第一天9点 x", "on the 1st of every month at 09:00"),
        ("每隔两小时 x", "every 2 hours"),
    ],
)
def test_what_people_mean(text: str, words: str) -> None:
    when = parse_when(text, BERLIN, NOW)

    assert (rule_words(when.rule, BERLIN, "en"), when.rest) == (words, "x")


@pytest.mark.parametrize(
    ("text", "why"),
    [
        ("tonight at 12 x", "rule_which_midnight"),
        ("tomorrow midnight x", "rule_which_midnight"),
        ("midnight tomorrow x", "rule_which_midnight"),
        ("tomorrow night at 1 x", "rule_which_time"),
        ("every sunday night at 1 x", "rule_which_time"),
        ("tomorrow morning at 9pm x", "rule_which_time"),
        ("9am tomorrow evening x", "rule_which_time"),
        ("tonight at 9am x", "rule_which_time"),
        ("tomorrow afternoon at 2am x", "rule_which_time"),
        ("9 am at night x", "rule_which_time"),
        ("in 1.5 months x", "rule_not_understood"),
        ("10.12. 9:00 x", "rule_not_understood"),
        ("03.12. at 17:00 x", "rule_not_understood"),
        ("周一到周五天天早上9点 x", "rule_no_time"),
        ("ten to nine x", "rule_not_understood"),
        ("at 9am on Sunday 4 December x", "rule_other_weekday"),
        ("Sunday, December 4th 9am x", "rule_other_weekday"),
        ("12月4日（周日）上午9点 x", "rule_other_weekday"),
        ("five to ten minutes x", "rule_not_understood"),
        ("今晚1点 x", "rule_which_time"),
        ("每天夜里2点 x", "rule_which_time"),
        ("早上15点 x", "rule_which_time"),
        ("每隔两天 x", "rule_which_days"),
    ],
)
def test_what_may_mean_two_things_is_asked(text: str, why: str) -> None:
    with pytest.raises(BadRule) as caught:
        parse_when(text, BERLIN, NOW)

    assert caught.value.key == why
    assert all(say(caught.value.key, language, **caught.value.facts) for language in LANGUAGES)
