"""Conversion of messages to text that is safe for a terminal; pure.

Models and web pages may write sequences that a terminal would execute: colours, titles, the clipboard, a second screen.
All of them are removed.
"""

import re
from collections.abc import Mapping, Sequence
from itertools import groupby
from typing import Literal

from msgspec import Struct

from channels.base import Button, OutboundMessage

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
_MANY = 3
"""Buttons with one verb that share a line."""
PLAIN = frozenset({"", "dumb", "unknown"})
TRUE_COLOUR = frozenset({"truecolor", "24bit"})
LINKING = re.compile(r"xterm-kitty|xterm-ghostty|alacritty|foot|wezterm|contour")
"""Prefixes of `TERM` for terminals that support hyperlinks."""
LINKING_PROGRAMS = frozenset({"iTerm.app", "WezTerm", "vscode", "ghostty", "Hyper", "Tabby", "rio"})
LINKING_SIGNS = ("WT_SESSION", "KONSOLE_VERSION", "KITTY_WINDOW_ID", "DOMTERM")
OLDEST_VTE = 5000
"""First version of GNOME Terminal's widget that supports hyperlinks."""


def safe(text: str) -> str:
    """Remove all control sequences and control characters except line ends and tabs."""
    return _CONTROL.sub("", _SEQUENCE.sub("", text.replace("\r\n", "\n")))


def is_live(message: OutboundMessage) -> bool:
    """Return True if the message will still change: it has a stop button, which final answers have not."""
    return any(STOP.match(button.action) for row in message.buttons for button in row)


def choices(message: OutboundMessage) -> list[str]:
    """Describe the buttons as text to type, except those that the message already explains.

    Many that differ only in a name, which their labels say, share a line.
    """
    buttons = [
        button
        for row in message.buttons
        for button in row
        if not STOP.match(button.action) and f"`{button.action}`" not in message.markdown
    ]
    return [safe(line) for verb, alike in groupby(buttons, _verb) for line in _described(verb, [*alike])]


def _verb(button: Button) -> str:
    """Return what a button does without the name that its label ends with; all of it if there is none."""
    verb, _, name = button.action.rpartition(" ")
    return verb if verb.startswith("/") and button.label.endswith(f" {name}") else button.action


def _described(verb: str, buttons: Sequence[Button]) -> list[str]:
    if len(buttons) >= _MANY:
        return [f"  {verb} {' | '.join(each.action.removeprefix(f'{verb} ') for each in buttons)}"]
    return [f"  {each.label}" + (f": {each.action}" if each.action != each.label else "") for each in buttons]


def readable(message: OutboundMessage) -> str:
    """Return the message with buttons and files in words, for output without styles. Markdown is kept, except for
    backslash escapes."""
    parts = _CODE.split(message.markdown)
    lines = ["".join(part if number % 2 else _ESCAPED.sub(r"\1", part) for number, part in enumerate(parts))]
    lines += [f"[{each.safe_name}: {each.path}]" for each in message.attachments]
    return safe("\n".join(line for line in [*lines, *choices(message)] if line))


class Abilities(Struct, frozen=True):
    colours: Literal["standard", "256", "truecolor"]
    links: bool
    """True if text can be a hyperlink, so that the address need not be printed beside it."""


def abilities(environ: Mapping[str, str]) -> Abilities | None:
    """Return the abilities, or None if the terminal supports or the user wants only plain text."""
    term = environ.get("TERM", "")
    if term in PLAIN or environ.get("NO_COLOR"):
        return None
    if environ.get("COLORTERM", "").lower() in TRUE_COLOUR:
        return Abilities("truecolor", _links(term, environ))
    return Abilities("256" if "256color" in term else "standard", _links(term, environ))


def _links(term: str, environ: Mapping[str, str]) -> bool:
    """Return True if hyperlinks work. Multiplexers pass them on only if configured to, which cannot be detected."""
    if term.startswith(("screen", "tmux")):
        return False
    vte = environ.get("VTE_VERSION", "")
    return (
        LINKING.match(term) is not None
        or environ.get("TERM_PROGRAM") in LINKING_PROGRAMS
        or any(environ.get(sign) for sign in LINKING_SIGNS)
        or (vte.isascii() and vte.isdigit() and int(vte) >= OLDEST_VTE)
    )
