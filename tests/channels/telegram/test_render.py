"""Markdown as users see it on Telegram."""

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from channels.attachments import Attachment
from channels.base import Button, OutboundMessage
from channels.telegram.render import (
    MAX_CAPTION,
    MAX_ENTITIES,
    MAX_ENTITY_BYTES,
    MAX_TEXT,
    entity_bytes,
    keyboard,
    plain,
    render,
    split,
)
from channels.text import literal, utf16_len, visible
from tests.examples import examples


def marks(markdown: str) -> list[tuple[str, str]]:
    """Return each formatted stretch of the rendered text with its kind."""
    text, entities = render(markdown)
    units = text.encode("utf-16-le")
    found = []
    for entity in entities:
        offset, length = entity["offset"], entity["length"]
        assert isinstance(offset, int)
        assert isinstance(length, int)
        found.append((str(entity["type"]), units[2 * offset : 2 * (offset + length)].decode("utf-16-le")))
    return found


@pytest.mark.parametrize(
    ("markdown", "text"),
    [
        ("plain words", "plain words"),
        ("**bold** and *slanted*", "bold and slanted"),
        ("# Title\n\ntext", "Title\n\ntext"),
        ("- one\n- two", "• one\n• two"),
        ("1. one\n2. two", "1. one\n2. two"),
        ("- [x] done\n- [ ] open", "✅ done\n☑ open"),
        ("[site](https://example.org/Foo_(bar))", "site"),
        ("call `f(x)` with vector<int> or <name>", "call f(x) with vector<int> or <name>"),
        ("a < b and `<x>`", "a < b and <x>"),
        ("<b>bold</b> and<br>more <!-- unseen -->", "bold and more"),
        ("<div>\nkept\n</div>", "kept"),
        ("```html\n<div>kept</div>\n```", "<div>kept</div>"),
        ("costs $5 or $6", "costs $5 or $6"),
        ("中文**加粗**文字", "中文加粗文字"),
    ],
)
def test_the_words(markdown: str, text: str) -> None:
    assert render(markdown).text.strip() == text


@pytest.mark.parametrize(
    ("markdown", "expected"),
    [
        ("a **b** c", [("bold", "b")]),
        ("👍🏽 **b**", [("bold", "b")]),
        ("`x`", [("code", "x")]),
        ("~~gone~~", [("strikethrough", "gone")]),
        ("> said\n> so", [("blockquote", "said\nso")]),
        ("> a\n>> b\n> c", [("blockquote", "a\nb\nc")]),
        ("[a](https://example.org)", [("text_link", "a")]),
    ],
)
def test_the_formatting(markdown: str, expected: list[tuple[str, str]]) -> None:
    assert marks(markdown) == expected


def test_code_keeps_its_language() -> None:
    _, (entity,) = render("```python\nx = 1\n```")
    assert (entity["type"], entity["language"]) == ("pre", "python")


@pytest.mark.parametrize("nothing", ["", " \n", "\u200b", "\u2060\u200d"])
def test_nothing_visible_is_shown_as_something(nothing: str) -> None:
    assert render(nothing) == ("…", ())


@pytest.mark.parametrize("odd", ["<!-- c -->", "```\n```", "> ", ">" * 500, "[x]: https://example.org", "`" * 50])
def test_markdown_that_would_show_nothing_is_shown_as_it_is(odd: str) -> None:
    assert render(odd) == plain(odd)


MARKDOWN = st.text(st.sampled_from("ab *_`~[]()<>#-|!\n1.👍🏽漢$\\&"), max_size=300)


@settings(max_examples=examples(200))
@given(st.text('ab_[](){}\\=-*~`!<>"', min_size=1, max_size=30).map(lambda name: f"x{name}x"))
def test_a_literal_text_is_shown_as_it_is(name: str) -> None:
    assert render(f"- Called {literal(name)}: done").text.strip() == f"• Called {name}: done"


@pytest.mark.parametrize(
    ("markdown", "text"),
    [
        (r"so \(x = 1\) is it", "so x = 1 is it"),
        ("\\[ x = 1 \\]", "x = 1"),
        (r"then \[ \frac{a}{b} \] is it", "then a/b is it"),
    ],
)
def test_formulas_are_shown_as_text(markdown: str, text: str) -> None:
    assert " ".join(render(markdown).text.split()) == text


@given(MARKDOWN)
def test_whatever_comes_is_valid_for_telegram(markdown: str) -> None:
    text, entities = render(markdown)
    size = utf16_len(text)

    assert visible(text)
    for entity in entities:
        offset, length = entity["offset"], entity["length"]
        assert isinstance(offset, int)
        assert isinstance(length, int)
        assert 0 <= offset < offset + length <= size


@settings(max_examples=examples(60))
@given(st.lists(MARKDOWN, min_size=20, max_size=40).map("\n\n".join))
def test_every_part_of_a_long_answer_fits(markdown: str) -> None:
    for part in split(OutboundMessage(markdown=markdown)):
        assert utf16_len(render(part.markdown).text) <= MAX_TEXT


def test_a_long_answer_replies_first_and_has_its_buttons_last() -> None:
    rows = ((Button(label="OK", action="ok"),),)
    parts = split(OutboundMessage(markdown="word " * 3_000, reply_to="5", buttons=rows, silent=True))

    assert [part.reply_to for part in parts] == ["5"] + [None] * (len(parts) - 1)
    assert [part.buttons for part in parts] == [()] * (len(parts) - 1) + [rows]
    assert all(part.silent for part in parts)


