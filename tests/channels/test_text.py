"""Splitting, measuring and parsing commands hold for any text, not only our own."""

import re
from collections.abc import Callable

import pytest
import regex  # type: ignore[import-untyped]
from hypothesis import given, settings
from hypothesis import strategies as st
from markdown_it import MarkdownIt

from channels.attachments import Attachment
from channels.base import Button, OutboundMessage
from channels.text import in_link, literal, parse_command, split_markdown, split_message, utf16_len, visible
from tests.cpu import cpu_seconds_at_most
from tests.examples import examples

WORDS = st.text(st.sampled_from("ab cde. é漢字。👍🏽🇫🇷*_[]()\t\u0301\n"), max_size=120)
CODE = st.lists(st.text(st.sampled_from("ab  x=1()"), max_size=40), max_size=30)
FENCED = st.builds(
    lambda mark, language, lines: "\n".join([mark + language, *lines, mark]),
    st.sampled_from(["```", "~~~", "````"]),
    st.sampled_from(["", "py", "c++"]),
    CODE,
)
DOCUMENTS = st.lists(st.one_of(WORDS, FENCED), max_size=12).map("\n\n".join)
PARSER = MarkdownIt()


def at_most(limit: int) -> Callable[[str], bool]:
    return lambda part: utf16_len(part) <= limit


def bare(text: str) -> str:
    """Return the text without white space, fences and quote marks, which splitting may change."""
    lines = [line for line in text.split("\n") if not re.match(r"[ \t>]*(```|~~~)", line)]
    return re.sub(r"\s", "", "".join(lines)).replace(">", "")


def graphemes(text: str) -> list[str]:
    return [cluster.strip() for cluster in regex.findall(r"\X", text) if cluster.strip()]


def code_of(text: str) -> str:
    return "".join(re.sub(r"\s", "", token.content) for token in PARSER.parse(text) if token.type == "fence")


@settings(max_examples=examples(150))
@given(DOCUMENTS, st.integers(40, 200))
def test_parts_fit_hold_words_and_lose_nothing(document: str, limit: int) -> None:
    parts = split_markdown(document, at_most(limit), size=limit)

    assert all(part.strip() for part in parts)
    assert all(utf16_len(part) <= limit for part in parts)
    assert bare("\n".join(parts)) == bare(document)


@settings(max_examples=examples(150))
@given(DOCUMENTS, st.integers(40, 200))
def test_code_stays_code_in_every_part(document: str, limit: int) -> None:
    parts = split_markdown(document, at_most(limit), size=limit)

    assert "".join(code_of(part) for part in parts) == code_of(document)


@settings(max_examples=examples(150))
@given(st.text(st.sampled_from("a é👍🏽👩\u200d👧🇫🇷e\u0301\r\n漢"), max_size=400), st.integers(10, 60))
def test_no_grapheme_is_torn(document: str, limit: int) -> None:
    parts = split_markdown(document, at_most(limit), size=limit)

    assert [cluster for part in parts for cluster in graphemes(part)] == graphemes(document)


@settings(max_examples=examples(50))
@given(DOCUMENTS)
def test_what_was_split_is_not_split_again(document: str) -> None:
    for part in split_markdown(document, at_most(100), size=100):
        assert split_markdown(part, at_most(100), size=100) == (part,)


def test_a_message_becomes_texts_then_files() -> None:
    """The first part is the reply, the last text has the buttons, and a short text is the caption of the first file."""
    files, rows = (Attachment(name="a"), Attachment(name="b")), ((Button(label="Yes", action="yes"),),)
    message = OutboundMessage(markdown="one two", attachments=files, buttons=rows, reply_to="7")

    apart = split_message(message, str.split, lambda _: False)
    together = split_message(message, str.split, lambda _: True)

    assert [part.markdown for part in apart] == ["one", "two", "", ""]
    assert [part.attachments for part in apart] == [(), (), files[:1], files[1:]]
    assert [bool(part.buttons) for part in apart] == [False, True, False, False]
    assert [part.reply_to for part in apart] == ["7", None, None, None]
    assert [(part.markdown, part.attachments) for part in together] == [("one two", files[:1]), ("", files[1:])]
    assert together[0].buttons == rows


