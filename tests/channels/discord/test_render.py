"""Markdown as users see it on Discord."""

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from channels.attachments import Attachment
from channels.base import Button, OutboundMessage
from channels.discord.render import MAX_TEXT, buttons_of, render, split
from channels.text import utf16_len, visible
from parley.testing.emulators.discord_text import words
from tests.examples import examples


@pytest.mark.parametrize(
    "same",
    [
        "plain words",
        "**bold**, *slanted* and ~~gone~~",
        "# Title\n\ntext",
        "## Smaller\n### Small",
        "- one\n  - two\n1. three",
        "> said\n> so",
        "call `f(x)` and ``a ` b``",
        "```python\nx = 1\n\ny = [2] || 3\n```",
        "[site](https://example.org/Foo_(bar)_baz)",
        "<https://example.org> and https://example.org",
        "costs $5 or $6 <@7> snake_case_name",
        "中文**加粗**文字",
    ],
)
def test_what_discord_reads_as_github_does_stays_as_it_is(same: str) -> None:
    assert render(same) == same


@pytest.mark.parametrize(
    ("markdown", "shown"),
    [
        ("#### Small", "**Small**"),
        ("###### **Tiny** one ######", "**Tiny one**"),
        ("## Closed ##", "## Closed"),
        ("Title\n=====\ntext", "# Title\ntext"),
        ("a\n\n---\n\nb", "a\n\n⎯⎯⎯⎯⎯⎯⎯⎯⎯⎯⎯⎯\n\nb"),
        ("* * *", "⎯⎯⎯⎯⎯⎯⎯⎯⎯⎯⎯⎯"),
        ("- [x] done\n- [ ] open", "- ✅ done\n- ⬜ open"),
        ("+ one", "- one"),
        ("one  \ntwo\\\nthree", "one\ntwo\nthree"),
        ("__bold__", "**bold**"),
        (">said", "> said"),
        (">> deep\n>>> deeper", "> deep\n> deeper"),
        ("a || b", "a \\|\\| b"),
        ("`a || b`", "`a || b`"),
        ("a<br>b<!-- unseen -->", "a\nb"),
        ("![chart](https://example.org/c.png)", "[chart](https://example.org/c.png)"),
        ("![](https://example.org/c.png)", "https://example.org/c.png"),
        ("[docs](docs/a.md)", "docs (docs/a.md)"),
        ("[https://a.org](https://a.org/b)", "https://a.org/b"),
        ('[a](https://a.org "title")', "[a](https://a.org)"),
        ("~~~\nx\n~~~", "```\nx\n```"),
        ("```python title=a.py\nx\n```", "```python\nx\n```"),
        ("before\n```\nx\n```\nafter", "before\n```\nx\n```\nafter"),
        ("> ```\n> x\n> ```", "```\nx\n```"),
    ],
)
def test_what_discord_would_show_otherwise(markdown: str, shown: str) -> None:
    assert render(markdown) == shown


def test_a_table_is_a_block_of_even_columns() -> None:
    table = "before\n\n| Name | n |\n|:--|--:|\n| **Ann** | 1 |\n| 漢字 | 22 |\n\nafter"

    assert render(table) == "before\n\n```\nName   n\n────  ──\nAnn    1\n漢字  22\n```\n\nafter"
    assert render("| a |\n|---|\n| b\\|c |") == "```\na\n───\nb|c\n```"
    assert render("a | b\nno table") == "a | b\nno table"


def test_a_block_of_code_cannot_end_early() -> None:
    assert render("````\n```\nx\n```\n````").count("```") == 2


@pytest.mark.parametrize("nothing", ["", " \n", "\u200b", "\u2060\u200d"])
def test_nothing_visible_is_shown_as_something(nothing: str) -> None:
    assert render(nothing) == "…"


@pytest.mark.parametrize("odd", ["<!-- c -->", "```\n```", "> ", ">" * 500, "[x]: https://example.org", "`" * 50])
def test_odd_markdown_is_shown_somehow(odd: str) -> None:
    assert visible(render(odd))


def test_the_words_stay_the_words() -> None:
    assert words(render("It is **391**, see [here](https://example.org)."), {}) == "It is 391, see here."


MARKDOWN = st.text(st.sampled_from("ab *_`~[]()<>#-|!:\n1.👍🏽漢$\\&="), max_size=300)


@settings(max_examples=examples(200))
@given(MARKDOWN)
def test_whatever_comes_is_not_empty(markdown: str) -> None:
    assert visible(render(markdown))


@settings(max_examples=examples(60))
@given(st.lists(MARKDOWN, min_size=20, max_size=40).map("\n\n".join))
def test_every_part_of_a_long_answer_fits(markdown: str) -> None:
    for part in split(OutboundMessage(markdown=markdown)):
        assert utf16_len(render(part.markdown)) <= MAX_TEXT


def test_a_long_table_keeps_its_columns_in_every_part() -> None:
    rows = "\n".join(f"| row {number} | {number * number} |" for number in range(300))
    parts = [render(part.markdown) for part in split(OutboundMessage(markdown=f"| name | square |\n|---|---|\n{rows}"))]

    assert len(parts) > 1
    assert all(part.startswith("```") and part.endswith("```") and "|" not in part for part in parts)


def test_a_long_answer_replies_first_and_has_its_buttons_last() -> None:
    rows = ((Button(label="OK", action="ok"),),)
    parts = split(OutboundMessage(markdown="word " * 1_500, reply_to="5", buttons=rows, silent=True))

    assert [part.reply_to for part in parts] == ["5"] + [None] * (len(parts) - 1)
    assert [part.buttons for part in parts] == [()] * (len(parts) - 1) + [rows]
    assert all(part.silent for part in parts)


def test_each_file_is_a_message_and_the_words_stand_beside_the_first() -> None:
    files = tuple(Attachment(name=name, path=name) for name in ("a", "b"))
    parts = split(OutboundMessage(markdown="look", attachments=files))
    long = split(OutboundMessage(markdown="word " * 500, attachments=files))

    assert [(part.markdown, len(part.attachments)) for part in parts] == [("look", 1), ("", 1)]
    assert [len(part.attachments) for part in long] == [0, 0, 1, 1]


def test_every_part_of_a_commands_answer_has_its_address() -> None:
    parts = split(OutboundMessage(markdown="word " * 1_000, respond="1/token"))
    again = [split(part) for part in parts]

    assert [part.respond for part in parts] == ["1/token", "1/token/1", "1/token/2"]
    assert [part.respond for (part,) in again] == [part.respond for part in parts]


def test_rows_of_buttons_are_at_most_five_of_five() -> None:
    button = [Button(label=str(number), action=str(number)) for number in range(40)]
    one_row = buttons_of([button[:7]])
    many_rows = buttons_of([[each] for each in button])

    assert [len(_row(row)) for row in one_row] == [5, 2]
    assert [len(_row(row)) for row in many_rows] == [5, 5, 5, 5, 5]


def test_what_is_confirmed_is_green_and_what_is_refused_red() -> None:
    yes, no = Button(label="Approve", action="y", style="primary"), Button(label="Deny", action="n", style="danger")
    (row,) = buttons_of([[yes, no]])

    assert [each["style"] for each in _row(row) if isinstance(each, dict)] == [3, 4]


def test_a_label_is_never_empty() -> None:
    (row,) = buttons_of([[Button(label="\u200b", action="a")]])
    assert "'label': '…'" in str(row)


def _row(row: object) -> list[object]:
    assert isinstance(row, dict)
    buttons = row["components"]
    assert isinstance(buttons, list)
    return buttons
