"""Rendering of messages for Slack: Markdown blocks, fallback text and buttons. Pure.

Slack's Markdown block reads GitHub-flavoured Markdown. Only the fallback text, for notifications and for places without
blocks, needs Slack's own markup.
"""

import re
from collections.abc import Callable, Container, Sequence

from pydantic import JsonValue

from channels.base import Button, OutboundMessage
from channels.fences import prose_and_code
from channels.slack import plan, tables
from channels.slack.interactions import ENGLISH, Phrases
from channels.slack.mentions import without_mentions
from channels.text import literal, split_markdown, split_message, utf16_len, visible

MAX_TEXT = 12_000
"""Characters of all Markdown blocks of a message together."""
MAX_CAPTION = 3_000
MAX_PLAIN = 3_500
"""Slack accepts longer texts in new messages, but not in edits."""
MAX_ALERT = 3_000
MAX_LABEL = 75
MAX_ROW = 25
MOST_ROWS = 45
MAY_BE_REFUSED = frozenset(("plan", "table", "alert", "context_actions"))
"""Types of blocks that not every workspace has."""
NOT_STREAMED = frozenset(("table", "alert"))
"""Types of blocks that a text needs of its own: it cannot be streamed to its end."""
EVENT_TYPE = "parley_message"

_NOTHING = "…"
_PAIR = 2
_CODE = re.compile(r"(?<!\\)`[^`\n]+`")
_BACKSLASH = re.compile(r"\\([!-/:-@\[-`{-~])")
_LITERAL = 0xE000
"""Code point base that stands in for backslash-escaped characters while marks are searched."""
_LITERALS = {_LITERAL + ord(char): char for char in "!\"#$%'()*+,-./:;=?@[\\]^_`{|}~"} | {
    _LITERAL + ord(char): name for char, name in (("&", "&amp;"), ("<", "&lt;"), (">", "&gt;"))
}
_HIDDEN = "\x01"
"""Placeholder for Slack's bold mark while italics are searched."""


def _bold(text: str) -> str:
    return f"{_HIDDEN}{text}{_HIDDEN}"


_MARKS: tuple[tuple[re.Pattern[str], str | Callable[[re.Match[str]], str]], ...] = (
    (re.compile(r"!?\[([^\[\]\n]+)\]\((https?://[^)\s|\[]+)\)"), r"<\2|\1>"),
    (re.compile(r"^#{1,6} +([^ \n][^\n]*)$", re.MULTILINE), lambda found: _bold(found[1].rstrip(" #") or found[1])),
    (re.compile(r"(\*\*|__)(?=\S)([^\n]{1,500}?)(?<=\S)\1"), lambda found: _bold(found[2])),
    (re.compile(r"(?<![\w*])\*(?=[^\s*])([^*\n]*[^\s*])\*(?![\w*])"), r"_\1_"),
    (re.compile(r"~~(?=\S)([^\n]{1,500}?)(?<=\S)~~"), r"~\1~"),
    (re.compile(r"^([ \t]*)[-*+] +", re.MULTILINE), r"\1• "),
    (re.compile(f"{_HIDDEN}{{2,}}|{_HIDDEN}"), "*"),
)

Json = dict[str, JsonValue]


def body(message: OutboundMessage, phrases: Phrases = ENGLISH) -> Json:
    """Return `text` and `blocks` for a message that `split` returned."""
    blocks: list[JsonValue] = [plan.block(message.calls, phrases)] if message.calls else []
    markdown = written(message) or ("" if message.calls else _NOTHING)
    blocks.extend(_words(markdown, without_mentions(message.trouble)))
    blocks.extend(actions(message.buttons))
    return {"text": mrkdwn(shortened(markdown)) or plan.title(message.calls, phrases), "blocks": blocks}


def simple_body(message: OutboundMessage) -> Json:
    """Return the same with no other blocks than Markdown and buttons, as not every workspace has the others."""
    markdown = written(message) or literal(plan.lines(message.calls)) or _NOTHING
    return {
        "text": mrkdwn(shortened(markdown)),
        "blocks": [
            {"type": "markdown", "text": markdown},
            *actions([row for row in message.buttons if not _is_rating(row)]),
        ],
    }


def has_block(rendered: Json, kinds: Container[JsonValue]) -> bool:
    """Return True if a body has a block of one of these types."""
    blocks = rendered.get("blocks")
    return isinstance(blocks, list) and any(isinstance(each, dict) and each.get("type") in kinds for each in blocks)


def written(message: OutboundMessage) -> str:
    """Return the message's Markdown as Slack gets it."""
    return without_mentions(message.markdown) if visible(message.markdown) else ""


def _words(markdown: str, trouble: str) -> list[JsonValue]:
    """Return the blocks of a text: one each for a failure it tells of, or for its only table, and for what is around.

    `trouble` is the text of the failure; empty if there is none.
    """
    if visible(trouble) and trouble in markdown and len(alert := mrkdwn(trouble)) <= MAX_ALERT:
        start = markdown.rindex(trouble)
        block: Json = {"type": "alert", "level": "error", "text": {"type": "mrkdwn", "text": alert}}
        return _around(markdown, start, start + len(trouble), block)
    if (table := tables.only_table(markdown)) is not None:
        return _around(markdown, table.start, table.end, tables.block(table))
    return [{"type": "markdown", "text": markdown}] if markdown else []