@pytest.mark.parametrize("nothing", ["", "  \n\t ", "\n" * 10_000, " " * 10_000])
def test_nothing_is_no_part(nothing: str) -> None:
    assert split_markdown(nothing, at_most(100)) == ()


def test_a_grapheme_longer_than_a_part_is_torn_rather_than_lost() -> None:
    zalgo = "a" + "\u0301" * 500
    parts = split_markdown(zalgo, at_most(100), size=100)

    assert "".join(parts) == zalgo
    assert all(len(part) <= 100 for part in parts)


def test_a_fence_is_closed_and_opened_again_with_its_language() -> None:
    code = "\n".join(f"line_{number} = {number}" for number in range(20))
    parts = split_markdown(f"Look:\n\n```python\n{code}\n```\n\nDone.", at_most(150), size=150)

    assert parts[0].startswith("Look:\n\n```python\n")
    assert all(part.startswith("```python\n") for part in parts[1:])
    assert all(part.count("```") == 2 for part in parts)
    assert parts[-1].endswith("```\n\nDone.")


def test_a_fence_that_fits_in_a_part_of_its_own_is_not_torn() -> None:
    code = "```py\n" + "x = 1\n" * 10 + "```"
    parts = split_markdown("word " * 12 + "\n\n" + code, at_most(100), size=100)

    assert parts == (("word " * 12).strip(), code)


def test_a_fence_left_open_is_closed() -> None:
    assert split_markdown("```py\nx = 1", at_most(100)) == ("```py\nx = 1\n```",)


def test_a_fence_inside_a_fence_is_code() -> None:
    inner = "\n".join(["````md", "```py", *["x = 1"] * 20, "```", "````"])
    parts = split_markdown(inner, at_most(80), size=80)

    assert all(part.startswith("````md\n") and part.endswith("\n````") for part in parts)


def test_a_fence_in_a_quote_stays_in_the_quote() -> None:
    quote = "> ```py\n" + "> x = 1\n" * 20 + "> ```\n\nafter"
    parts = split_markdown(quote, at_most(90), size=90)

    assert all(part.startswith("> ```py\n") for part in parts)
    assert parts[-1].endswith("> ```\n\nafter")


def test_a_fence_in_a_list_is_opened_again_without_the_bullet() -> None:
    parts = split_markdown("- ```py\n" + "  x = 1\n" * 20 + "  ```", at_most(70), size=70)

    assert parts[1].startswith("  ```py\n  x")


def test_a_quote_cut_in_a_line_goes_on_as_a_quote() -> None:
    parts = split_markdown("> " + "word " * 60, at_most(100), size=100)

    assert all(part.startswith("> word") for part in parts)


@pytest.mark.parametrize(
    ("text", "first"),
    [
        ("a" * 40 + "\n\n" + "b" * 30 + "\n" + "c" * 60, "a" * 40),
        ("a" * 40 + "\n" + "b" * 30 + ". " + "c" * 60, "a" * 40),
        ("a" * 40 + " x. " + "b" * 30 + " " + "c" * 60, "a" * 40 + " x."),
        ("漢" * 60 + "。" + "字" * 60, "漢" * 60 + "。"),
        ("a" * 30 + " " + "b" * 100, "a" * 30),
        (
            "word " * 10 + "[a link with words](https://example.org/and/a/rather/long/address)" + " x" * 40,
            "word " * 9 + "word",
        ),
        ("a" * 200, "a" * 80),
    ],
    ids=["paragraph", "line", "sentence", "Chinese sentence", "word", "link", "no boundary"],
)
def test_the_cut_is_where_it_hurts_least(text: str, first: str) -> None:
    assert split_markdown(text, at_most(80), size=80)[0] == first


