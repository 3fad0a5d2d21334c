"""Rewrites an unprompted message after one of its buttons was pressed, without I/O.

The message may be about one firing or about several numbered ones.
"""

import re
from collections.abc import Sequence

from channels.base import Button, OutboundMessage
from gateway.store.job import Firing

NUMBER = "{} · "
"""Prefix of a button's label in a message about several firings."""
_NUMBERED = re.compile(r"(\d+) · ")
_MARK = "[✓💤↓⏸✗] [^*\n]*"
"""A status line. It begins with a sign, so that text of a report is not taken for one."""
_LAST = re.compile(rf"\n\n{_MARK}\Z")


def marked(message: OutboundMessage, firing: Firing, mark: str, buttons: Sequence[Button]) -> OutboundMessage:
    """Return the message with a status line and these buttons in place of the firing's own.

    `firing` is the state before the reaction: if there was one before, its line is replaced.
    """
    own = [button for row in message.buttons for button in row if _is_about(button, firing)]
    numbered = _NUMBERED.match(own[0].label) if own else None
    number = numbered[1] if numbered else ""
    rows: list[tuple[Button, ...]] = []
    left = [_numbered(button, number) for button in buttons]
    for row in message.buttons:
        others = tuple(button for button in row if not _is_about(button, firing))
        if len(others) < len(row):
            others, left = (*others, *left), []
        rows.append(others)
    text = _in_item(message.markdown, number, mark) if number else _below(message.markdown, firing, mark)
    return message.model_copy(update={"markdown": text, "buttons": tuple(row for row in rows if row)})


def _is_about(button: Button, firing: Firing) -> bool:
    return button.action.split()[2:3] == [firing.id]


def _numbered(button: Button, number: str) -> Button:
    return button.model_copy(update={"label": NUMBER.format(number) + button.label}) if number else button


def _in_item(text: str, number: str, mark: str) -> str:
    """Put the mark behind the item's number, in whichever part of the message has that item."""
    return re.sub(rf"\*\*{number}\.(?: {_MARK})?\*\*", lambda _: f"**{number}. {mark}**", text, count=1)


def _below(text: str, firing: Firing, mark: str) -> str:
    before = _LAST.sub("", text) if firing.reaction else text
    return f"{before}\n\n{mark}"
