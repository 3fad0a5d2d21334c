"""The rows that somebody has chosen on a screen, and the replies to the command that was given for each of them."""

from collections import Counter
from collections.abc import Mapping, Sequence

from channels.base import Button, OutboundMessage

MOST_ROWS = 200
"""Rows that one form may name."""
BETWEEN = "\t"
"""The character between the chat of a row and the words that end the command for it."""


def parted(row: str, command: str) -> tuple[str, str]:
    """Return the chat of a row as text, and the line of the command for it."""
    chat, _, words = row.partition(BETWEEN)
    return chat, f"{command} {words}".strip()


class Replies:
    """The replies to a command that was given for one row after the other, each with its number."""

    def __init__(self) -> None:
        self._said: Counter[str] = Counter()
        self._refused: Counter[str] = Counter()
        self._buttons: list[tuple[str, Button | None]] = []

    def add(self, chat: str, message: OutboundMessage | None) -> None:
        """Take the reply about a row; None if there were no words."""
        self._said[message.markdown if message else ""] += 1
        buttons = [each for row in message.buttons for each in row] if message else []
        only = buttons[0] if len(buttons) == 1 and buttons[0].action.startswith("/") else None
        self._buttons.append((chat, only))

    def refuse(self, reason: str) -> None:
        """Take the reason why nothing was done about a row."""
        self._refused[reason] += 1

    @property
    def said(self) -> Mapping[str, int]:
        """The replies in Markdown, each with its number; an empty text for none."""
        return self._said

    @property
    def refused(self) -> Mapping[str, int]:
        """The reasons why nothing was done, each with its number."""
        return self._refused

    @property
    def label(self) -> str:
        """The label of the one button that all replies have; empty if there is none."""
        labels = {button.label if button else "" for _, button in self._buttons}
        return labels.pop() if len(labels) == 1 else ""

    @property
    def rows(self) -> Sequence[str]:
        """Rows for that button, the last first, as each may take back what was done."""
        return [f"{chat}{BETWEEN}{button.action}" for chat, button in reversed(self._buttons) if button]