def test_the_caller_measures_after_conversion() -> None:
    asked = []

    def doubled(part: str) -> bool:
        asked.append(part)
        return 2 * len(part) <= 1_000

    parts = split_markdown("word " * 2_000, doubled, size=1_000)

    assert all(2 * len(part) <= 1_000 for part in parts)
    assert len(asked) <= 4 * len(parts)


@pytest.mark.parametrize(
    "bomb", ["[", "*", ">", "`", "```\n", "~", "[x](", "> ", "- ", "\\", "\n\n", "👍🏽", "$", "<a>", "a\u0301"]
)
def test_a_bomb_of_one_kind_is_split_at_once(bomb: str) -> None:
    document = (bomb * 100_000)[:100_000]

    with cpu_seconds_at_most(0.5):
        parts = split_markdown(document, at_most(4_096), size=4_096)

    assert all(utf16_len(part) <= 4_096 for part in parts)


@pytest.mark.parametrize(("text", "length"), [("", 0), ("abc", 3), ("漢", 1), ("👍", 2), ("👍🏽", 4), ("\ud800", 1)])
def test_length_is_counted_as_telegram_does(text: str, length: int) -> None:
    assert utf16_len(text) == length


@pytest.mark.parametrize(
    "unseen", ["", " \n", "\u200b", "\u2060\ufeff", "\x00\x1b", "\u202e\u200f", "\u0301", "\u3164 "]
)
def test_nothing_to_see(unseen: str) -> None:
    assert not visible(unseen)


@pytest.mark.parametrize("seen", ["a", "\u200ba", ".", "👍", "漢", "א"])
def test_something_to_see(seen: str) -> None:
    assert visible(seen)


@pytest.mark.parametrize(
    ("text", "name", "arguments", "addressed"),
    [
        ("/help", "help", "", True),
        ("/Help", "help", "", True),
        ("/help@parley_bot", "help", "", True),
        ("/help@PARLEY_BOT now", "help", "now", True),
        ("/help@other_bot", "help", "", False),
        ("/start  deep link ", "start", "deep link", True),
        ("/new\nwith\nlines", "new", "with\nlines", True),
    ],
)
def test_a_command_is_read(text: str, name: str, arguments: str, addressed: bool) -> None:  # noqa: FBT001
    assert parse_command(text, {"Parley_Bot"}) == (name, arguments, addressed)


@pytest.mark.parametrize(
    "text", ["", "/", "help", "/usr/bin/env", "//help", "/help!", "say /help", "/漢", "/" + "a" * 40]
)
def test_other_words_are_no_command(text: str) -> None:
    assert parse_command(text, {"parley_bot"}) is None


@pytest.mark.parametrize("begins", ["# x", "- x", "+ x", "1. x", "12) x", "===", "---", "  - x", "\t# x"])
def test_no_line_of_a_literal_text_begins_a_heading_or_an_item(begins: str) -> None:
    kinds = {each.type for each in PARSER.parse(literal(f"text\n{begins}\rmore\r{begins}"))}

    assert kinds == {"paragraph_open", "inline", "paragraph_close"}


def test_a_literal_text_of_one_line_keeps_its_signs() -> None:
    assert literal("-5 + 3 = 1. #x") == "-5 + 3 = 1. #x"


@pytest.mark.parametrize(
    ("address", "link"),
    [
        ("https://a.example/in?x=1&y=%20[2]#z", "https://a.example/in?x=1&y=%20[2]#z"),
        ("https://a.example/a) [b](https://b.example/", "https://a.example/a%29%20[b]%28https://b.example/"),
        ("https://a.example/*a*`<b>\\\n# c", "https://a.example/%2Aa%2A%60%3Cb%3E%5C%0A#%20c"),
        ("https://a.example/\u202eü", "https://a.example/%E2%80%AE%C3%BC"),
    ],
)
def test_what_would_end_or_change_a_link_is_encoded_in_its_address(address: str, link: str) -> None:
    assert in_link(address) == link
    [paragraph] = [each for each in MarkdownIt().parse(f"[here]({link})") if each.type == "inline"]
    assert [each.type for each in paragraph.children or ()] == ["link_open", "text", "link_close"]
