"""The action of a button, which the platforms limit in length."""

from typing import Annotated

from pydantic import AfterValidator

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
