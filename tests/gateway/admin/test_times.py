"""Moments are told by their distance from now, in the words of browsers, and exactly beside it."""

from zoneinfo import ZoneInfo

import pytest

from gateway.admin.times import ago, time_element

PARIS = ZoneInfo("Europe/Paris")
NOW = 1_795_170_240.0
MINUTE, HOUR, DAY = 60, 3_600, 86_400


@pytest.mark.parametrize(
    ("seconds", "english", "chinese"),
    [
        (0, "now", "现在"),
        (-44, "now", "现在"),
        (-50, "1 minute ago", "1分钟前"),
        (5 * MINUTE, "in 5 minutes", "5分钟后"),
        (-3 * HOUR, "3 hours ago", "3小时前"),
        (DAY, "in 1 day", "1天后"),
        (-8 * DAY, "12 Nov 2026 11:24", "2026年11月12日 11:24"),
    ],
)
def test_a_distance_is_told_in_both_languages(seconds: float, english: str, chinese: str) -> None:
    assert ago(NOW + seconds, NOW, PARIS, "en") == english
    assert ago(NOW + seconds, NOW, PARIS, "zh") == chinese


def test_the_exact_moment_stands_beside_it() -> None:
    assert time_element(NOW, NOW, PARIS, "en") == (
        '<time datetime="2026-11-20T11:24:00+01:00" title="20 Nov 2026 11:24:00 Europe/Paris">now</time>'
    )