def _around(markdown: str, start: int, end: int, block: Json) -> list[JsonValue]:
    """Return a block for a part of a text between those for what is above and below it."""
    above, below = markdown[:start].strip("\n"), markdown[end:].strip("\n")
    shown: list[JsonValue] = [{"type": "markdown", "text": above}] if visible(above) else []
    shown.append(block)
    return [*shown, {"type": "markdown", "text": below}] if visible(below) else shown


def plain_texts(message: OutboundMessage) -> tuple[str, ...]:
    """Render a message without blocks and buttons, in as many texts as needed."""
    parts = split_markdown(message.markdown, lambda part: len(mrkdwn(part)) <= MAX_PLAIN, size=MAX_PLAIN)
    return tuple(mrkdwn(part) for part in parts) or (_NOTHING,)


def shortened(markdown: str) -> str:
    most = MAX_PLAIN * 2 // 3
    return markdown if len(markdown) <= most else markdown[:most] + _NOTHING


def mrkdwn(markdown: str) -> str:
    """Convert Markdown to Slack's own markup, escaped so that nothing in it is a command to Slack."""
    return "\n".join(_block(text) if is_code else _lines(text) for is_code, text in prose_and_code(markdown))


def _block(fenced: str) -> str:
    code = fenced.partition("\n")[2].rpartition("\n")[0]
    return f"```\n{_escaped(code)}\n```"


def _lines(text: str) -> str:
    parts = []
    position = 0
    for code in _CODE.finditer(text):
        parts.append(_prose(text[position : code.start()]))
        parts.append(_escaped(code[0]))
        position = code.end()
    parts.append(_prose(text[position:]))
    return "".join(parts)


def _escaped(text: str) -> str:
    return text.replace("&", "&amp;").replace("<", "&lt;").replace(">", "&gt;")


def _prose(text: str) -> str:
    text = _BACKSLASH.sub(lambda found: chr(_LITERAL + ord(found[1])), text)
    text = _escaped(without_mentions(text))
    for pattern, by in _MARKS:
        text = pattern.sub(by, text)
    return text.translate(_LITERALS)


def split(message: OutboundMessage) -> tuple[OutboundMessage, ...]:
    """Split a message into texts of at most 12,000 characters and files; see `split_message`.

    Files cannot have buttons, so a message with buttons has at least one text, or the plan of its calls.
    """

    def texts(markdown: str) -> tuple[str, ...]:
        parts = split_markdown(markdown, lambda part: utf16_len(part) <= MAX_TEXT, size=MAX_TEXT)
        return parts or (_NOTHING,) * bool(message.buttons and not message.calls)

    parts = split_message(message, texts, lambda text: not message.buttons and _is_caption(text))
    first = {"calls": () if parts[0].attachments else message.calls}
    return tuple(
        part.model_copy(
            update={"respond": message.respond, "trouble": message.trouble, **(first if place == 0 else {})}
        )
        for place, part in enumerate(parts)
    )


def _is_caption(markdown: str) -> bool:
    """Return True if the text is short enough for a comment; the cheap length check comes before the conversion."""
    return len(markdown) <= 2 * MAX_CAPTION and len(mrkdwn(markdown)) <= MAX_CAPTION


def actions(rows: Sequence[Sequence[Button]]) -> list[JsonValue]:
    """Build one actions block per row; a pair that rates the message is a quiet block of its own."""
    blocks: list[JsonValue] = []
    for number, row in enumerate(row for row in rows if row):
        if _is_rating(row):
            blocks.append(_rating(row, f"{number}.0"))
            continue
        elements: list[JsonValue] = [_button(button, f"{number}.{index}") for index, button in enumerate(row)]
        blocks.extend(
            {"type": "actions", "elements": elements[at : at + MAX_ROW]} for at in range(0, len(row), MAX_ROW)
        )
    return blocks[:MOST_ROWS]


def _is_rating(row: Sequence[Button]) -> bool:
    return len(row) == _PAIR and all(button.style == "rating" for button in row)


def _rating(pair: Sequence[Button], place: str) -> Json:
    names = zip(("positive_button", "negative_button"), pair, strict=True)
    both: Json = {name: {"text": _label(button), "value": button.action} for name, button in names}
    element: Json = {"type": "feedback_buttons", "action_id": f"parley.{place}", **both}
    return {"type": "context_actions", "elements": [element]}


def _label(button: Button) -> Json:
    return {"type": "plain_text", "text": button.label[:MAX_LABEL] if visible(button.label) else _NOTHING}


def _button(button: Button, place: str) -> Json:
    text = _label(button)
    style: Json = {"style": button.style} if button.style in ("primary", "danger") else {}
    return {"type": "button", "action_id": f"parley.{place}", "text": text, "value": button.action, **style}


def metadata(key: str) -> Json:
    """Return the invisible metadata by which `find_sent` recognises a message."""
    return {"event_type": EVENT_TYPE, "event_payload": {"key": key}}


def comment_of(message: OutboundMessage) -> str | None:
    return mrkdwn(message.markdown) if visible(message.markdown) else None
