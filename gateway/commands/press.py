"""Buttons of plugins: what they are called, and what is done when somebody presses them."""

from msgspec import Struct

from gateway.commands.command import Body
from gateway.permissions.rights import Rights


class Press(Struct, frozen=True):
    """The action of the buttons of one topic, such as the votes of a poll.

    Attributes:
        topic: A short word of a-z, 0-9 and _, which the plugin uses once.
        run: Awaited with the `Invocation`, whose `arguments` are the value of the pressed button; returns the answer.
        rights: Who may press, and what it does at most. What it depends on besides is for `run` to check.
    """

    topic: str
    run: Body
    rights: Rights


def press_name(plugin: str, topic: str) -> str:
    """Return the name of the hidden command that a press gives, which people type where there are no buttons."""
    return f"{plugin}_{topic}"


def press_action(plugin: str, topic: str, value: str = "") -> str:
    """Return the `action` of a button: a press of it is for this topic of the plugin, with the value.

    A `Button` has room for 64 bytes of it, so values are short: ids of rows and numbers.
    """
    return f"/{press_name(plugin, topic)} {value}".rstrip()
