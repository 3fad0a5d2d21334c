"""Replies that are short first: the button *More* replaces them by their long form, and so does the word `more`.

The button gives the command again with that word, so what it shows is checked and made anew when it is pressed.
"""

from channels.base import Button, OutboundMessage
from channels.buttons import fits_a_button
from gateway.chat.replies import Answer, Unfolded
from gateway.commands.command import Invocation
from gateway.texts.say import say

MORE = frozenset({"more", "all", "更多", "全部"})
"""The words that ask for the long form, as the last of a command."""


def split_more(arguments: str) -> tuple[str, bool]:
    """Return the arguments without a last word `more`, and True if it was there."""
    before, _, last = arguments.strip().rpartition(" ")
    return (before.strip(), True) if last.casefold() in MORE else (arguments.strip(), False)


def short_first(
    given: Invocation, command: str, short: OutboundMessage, long: OutboundMessage, *, label: str = "more_button"
) -> Answer:
    """Return the short reply with the button *More*.

    Return the long one if it is asked for or says no more, and if the command is too long for a button.

    Args:
        command: What is typed for the reply, without a prefix: `why 3f9a1c2b`.
        label: The key of the button's label.
    """
    _, wants_more = split_more(given.arguments)
    if wants_more and given.pressed:
        return Unfolded(long)
    action = f"/{command} more"
    if wants_more or short == long or not fits_a_button(action):
        return long
    button = Button(label=say(label, given.language), action=action, style="quiet")
    return short.model_copy(update={"buttons": (*short.buttons, (button,))})
