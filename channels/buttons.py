"""The action of a button, which the platforms limit in length, and menus in place of many buttons."""

from typing import Annotated

from pydantic import AfterValidator, Field

from channels.values import Text, Value

LONGEST_ACTION = 64
"""Bytes of a button's action: Telegram's limit."""


def fits_a_button(action: str) -> bool:
    """Return True if the action is short enough."""
    return len(action.encode()) <= LONGEST_ACTION


def _checked(action: str) -> str:
    if not fits_a_button(action):
        raise ValueError(f"has more than {LONGEST_ACTION} bytes")
    return action


Action = Annotated[str, AfterValidator(_checked)]
"""At most 64 bytes of UTF-8. A press gives the command that it is, or says its words, which then are the person's own:
so only messages of clean origin have buttons with words, as a reply `Quoting(reply, CLEAN)`."""


def _command(action: str) -> str:
    if not action.startswith("/"):
        raise ValueError("is no command")
    return action


MOST_ENTRIES = 25
"""Entries of a menu: Discord's limit."""


class Entry(Value):
    """An entry of a menu."""

    label: Text
    action: Annotated[Action, AfterValidator(_command)]
    """A command; never words of one's own, whatever the origin of the message."""
    about: Text = ""
    """A few words about it."""


class Choice(Value):
    """A menu of which one entry is chosen, in place of buttons; platforms without menus show the buttons."""

    prompt: Text
    entries: Annotated[tuple[Entry, ...], Field(min_length=1, max_length=MOST_ENTRIES)]
    rows: int = 0
    """Number of rows of the message's buttons, counted from the first, that it takes the place of."""

    def offers(self, action: str) -> bool:
        return any(entry.action == action for entry in self.entries)
