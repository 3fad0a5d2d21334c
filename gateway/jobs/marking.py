"""A message that Parley sent by itself, rewritten when one of its buttons was pressed. Pure.

It may tell of one firing, or of several, each with a number of its own.
"""

import re
from collections.abc import Sequence

from channels.base import Button, OutboundMessage
from gateway.store.job import Firing

NUMBER = "{} · "
"""Before what a button says, where the message tells of several."""
_NUMBERED = re.compile(r"(\d+) · ")
_MARK = "[✓💤↓⏸✗] [^*\n]*"
"""What a line about a firing looks like: a sign first, so that words of a report are not taken for one."""
_LAST = re.compile(rf"\n\n{_MARK}\Z")


def offers(message: OutboundMessage, action: str) -> bool:
    """Whether there is such a button on it now; one that was pressed before is gone."""
    return any(button.action == action for row in message.buttons for button in row)


def marked(message: OutboundMessage, firing: Firing, mark: str, buttons: Sequence[Button]) -> OutboundMessage:
    """With these buttons instead of all that it has about the firing, and a line that says what became of that.

    `firing` is as it was before: where somebody has reacted to it already, the line about that goes.
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
    """Behind the item's number, in the one message of several parts that has it."""
    return re.sub(rf"\*\*{number}\.(?: {_MARK})?\*\*", lambda _: f"**{number}. {mark}**", text, count=1)


def _below(text: str, firing: Firing, mark: str) -> str:
    before = _LAST.sub("", text) if firing.reaction else text
    return f"{before}\n\n{mark}"
