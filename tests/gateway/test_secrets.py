"""A secret is masked in every encoding, at a cost that no input can drive up."""

import base64
import html
import json
import textwrap
from collections.abc import Callable
from threading import Thread
from urllib.parse import quote, quote_plus

import pytest

from gateway.security.masking import MASK
from gateway.security.secrets import Secrets
from tests.cpu import cpu_seconds_at_most

BOT = "1234567890:AbC+dEf/gH_iJ-kL"
ODD = 'pa"ss wörd/<&>\\x'


def b64(text: str) -> str:
    return base64.b64encode(text.encode()).decode()


def hidden(text: str, *values: str) -> str:
    return Secrets(values or (BOT, ODD)).mask(text)


FORMS: dict[str, Callable[[str], str]] = {
    "as it is": lambda value: value,
    "hex in capitals": lambda value: value.encode().hex().upper(),
    "hex": lambda value: value.encode().hex(),
    "hex in pairs": lambda value: value.encode().hex(" "),
    "every byte quoted": lambda value: "".join(f"%{byte:02X}" for byte in value.encode()),
    "url": lambda value: quote(value, safe=""),
    "url, lower case": lambda value: quote(value, safe="").replace("%2F", "%2f").replace("%2B", "%2b"),
    "path": quote,
    "form": quote_plus,
    "json": json.dumps,
    "json in json": lambda value: json.dumps(json.dumps(value)),
    "repr": repr,
    "html": html.escape,
    "base64": b64,
    "base64 for urls": lambda value: base64.urlsafe_b64encode(value.encode()).decode().rstrip("="),
    "base64 in lines": lambda value: base64.encodebytes(f"{'x' * 50}{value}".encode()).decode(),
    "base64 in short lines": lambda value: "\r\n".join(textwrap.wrap(b64(value), 7)),
    "basic auth": lambda value: b64(f"bot:{value}"),
    "second byte": lambda value: b64(f"x{value}yz"),
    "escaped for Markdown": lambda value: value.replace("_", "\\_").replace("-", "\\-"),
    "with spaces": " ".join,
    "every character escaped in JSON": lambda value: "".join(f"\\u{ord(char):04X}" for char in value),
    "every character as a number in HTML": lambda value: "".join(f"&#{ord(char)};" for char in value),
    "every character as a hex number in HTML": lambda value: "".join(f"&#X{ord(char):X};" for char in value),
    "wrapped in a quotation": lambda value: "> " + "\n> ".join(textwrap.wrap(value, 9)),
    "with what nobody sees": "\u200b".join,
}


@pytest.mark.parametrize("value", [BOT, ODD])
@pytest.mark.parametrize("form", FORMS)
def test_a_secret_is_masked_in_every_form(form: str, value: str) -> None:
    written = FORMS[form](value)

    safe = hidden(f"before {written} after")

    assert safe.startswith("before ")
    assert safe.endswith(" after")
    assert MASK in safe
    assert written not in safe
    longest = max((part for part in safe.split(MASK)), key=len)
    assert len(longest) <= 80, "what is left is what stood around it"


def test_the_rest_of_a_text_stays_as_it_is() -> None:
    text = f"Zoë said:\n  {BOT}\t(twice: {BOT}{BOT}) and `{b64(BOT)}`, \\o/ 小明"

    safe = hidden(text)

    assert safe.startswith("Zoë said:\n  [secret]\t(twice: [secret]) and `[secret]")
    assert safe.endswith(", \\o/ 小明")


def test_a_text_without_a_secret_is_the_same_object() -> None:
    text = "nothing to see here, " * 9

    assert hidden(text) is text
    assert Secrets().mask(text) is text


@pytest.mark.parametrize("value", ["demo", "", "web", "anything", "whatever", "placeholder"])
def test_a_short_value_or_a_mere_word_is_no_secret(value: str) -> None:
    text = f"say {value} and more"

    assert hidden(text, value) == text


def test_what_stands_behind_the_first_word_or_number_is_a_secret_too() -> None:
    assert hidden("key abcdef-0123456789", "Bearer abcdef-0123456789") == "key [secret]"
    assert hidden("AbC+dEf/gH_iJ-kL") == "[secret]"


def test_a_line_of_a_private_key_is_a_secret_too() -> None:
    key = "-----BEGIN KEY-----\nMIIEvQIBADANBgkqhkiG9w0B\nAQEFAASCBKcwggSjAgEAAoIB\n-----END KEY-----"

    assert hidden(f"it is {key}!", key) == "it is [secret]!"
    assert hidden("AQEFAASCBKcwggSjAgEAAoIB", key) == "[secret]"
    assert hidden("-----BEGIN KEY-----", key) == "-----BEGIN KEY-----"


def test_a_secret_in_other_letters_is_masked() -> None:
    assert hidden("говорят «пароль-до-рассвета»", "пароль-до-рассвета") == "говорят «[secret]»"
    assert hidden("пароль-до-рассвета".encode().hex(), "пароль-до-рассвета") == "[secret]"


