"""Conversion of Slack's blocks to message parts of the page."""

from collections.abc import Iterable

from pydantic import JsonValue

from parley.testing.emulators.slack_plan import plan_of, rich_words
from parley.testing.emulators.slack_text import block_words
from parley.testing.emulators.slack_wire import Json
from tests.emulators.showroom.shown import Part, Role


def parts_of(block: Json, *, is_streamed: bool = False) -> Iterable[Part]:
    """Yield the parts of a block; buttons are skipped, and unknown blocks become plain text.

    A plan is open while the message is streamed, or a task goes on.
    """
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
        case "plan":
            found = plan_of([block])
            if found is not None:
                yield Part(f"{found.title}\n{found.rows}", role="open plan" if is_streamed or found.is_open else "plan")
        case "table":
            yield Part(_markdown(block.get("rows")), "markdown")
        case "actions" | "divider":
            return
        case _:
            yield Part(block_words([block], str))


def _markdown(rows: JsonValue) -> str:
    """Return the rows of a table as Markdown."""
    lines = (
        [[rich_words(cell) for cell in row] for row in rows if isinstance(row, list)] if isinstance(rows, list) else []
    )
    return (
        "\n".join(f"| {' | '.join(line)} |" for line in [*lines[:1], ["--"] * len(lines[0]), *lines[1:]])
        if lines
        else ""
    )


def _texts(values: Iterable[JsonValue], role: Role = "") -> Iterable[Part]:
    for value in values:
        if isinstance(value, dict) and value.get("text"):
            yield Part(str(value["text"]), "mrkdwn" if value.get("type") == "mrkdwn" else "plain", role)
