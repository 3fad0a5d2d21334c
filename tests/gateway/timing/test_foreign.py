"""Sentences in languages that Parley does not read are never taken for the figures in them."""

import pytest

from gateway.schedule.times.grammar import read_when
from gateway.store.rule import BadRule
from tests.gateway.jobs.kit import PARIS, moment

NOW = moment("2026-07-01 08:00")


@pytest.mark.parametrize(
    "text",
    [
        "morgen um 9 Uhr Ben anrufen",
        "Ben anrufen morgen um 9:00",
        "Ben anrufen um 9:00",
        "9:00 morgen Ben anrufen",
        "in 20 Minuten Ben anrufen",
        "jeden Tag um 9 Uhr aufstehen",
        "demain à 9h appeler Ben",
        "appeler Ben à 9:00",
        "tous les jours à 9h00 pilule",
        "lundi à 14:30 réunion",
        "mañana a las 9 am llamar a Ben",
        "llamar a Ben a las 9:00",
        "el lunes a las 9:00 llamar",
        "chiamare Ben alle 9:00",
        "amanhã às 9h ligar",
        "завтра в 9:00 позвонить",
        "9:00 завтра позвонить",
        "明日の9時にベンに電話",
        "明日9時に電話",
        "毎日9時に薬",
        "내일 9:00 전화",
    ],
)
def test_a_sentence_of_another_language_is_not_read_in_part(text: str) -> None:
    with pytest.raises(BadRule) as caught:
        read_when(text, PARIS, NOW)
    assert caught.value.key == "rule_not_understood"


@pytest.mark.parametrize(
    ("text", "at"),
    [
        ("tomorrow 9:00 call たなか", "2026-07-02 09:00"),
        ("tomorrow 9:00 позвонить маме", "2026-07-02 09:00"),
        ("tomorrow 9:00 Guten Morgen sagen", "2026-07-02 09:00"),
        ("tomorrow 9:00 call Domingo", "2026-07-02 09:00"),
        ("下周三下午三点半去接孩子", "2026-07-08 15:30"),
    ],
)
def test_what_a_reminder_says_may_be_in_any_language(text: str, at: str) -> None:
    assert read_when(text, PARIS, NOW).rule.at == moment(at)  # type: ignore[union-attr]
