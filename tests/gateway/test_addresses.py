"""An address that a user wrote is one address: nothing about it is left for untrusted input to choose."""

import pytest

from agent_core.messages import AgentMessage
from gateway.permissions.addresses import given_in, is_given, is_one_of, stay_in
from tests.messages import user

LETTERS = "abcdefghijklmnopqrstuvwxyz"


def given(url: str, *said: str) -> bool:
    messages: list[AgentMessage] = [user(each) for each in said]
    return is_given(url, messages)


@pytest.mark.parametrize(
    "link",
    [
        "https://evil.example/?" + ",".join(f"{letter}.evil.example" for letter in LETTERS),
        "https://evil.example/?" + "&to=".join(f"https://evil.example/{letter}" for letter in LETTERS),
        "https://evil.example/?u=" + ";".join(f"evil.example/{letter}" for letter in LETTERS),
        "evil.example/?" + ",".join(f"{letter}.evil.example" for letter in LETTERS),
    ],
)
def test_the_addresses_inside_of_an_address_are_not_given_with_it(link: str) -> None:
    named = [f"{scheme}{letter}.evil.example" for letter in LETTERS for scheme in ("http://", "https://")]
    named += [f"https://evil.example/{letter}" for letter in LETTERS]

    assert [url for url in named if given(url, f"Sum up {link} please")] == []
    assert given_in(" ".join(named), [user(f"Sum up {link} please")]) == ()


@pytest.mark.parametrize("end", ["", ".", "!", "!!!", ").", "?!", "*", "_~", "'", "。", "，然后", "的内容", "…", "”"])
@pytest.mark.parametrize("scheme", ["http://", "https://", ""])
def test_of_an_address_in_a_sentence_one_form_is_given(scheme: str, end: str) -> None:
    forms = {f"{with_}site.example/a{'' if cut is None else end[:cut]}" for with_ in ("http://", "https://")
             for cut in (None, *range(1, len(end) + 1))}  # fmt: skip

    assert [url for url in forms if given(url, f"Read {scheme}site.example/a{end}")] == [
        f"{scheme or 'https://'}site.example/a"
    ]


@pytest.mark.parametrize(
    ("said", "url"),
    [
        ("(https://example.com/wiki/A_(b)).", "https://example.com/wiki/A_(b)"),
        ("[the page](https://example.com/a)", "https://example.com/a"),
        ("https://de.example/wiki/K\u00e4se!", "https://de.example/wiki/K\u00e4se"),
        ("https://zh.example/wiki/\u5317\u4eac", "https://zh.example/wiki/\u5317\u4eac"),
        ("READ HTTPS://EXAMPLE.COM/A", "https://example.com/A"),
        ("example.com, other.example", "https://other.example"),
    ],
)
def test_an_address_ends_where_a_reader_would_end_it(said: str, url: str) -> None:
    assert given(url, said)


def test_what_a_job_may_read_is_what_was_written_whatever_the_case_of_its_host() -> None:
    known = given_in("Watch https://Ours.example/News.", [user("watch https://ours.example/News, please")])

    assert known == ("https://ours.example/News",)
    assert is_one_of("https://OURS.example/News", known)
    assert not is_one_of("https://ours.example/news", known)


@pytest.mark.parametrize("scheme", ["http://", "https://", ""])
def test_of_an_address_in_a_job_one_form_is_given(scheme: str) -> None:
    known = given_in(f"Watch {scheme}site.example/a.", [user(f"Watch {scheme}site.example/a.")])
    forms = [f"{with_}site.example/a{end}" for with_ in ("http://", "https://") for end in ("", ".", "?", "b")]

    assert [url for url in forms if is_one_of(url, known)] == [f"{scheme or 'https://'}site.example/a"]


def test_of_the_given_addresses_those_stay_that_the_new_text_has() -> None:
    known = ("https://site.example/a", "http://plain.example", "site.example/old")

    assert stay_in(known, "Watch site.example/a and http://plain.example.") == known[:2]
    assert (
        stay_in(known, "Watch https://site.example/abc, https://plain.example and http://site.example/old") == known[2:]
    )


def test_what_an_earlier_version_stored_without_a_scheme_is_read_by_either() -> None:
    assert is_one_of("http://site.example/a", ["site.example/a"])
    assert is_one_of("https://site.example/a", ["site.example/a"])
