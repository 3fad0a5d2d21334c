"""What a terminal may be shown of a message; pure.

Models and web pages write text that a terminal would obey: colours, titles, the clipboard, a second screen. None of it
gets through.
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
"""Also the marks that make text read in another order than it is written."""


def safe(text: str) -> str:
    """Without anything that a terminal acts on, but line ends and tabs."""
    return _CONTROL.sub("", _SEQUENCE.sub("", text.replace("\r\n", "\n")))


def is_live(message: OutboundMessage) -> bool:
    """Whether it will change still: progress can be stopped, an answer cannot."""
    return any(STOP.match(button.action) for row in message.buttons for button in row)


def readable(message: OutboundMessage) -> str:
    """The message with its buttons and files in words: a button is pressed by typing what it does, unless the message
    says so itself. Markdown is left as it is, but for the backslashes that keep what is meant literally from being read
    as marks."""
    parts = _CODE.split(message.markdown)
    lines = ["".join(part if number % 2 else _ESCAPED.sub(r"\1", part) for number, part in enumerate(parts))]
    lines += [f"[{each.safe_name}: {each.path}]" for each in message.attachments]
    for button in (button for row in message.buttons for button in row):
        if not STOP.match(button.action) and f"`{button.action}`" not in message.markdown:
            lines.append(f"  {button.label}" + (f": {button.action}" if button.action != button.label else ""))
    return safe("\n".join(line for line in lines if line))
