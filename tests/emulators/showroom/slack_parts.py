"""Conversion of Slack's blocks to message parts of the page."""

from collections.abc import Iterable

from pydantic import JsonValue

from parley.testing.emulators.slack_text import block_words
from parley.testing.emulators.slack_wire import Json
from tests.emulators.showroom.shown import Part, Role


def parts_of(block: Json) -> Iterable[Part]:
    """Yield the parts of a block; buttons are skipped, and unknown blocks become plain text."""
    match block.get("type"):
        case "markdown":
            yield Part(str(block.get("text", "")), "markdown")
        case "section":
            fields = block.get("fields")
            yield from _texts([block.get("text"), *(fields if isinstance(fields, list) else [])])
        case "header":
            yield from _texts([block.get("text")], "heading")
        case "context":
            elements = block.get("elements")
            yield from _texts(elements if isinstance(elements, list) else [], "context")
        case "actions" | "divider":
            return
        case _:
            yield Part(block_words([block], str))


def _texts(values: Iterable[JsonValue], role: Role = "") -> Iterable[Part]:
    for value in values:
        if isinstance(value, dict) and value.get("text"):
            yield Part(str(value["text"]), "mrkdwn" if value.get("type") == "mrkdwn" else "plain", role)