def test_what_is_added_later_is_masked_from_then_on() -> None:
    secrets = Secrets()
    secrets.add("learned-later")

    assert secrets.mask("it is learned-later") == "it is [secret]"


def test_a_thread_may_add_values_while_others_mask() -> None:
    secrets = Secrets()
    values = [f"sk-live-{number:020d}" for number in range(300)]
    adding = Thread(target=lambda: [*map(secrets.add, values)])
    adding.start()
    while adding.is_alive():
        assert secrets.mask("word " * 3_000) == "word " * 3_000

    assert secrets.count == len(values)
    assert all(secrets.mask(value) == MASK for value in values)


@pytest.mark.parametrize("kept", [16, 20, len(BOT) - 1])
@pytest.mark.parametrize("form", ["as it is", "hex", "base64", "basic auth", "second byte"])
def test_a_long_piece_of_a_long_secret_is_masked(form: str, kept: int) -> None:
    """A text may have been cut before it was masked."""
    secrets, written = Secrets([BOT]), FORMS[form](BOT)
    # Only the part that no neighbouring bytes change.
    first, last = {"basic auth": (6, 41), "second byte": (2, 37)}.get(form, (0, len(written)))
    start, end = written[first : first + kept], written[last - kept : last]

    assert start not in secrets.mask(f"It is {start}... (cut)")
    assert end not in secrets.mask(f"(cut) ...{end} it is")
    assert secrets.mask(f"It is {BOT[:kept]}... (cut)") == "It is [secret]... (cut)"
    assert secrets.mask(f"(cut) {BOT[-kept:]} it is") == "(cut) [secret] it is"


@pytest.mark.parametrize("text", ["call 1234567890 now", "1234567890:AbC", "ends in H_iJ-kL", "password"])
def test_what_only_resembles_a_piece_is_left(text: str) -> None:
    assert hidden(text, BOT, "password1234") == text


def test_a_path_is_masked_as_a_whole_only() -> None:
    path = "/home/ann/projects/demo/key.pem"

    assert hidden(f"open {path}", path) == "open [secret]"
    assert hidden("open /home/ann/projects/demo/notes.md", path) == "open /home/ann/projects/demo/notes.md"


def test_an_address_of_a_database_is_masked_as_a_whole_only() -> None:
    address = "postgresql://parley@/parley?host=/var/run/postgresql"

    assert hidden(f"connect to {address}", address) == "connect to [secret]"
    assert hidden("PostgreSQL at /var/run/postgresql", address) == "PostgreSQL at /var/run/postgresql"
    assert hidden("postgresql://parley@example.org", address) == "postgresql://parley@example.org"


def test_what_many_addresses_begin_with_is_no_piece_of_a_secret_one() -> None:
    hook = "https://hooks.example.com/services/T000/B000/XXXXXXXXXXXX"

    assert hidden(f"post to {hook}", hook) == "post to [secret]"
    assert hidden("(cut) services/T000/B000/XXXXXXXXXXXX", hook) == "(cut) [secret]"
    assert hidden("see https://hooks.example.com/docs", hook) == "see https://hooks.example.com/docs"


@pytest.mark.parametrize("said", range(6, 12))
def test_half_of_a_short_secret_is_masked_at_the_end_of_what_is_still_being_said(said: int) -> None:
    secrets = Secrets(["hunter-23456"])

    assert secrets.mask_unfinished(f"It is {'hunter-23456'[:said]}") == "It is [secret]"
    assert secrets.mask_unfinished(f"It is {'hunter-23456'[:said]} or so") == f"It is {'hunter-23456'[:said]} or so"
    assert secrets.mask(f"It is {'hunter-23456'[:said]}") == f"It is {'hunter-23456'[:said]}"


@pytest.mark.parametrize("said", range(8, len(BOT)))
def test_a_long_secret_does_not_show_while_it_is_being_said(said: int) -> None:
    assert Secrets([BOT]).mask_unfinished(f"It is {BOT[:said]}") == "It is [secret]"


@pytest.mark.parametrize(
    "text",
    [
        "a" * 1_000_000,
        "a " * 500_000,
        "abababab" * 125_000,
        f"{'x7' * 19}x " * 25_000,
        f"{'x7' * 20} " * 24_390,
        "\\" * 1_000_000,
        "散步" * 500_000,
    ],
    ids=["a", "a a", "ab", "nearly", "hits", "backslashes", "wide"],
)
def test_a_text_of_a_megabyte_takes_no_time_to_speak_of(text: str) -> None:
    secrets = Secrets(
        ["a" * 60 + "b", "ab" * 30 + "c", "x7" * 20, *(f"{number:x}-secret-{number}" for number in range(40))]
    )

    with cpu_seconds_at_most(5.0):  # it takes about half a second
        secrets.mask_unfinished(text)
