"""Markdown tables as Slack's table blocks."""

import pytest

from channels.base import OutboundMessage
from channels.slack import render

TABLE = "| Name | Size |\n|:--|--:|\n| **a** | 1 |\n| [b](https://b.example) | `x\\|y` |\n| c |"


def kinds(markdown: str) -> list[str]:
    return [str(each["type"]) for each in blocks(markdown)]


def blocks(markdown: str) -> list[render.Json]:
    found = render.body(OutboundMessage(markdown=markdown))["blocks"]
    assert isinstance(found, list)
    return [each for each in found if isinstance(each, dict)]


def test_a_table_is_a_block_of_its_own_between_the_texts() -> None:
    above, table, below = blocks(f"Look:\n\n{TABLE}\n\nThat is all.")

    assert (above["text"], below["text"]) == ("Look:", "That is all.")
    assert table["column_settings"] == [
        {"align": "left", "is_wrapped": True},
        {"align": "right", "is_wrapped": True},
    ]
    raw, rich = {"type": "raw_text", "text": "1"}, [{"type": "text", "text": "a", "style": {"bold": True}}]
    link = [{"type": "link", "url": "https://b.example", "text": "b"}]
    code = [{"type": "text", "text": "x|y", "style": {"code": True}}]
    assert table["rows"] == [
        [{"type": "raw_text", "text": "Name"}, {"type": "raw_text", "text": "Size"}],
        [_rich(rich), raw],
        [_rich(link), _rich(code)],
        [{"type": "raw_text", "text": "c"}, {"type": "raw_text", "text": " "}],
    ]


def _rich(elements: object) -> dict[str, object]:
    return {"type": "rich_text", "elements": [{"type": "rich_text_section", "elements": elements}]}


@pytest.mark.parametrize(
    "markdown",
    [
        f"{TABLE}\n\n{TABLE}",
        "| a " * 40 + "|\n" + "|--" * 40 + "|\n" + "| 1 " * 40 + "|",
        "| a |\n|--|\n" + "| 1 |\n" * 100,
        "| a |\n|--|\n" + f"| {'x' * 3_000} |\n" * 4,
        f"```\n{TABLE}\n```",
        "a | b\n\nno table",
        "| a | b |\n|--|",
    ],
    ids=["two", "40 columns", "101 rows", "too long", "code", "none", "uneven"],
)
def test_what_slack_has_no_table_for_stays_markdown(markdown: str) -> None:
    assert kinds(markdown) == ["markdown"]
