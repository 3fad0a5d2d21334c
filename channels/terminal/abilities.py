"""Detection of a terminal's abilities from its environment."""

import re
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Literal

PLAIN = frozenset({"", "dumb", "unknown"})
TRUE_COLOUR = frozenset({"truecolor", "24bit"})
LINKING = re.compile(r"xterm-kitty|xterm-ghostty|alacritty|foot|wezterm|contour")
"""Prefixes of `TERM` for terminals that support hyperlinks."""
LINKING_PROGRAMS = frozenset({"iTerm.app", "WezTerm", "vscode", "ghostty", "Hyper", "Tabby", "rio"})
LINKING_SIGNS = ("WT_SESSION", "KONSOLE_VERSION", "KITTY_WINDOW_ID", "DOMTERM")
OLDEST_VTE = 5000
"""First version of GNOME Terminal's widget that supports hyperlinks."""


@dataclass(frozen=True)
class Abilities:
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
