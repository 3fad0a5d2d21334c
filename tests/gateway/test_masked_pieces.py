"""A text that comes in pieces is masked as if it had come whole, and its ordinary words come at once."""

import json
from collections.abc import Sequence

import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

from gateway.security.masked_pieces import MaskedPieces
from gateway.security.masking import MASK
from gateway.security.secrets import Secrets
from tests.cpu import growth
from tests.examples import examples
from tests.gateway.test_secrets import BOT, FORMS, ODD
from tests.test_doubling import DOUBLINGS, MOST

SHORT = "Zq7-pX2w"
LONG = "sk-ant-api03-" + "aB3dE5gH7jK9mN1pQ2sT4vW6xY8z" * 3
KEY = "-----BEGIN KEY-----\nMIIEvgIBADANBgkqhkiG9w0B\nAQEFAASCBKgwggSkAgEA\n-----END KEY-----"
SECRETS = (BOT, ODD, SHORT, LONG, KEY, "пароль-длинный", "пароль-длинный-ещё", "https://hooks.example/T0/abcdefghij")
WORDS = ("It is ", "so\n", "> ", " ", "\\", "ok", "你好", "secret", MASK, "Bearer ", "sk-ant-", "aaaa", "п", "\ud800")


def passed_on(pieces: Sequence[str], secrets: Secrets) -> list[str]:
    masked = MaskedPieces(secrets)
    return [*(masked.add(each) for each in pieces), masked.end()]


def cut(text: str, places: Sequence[int]) -> list[str]:
    ends = sorted(place % (len(text) + 1) for place in places)
    return [text[begin:end] for begin, end in zip([0, *ends], [*ends, len(text)], strict=True)]


@st.composite
def parts(draw: st.DrawFn) -> str:
    """Draw a word, or a secret in some form, or a part of it."""
    if draw(st.booleans()):
        return draw(st.sampled_from(WORDS))
    form = FORMS[draw(st.sampled_from(sorted(FORMS)))](draw(st.sampled_from(SECRETS)))
    begin = draw(st.sampled_from((0, 0, 0, draw(st.integers(0, len(form))))))
    return form[begin : draw(st.sampled_from((len(form), draw(st.integers(begin, len(form))))))]


@settings(max_examples=examples(600), deadline=None)
@given(st.lists(parts(), max_size=8).map("".join), st.lists(st.integers(0, 10_000), max_size=40))
@example(f"It is {SHORT[:4]} {SHORT[4:]} .", [10, 11])
@example(f"{LONG}{LONG} {LONG}.", [len(LONG), 2 * len(LONG)])
@example("пароль-длинный-ещ", [14])
def test_pieces_join_to_what_is_masked_as_a_whole(text: str, places: list[int]) -> None:
    secrets = Secrets(SECRETS)

    assert "".join(passed_on(cut(text, places), secrets)) == secrets.mask(text)
    assert "".join(passed_on(list(text), secrets)) == secrets.mask(text)


@pytest.mark.parametrize("size", range(1, 30))
def test_of_a_secret_in_pieces_of_any_size_nothing_leaves(size: int) -> None:
    for form, spelled in FORMS.items():
        text = f"Look: {spelled(LONG)} - that is it."
        pieces = [text[place : place + size] for place in range(0, len(text), size)]
        assert "".join(passed_on(pieces, Secrets([LONG]))) == Secrets([LONG]).mask(text), form


def test_ordinary_words_come_at_once_but_for_a_few_letters() -> None:
    text = "The harbour of Lisbon opens at nine, and boats leave on the hour. " * 20
    masked, came = MaskedPieces(Secrets(SECRETS)), 0

    for place in range(0, len(text), 5):
        came += len(masked.add(text[place : place + 5]))
        assert came >= place - 8


def test_a_secret_that_is_added_on_the_way_is_masked() -> None:
    secrets = Secrets()
    masked = MaskedPieces(secrets)
    said = masked.add("It is ")
    secrets.add(BOT)

    said += "".join(masked.add(letter) for letter in BOT) + masked.end()

    assert said == f"It is {MASK}"


@pytest.mark.parametrize("unit", ["word ", "x", f"{LONG} ", f"{LONG}. ", LONG[:20], f"{ODD} ", "п", json.dumps(KEY)])
def test_a_text_of_twice_the_length_takes_twice_the_time(unit: str) -> None:
    secrets, size = Secrets(SECRETS), 8_000
    short = (unit * (size // len(unit) + 1))[:size]

    def say(text: str) -> None:
        passed_on([text[place : place + 4] for place in range(0, len(text), 4)], secrets)

    long = short * 2**DOUBLINGS
    grown = growth(lambda: say(short), lambda: say(long), times=2**DOUBLINGS, most=MOST**DOUBLINGS)

    assert grown <= MOST**DOUBLINGS
