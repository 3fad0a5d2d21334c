"""Conversion of messages to text that is safe for a terminal; pure.

Models and web pages may write sequences that a terminal would execute: colours, titles, the clipboard, a second screen.
All of them are removed.
"""

import re

from channels.base import OutboundMessage

STOP = re.compile(r"/?stop\b")
_SEQUENCE = re.compile(
    r"""
      (?:\x1b\]|\x9d) [^\x07\x1b\x9c]* (?:\x07|\x1b\\|\x9c|$)     # titles, links, the clipboard
    | (?:\x1b[PX^_]|[\x90\x98\x9e\x9f]) .*? (?:\x1b\\|\x9c|$)     # other strings for devices
    | (?:\x1b\[|\x9b) [0-?]* [\ -/]* [@-~]?                       # colours, the cursor, modes
    | \x1b [\ -/]* [0-~]?                                         # everything shorter
    """,
    re.VERBOSE | re.DOTALL,
)
_CODE = re.compile(r"(```[\s\S]*?(?:```|$)|`[^`\n]*`)")
_ESCAPED = re.compile(r"\\([!-/:-@\[-`{-~])")
_CONTROL = re.compile(r"[\x00-\x08\x0b-\x1f\x7f-\x9f\u202a-\u202e\u2066-\u2069]")
"""Control characters, including those that reverse the reading order."""


def safe(text: str) -> str:
    """Remove all control sequences and control characters except line ends and tabs."""
    return _CONTROL.sub("", _SEQUENCE.sub("", text.replace("\r\n", "\n")))


def is_live(message: OutboundMessage) -> bool:
    """Return True if the message will still change: it has a stop button, which final answers have not."""
    return any(STOP.match(button.action) for row in message.buttons for button in row)


def choices(message: OutboundMessage) -> list[str]:
    """Describe the buttons as text to type, except those that the message already explains."""
    buttons = [button for row in message.buttons for button in row]
    return [
        safe(f"  {button.label}" + (f": {button.action}" if button.action != button.label else ""))
        for button in buttons
        if not STOP.match(button.action) and f"`{button.action}`" not in message.markdown
    ]


def readable(message: OutboundMessage) -> str:
    """Return the message with buttons and files in words, for output without styles. Markdown is kept, except for
    backslash escapes."""
    parts = _CODE.split(message.markdown)
    lines = ["".join(part if number % 2 else _ESCAPED.sub(r"\1", part) for number, part in enumerate(parts))]
    lines += [f"[{each.safe_name}: {each.path}]" for each in message.attachments]
    return safe("\n".join(line for line in [*lines, *choices(message)] if line))
