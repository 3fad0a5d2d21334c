"""Our messages as Slack takes them: markdown blocks, a plain text beside them, buttons. Pure.

Slack's markdown block reads GitHub's markdown; only the text beside it, for notifications and for where Slack does not
take blocks, must be in Slack's own markup.
"""

import re
from collections.abc import Iterable, Sequence

from pydantic import JsonValue

from channels.base import Attachment, Button, OutboundMessage
from channels.text import split_markdown, utf16_len, visible

MAX_TEXT = 12_000
"""Characters of all markdown blocks of a message together."""
MAX_CAPTION = 3_000
MAX_PLAIN = 3_500
"""Longer texts Slack takes for new messages, but not for edits."""
MAX_LABEL = 75
MAX_ROW = 25
MOST_ROWS = 49
EVENT_TYPE = "parley_message"

_NOTHING = "…"
_PING = re.compile(r"<(?:!(?:subteam\^\w+|[a-z]+)|@\w+)(?:\|([^<>\n]*))?>")
_CODE = re.compile(
    r"^[ \t]*(?P<fence>`{3,}|~{3,})[^\n]*\n(?P<code>[\s\S]*?)(?:\n[ \t]*(?P=fence)[^\n]*$|\Z)|`[^`\n]+`", re.M
)
_HIDDEN = "\x01"
"""Stands for Slack's bold mark while italics are looked for."""
_MARKS = (
    (re.compile(r"!?\[([^\]\n]+)\]\((https?://[^)\s|]+)\)"), r"<\2|\1>"),
    (re.compile(r"^#{1,6} +(.+?)[ #]*$", re.MULTILINE), rf"{_HIDDEN}\1{_HIDDEN}"),
    (re.compile(r"(\*\*|__)(?=\S)([^\n]+?)(?<=\S)\1"), rf"{_HIDDEN}\2{_HIDDEN}"),
    (re.compile(r"(?<![\w*])\*(?=[^\s*])([^*\n]*[^\s*])\*(?![\w*])"), r"_\1_"),
    (re.compile(r"~~(?=\S)([^\n]+?)(?<=\S)~~"), r"~\1~"),
    (re.compile(r"^(\s*)[-*+] +", re.MULTILINE), r"\1• "),
    (re.compile(f"{_HIDDEN}{{2,}}|{_HIDDEN}"), "*"),
)

Json = dict[str, JsonValue]


def harmless(markdown: str) -> str:
    """The same where nothing pings anybody: a model may repeat `<!channel>`, but call nobody by it."""
    return _PING.sub(_named, markdown) if "<" in markdown else markdown


def _named(found: re.Match[str]) -> str:
    name = found[1] or found[0][2:-1]
    return name if name.startswith("@") else f"@{name}"


def body(message: OutboundMessage) -> Json:
    """`text` and `blocks` of one message that `split` returned."""
    markdown = harmless(message.markdown) if visible(message.markdown) else _NOTHING
    blocks: list[JsonValue] = [{"type": "markdown", "text": markdown}]
    blocks.extend(_actions(message.buttons))
    return {"text": mrkdwn(shortened(markdown)), "blocks": blocks}


def plain_texts(message: OutboundMessage) -> tuple[str, ...]:
    """The same without blocks and buttons, in as many texts as it takes."""
    parts = split_markdown(message.markdown, lambda part: len(mrkdwn(part)) <= MAX_PLAIN, size=MAX_PLAIN)
    return tuple(mrkdwn(part) for part in parts) or (_NOTHING,)


def shortened(markdown: str) -> str:
    most = MAX_PLAIN * 2 // 3
    return markdown if len(markdown) <= most else markdown[:most] + _NOTHING


def mrkdwn(markdown: str) -> str:
    """Slack's own markup; escaped, so that nothing in it is a command to Slack."""
    parts = []
    position = 0
    for code in _CODE.finditer(markdown):
        parts.append(_prose(markdown[position : code.start()]))
        parts.append(f"```\n{_escaped(code['code'])}\n```" if code["fence"] else _escaped(code[0]))
        position = code.end()
    parts.append(_prose(markdown[position:]))
    return "".join(parts)


def _escaped(text: str) -> str:
    return text.replace("&", "&amp;").replace("<", "&lt;").replace(">", "&gt;")


def _prose(text: str) -> str:
    text = _escaped(harmless(text))
    for pattern, by in _MARKS:
        text = pattern.sub(by, text)
    return text


def split(message: OutboundMessage) -> tuple[OutboundMessage, ...]:
    """One message for each post: texts of at most 12,000 characters, then one file each.

    A text short enough is the comment of the first file, which cannot have buttons; those hang on the last text.
    """
    files = message.attachments
    if files and not message.buttons and len(mrkdwn(message.markdown)) <= MAX_CAPTION:
        return tuple(_files(message, message.markdown))
    texts = split_markdown(message.markdown, lambda part: utf16_len(part) <= MAX_TEXT, size=MAX_TEXT)
    if message.buttons and not texts:
        texts = (_NOTHING,)
    parts = [OutboundMessage(markdown=text, respond=message.respond) for text in texts]
    if parts:
        parts[-1] = parts[-1].model_copy(update={"buttons": message.buttons})
    return (*parts, *_files(message, "")) or (message,)


def _files(message: OutboundMessage, comment: str) -> Iterable[OutboundMessage]:
    for index, file in enumerate(message.attachments):
        yield OutboundMessage(markdown=comment if index == 0 else "", attachments=(file,), respond=message.respond)


def _actions(rows: Sequence[Sequence[Button]]) -> list[JsonValue]:
    """One block for each row."""
    blocks: list[JsonValue] = []
    for number, row in enumerate(row for row in rows if row):
        elements: list[JsonValue] = [_button(button, f"{number}.{index}") for index, button in enumerate(row)]
        blocks.extend(
            {"type": "actions", "elements": elements[at : at + MAX_ROW]} for at in range(0, len(row), MAX_ROW)
        )
    return blocks[:MOST_ROWS]


def _button(button: Button, place: str) -> Json:
    label = button.label[:MAX_LABEL] if visible(button.label) else _NOTHING
    text: Json = {"type": "plain_text", "text": label}
    return {"type": "button", "action_id": f"parley.{place}", "text": text, "value": button.action}


def metadata(key: str) -> Json:
    """What stands unseen beside each message of ours, for `find_sent`."""
    return {"event_type": EVENT_TYPE, "event_payload": {"key": key}}


def comment_of(message: OutboundMessage) -> str | None:
    return mrkdwn(message.markdown) if visible(message.markdown) else None


def title_of(file: Attachment) -> str:
    return file.safe_name
