"""Rich messages are read with their headings, lists, tables, links and media."""

import pytest
from hypothesis import given
from hypothesis import strategies as st
from pydantic import JsonValue

from channels.telegram.rich_message import rich_media, rich_words
from tests.any_json import anything
from tests.channels.telegram.payloads import BEN, PHOTO, message, received


def paragraph(text: JsonValue) -> JsonValue:
    return {"type": "paragraph", "text": text}


@pytest.mark.parametrize(
    ("block", "words"),
    [
        (paragraph("plain"), "plain"),
        (paragraph(["a ", {"type": "bold", "text": ["b ", {"type": "code", "text": "c"}]}]), "a b `c`"),
        (paragraph({"type": "url", "text": "here", "url": "https://example.org"}), "here (https://example.org)"),
        (paragraph({"type": "mathematical_expression", "expression": "x^2"}), "$x^2$"),
        (paragraph({"type": "custom_emoji", "custom_emoji_id": "1", "alternative_text": "👍"}), "👍"),
        ({"type": "heading", "text": "Costs", "size": 2}, "## Costs"),
        ({"type": "pre", "text": "x = 1", "language": "python"}, "```\nx = 1\n```"),
        ({"type": "divider"}, "---"),
        ({"type": "blockquote", "blocks": [paragraph("said"), paragraph("so")]}, "> said\n> \n> so"),
        ({"type": "details", "summary": "More", "blocks": [paragraph("hidden")]}, "More\nhidden"),
        ({"type": "photo", "photo": PHOTO, "caption": {"text": "A chart"}}, "A chart"),
        (
            {
                "type": "list",
                "items": [
                    {"label": "1.", "blocks": [paragraph("one")]},
                    {"label": "•", "has_checkbox": True, "is_checked": True, "blocks": [paragraph("two")]},
                ],
            },
            "1. one\n- [x] two",
        ),
        (
            {"type": "table", "cells": [[{"text": "a", "is_header": True}, {"text": "b"}], [{"text": "1"}, {}]]},
            "| a | b |\n| --- | --- |\n| 1 |  |",
        ),
    ],
)
def test_the_words_of_a_block(block: JsonValue, words: str) -> None:
    assert rich_words([block]) == words


def test_what_is_passed_on_is_by_its_author_with_its_pictures() -> None:
    blocks: JsonValue = [
        {"type": "heading", "text": "Costs", "size": 1},
        {"type": "collage", "blocks": [{"type": "photo", "photo": PHOTO}]},
    ]
    event = received(rich_message={"blocks": blocks}, forward_origin={"type": "user", "sender_user": BEN, "date": 1})

    assert (event.text, event.shared) == ("", "Forwarded from Ben:\n# Costs")
    assert [(file.reference, file.by) for file in event.attachments] == [("large", "Ben")]


def test_a_reply_to_one_quotes_it() -> None:
    replied = message(sender=BEN, rich_message={"blocks": [paragraph("At noon.")]})

    assert received(text="why?", reply_to_message=replied).quoted == "Ben: At noon."


KINDS = st.sampled_from(
    ("heading", "pre", "list", "table", "blockquote", "details", "photo", "bold", "url", "custom_emoji", "unknown")
)
FIELDS = st.sampled_from(
    ("text", "blocks", "items", "cells", "summary", "caption", "label", "url", "size", "expression")
)
BLOCKS: st.SearchStrategy[JsonValue] = st.recursive(
    anything,
    lambda inner: (
        st.lists(inner, max_size=3)
        | st.builds(lambda kind, fields: {"type": kind, **fields}, KINDS, st.dictionaries(FIELDS, inner, max_size=4))
    ),
)


@given(BLOCKS)
def test_nothing_that_comes_as_a_block_raises(block: JsonValue) -> None:
    list(rich_media([block]))
    assert rich_words([block, paragraph("end")]).endswith("end")


def test_blocks_in_blocks_without_end_are_read_to_a_depth() -> None:
    block = paragraph("deep")
    for _ in range(500):
        block = {"type": "details", "summary": "", "blocks": [block]}

    assert rich_words([block]) == ""
