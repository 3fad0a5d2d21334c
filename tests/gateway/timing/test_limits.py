"""Words that limit a recurrence are asked about where they are not read, wherever they stand."""

from datetime import datetime
from zoneinfo import ZoneInfo

import pytest

from gateway.schedule.times.grammar import parse_when, read_when
from gateway.schedule.times.words import rule_words
from gateway.store.rule import BadRule
from gateway.texts.say import LANGUAGES, say

UTC = ZoneInfo("UTC")
SUNDAY = datetime(2026, 11, 22, 11, 0, tzinfo=UTC).timestamp()


@pytest.mark.parametrize(
    "text",
    [
        "every day at 9 take pills for 3 weeks",
        "every day at 9am take pills for the next two months.",
        "every day at 9 take pills until friday",
        "every day at 9 take pills until the end of the year",
        "every monday at 9 until christmas call",
        "every monday at 9 till 2027 call",
        "every monday at 9 (until New Year's Eve) call",
        "every monday at 9 up to and including 14 december call",
        "every monday at 9 skipping holidays call",
        "every monday at 9 unless it is a holiday call",
        "every day at 9 take pills starting tomorrow",
        "every day at 9 take pills except on sundays",
        "every day at 9am as of 1 december pills",
        "every day at 9 ten times pills",
        "from monday take pills every day at 9",
        "for 3 weeks take pills every day at 9",
        "every hour stretch until 5pm",
        "every 30 minutes drink between 9:00 and 17:00",
        "every hour drink on weekdays",
        "every hour from nine to five drink",
        "every 2 hours during the day drink",
        "every 45 minutes in work hours stretch",
        "0 9 * * * until christmas call",
        "每天9点直到年底 吃药",
        "每天9点吃药到年底",
        "每天9点吃药，持续三周",
        "每天9点吃药，从下周一开始",
        "每天9点 共5次 吃药",
        "每天9点吃药，周末除外",
        "每小时喝水，9点到18点",
    ],
)
def test_a_limit_that_is_not_read_is_asked_about(text: str) -> None:
    with pytest.raises(BadRule) as caught:
        parse_when(text, UTC, SUNDAY)

    assert caught.value.key in ("rule_limited", "rule_half_understood")
    assert all(say(caught.value.key, language, **caught.value.facts) for language in LANGUAGES)


@pytest.mark.parametrize(
    "text", ["every day 9:00 until 24 December: water the plants", "每天9点到12月24日：浇花"], ids=["en", "zh"]
)
def test_what_the_question_proposes_is_read(text: str) -> None:
    when = parse_when(text, UTC, SUNDAY)

    assert rule_words(when.rule, UTC, "en") == "every day at 09:00, until Thu 24 Dec 2026"
    assert any(text in say("rule_limited", language, words="x") for language in LANGUAGES)


@pytest.mark.parametrize(
    ("text", "rest"),
    [
        ("every day at 9: take pills for 3 weeks", "take pills for 3 weeks"),
        ("每天9点：吃药到年底", "吃药到年底"),
        ("every day at 9 walk for 30 minutes", "walk for 30 minutes"),
        ("every day at 9 work until 17:00", "work until 17:00"),
        ("every day at 9 list all mails except newsletters", "list all mails except newsletters"),
        ("every friday at 17:00 tell what happened during the week", "tell what happened during the week"),
        ("every monday at 9 starting lineup", "starting lineup"),
        ("every hour tell what is new today", "tell what is new today"),
        ("every day at 9 fix it for the next person", "fix it for the next person"),
        ("每天9点总结昨天的邮件", "总结昨天的邮件"),
    ],
)
def test_what_is_to_be_said_limits_nothing(text: str, rest: str) -> None:
    assert parse_when(text, UTC, SUNDAY).rest == rest


@pytest.mark.parametrize("text", ["tomorrow at 9am take pills for 3 days", "明天早上9点吃药，连续三天"])
def test_a_single_time_beside_a_limit_is_confirmed_first(text: str) -> None:
    assert not read_when(text, UTC, SUNDAY).is_certain