def test_a_short_text_is_the_caption_of_the_first_file() -> None:
    files = (Attachment(name="a.png", path="/a.png"), Attachment(name="b.png", path="/b.png"))
    rows = ((Button(label="OK", action="ok"),),)
    (one,) = split(OutboundMessage(markdown="look", attachments=files[:1], buttons=rows))
    parts = split(OutboundMessage(markdown="look", attachments=files))

    assert (one.markdown, one.attachments, one.buttons) == ("look", files[:1], rows)
    assert [(part.markdown, part.attachments) for part in parts] == [("look", files[:1]), ("", files[1:])]


def test_a_longer_text_goes_before_the_files() -> None:
    file = Attachment(name="a.png", path="/a.png")
    parts = split(OutboundMessage(markdown="a" * (MAX_CAPTION + 1), attachments=(file,)))

    assert [(len(part.markdown), len(part.attachments)) for part in parts] == [(MAX_CAPTION + 1, 0), (0, 1)]


def test_links_do_not_count_as_they_are_written() -> None:
    links = ("[word](https://example.org/a/rather/long/address/of/a/page)" + " word" * 16 + " ") * 90

    assert len(links) > 3 * MAX_TEXT
    assert len(split(OutboundMessage(markdown=links))) == 1 + len(render(links).text) // MAX_TEXT


FORMATTED = st.sampled_from(
    ["**b** ", "`c` ", "~~s~~ ", "**`a` b *c*** ", "[l](https://example.org/page) ", "\n\n> q\n\n", "\n- ", "word "]
)


@settings(max_examples=examples(60))
@given(st.lists(FORMATTED, min_size=1, max_size=400).map("".join), st.sampled_from(("", "x" * 300)))
def test_no_part_has_more_formatting_than_telegram_shows(markdown: str, longer: str) -> None:
    markdown = markdown.replace("page", f"page/{longer}")
    for part in split(OutboundMessage(markdown=markdown)):
        entities = render(part.markdown).entities
        assert len(entities) <= MAX_ENTITIES
        assert entity_bytes(entities) <= MAX_ENTITY_BYTES


def test_words_with_more_formatting_than_a_caption_shows_go_before_the_files() -> None:
    file = Attachment(name="a.png", path="/a.png")
    parts = split(OutboundMessage(markdown="**b** `c` " * 60, attachments=(file,)))

    assert [len(part.attachments) for part in parts] == [0, 0, 1]


def test_a_table_is_a_block_of_even_columns_with_numbers_on_the_right() -> None:
    table = "before\n\n| Name | n | ok |\n|:--|--:|:-:|\n| **Ann** | 1 | y |\n| 漢字 | 22 | no |\n\nafter"

    assert marks(table) == [("pre", "Name   n  ok\n────  ──  ──\nAnn    1  y\n漢字  22  no")]
    assert render(table).text.startswith("before")
    assert render("```\n| a | b |\n|---|---|\n```").text.strip() == "| a | b |\n|---|---|"


def test_a_table_that_is_too_wide_for_a_phone_is_a_paragraph_for_each_row() -> None:
    columns = [f"column {number}" for number in range(9)]
    rows = [[f"cell {row}{number}" for number in range(9)] for row in (1, 2)]
    lines = [columns, ["---"] * 9, *rows]
    table = "\n".join(f"| {' | '.join(cells)} |" for cells in lines)

    assert [words for kind, words in marks(table) if kind == "bold"] == ["cell 10", "cell 20"]
    assert not any(kind == "pre" for kind, _ in marks(table))
    assert "column 3: cell 13\ncolumn 4: cell 14" in render(table).text


def test_buttons() -> None:
    rows = ((Button(label="Yes", action="y"), Button(label="\u200b", action="n")), ())

    assert keyboard(rows) == {
        "inline_keyboard": [[{"text": "Yes", "callback_data": "y"}, {"text": "…", "callback_data": "n"}]]
    }


@pytest.mark.parametrize(
    ("button", "style"),
    [
        (Button(label="Approve", action="x", style="primary", says="yes"), "success"),
        (Button(label="Deny", action="x", style="danger", says="no"), "danger"),
        (Button(label="Cancel", action="x", style="quiet", says="no"), None),
        (Button(label="Add", action="x", style="primary"), "primary"),
        (Button(label="Delete", action="x", style="danger"), "danger"),
        (Button(label="More", action="x"), None),
    ],
)
def test_buttons_have_the_colours_of_what_they_do(button: Button, style: str | None) -> None:
    rows = keyboard(((button,),))

    assert isinstance(rows, dict)
    assert rows["inline_keyboard"] == [
        [{"text": button.label, "callback_data": "x", **({"style": style} if style else {})}]
    ]


def test_a_button_has_room_for_what_telegram_takes() -> None:
    assert "漢" * 21 in str(keyboard(((Button(label="x", action="漢" * 21),),)))


@given(st.text(alphabet="$ab1 \\()[]{}_*.<>`~|x-", min_size=1, max_size=30))
@settings(max_examples=examples(200))
def test_literal_text_with_signs_of_formulas_is_shown_as_it_is(text: str) -> None:
    words = f"a{text}b"
    assert render(literal(words)).text == words
    assert not render(literal(words)).entities
