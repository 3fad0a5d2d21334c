"""Prints command output to stdout with secrets masked and terminal control characters escaped."""

import os
import sys
from collections.abc import Iterable
from io import TextIOWrapper

from gateway.security.secrets import Secrets

_CONTROLS = {code: f"\\x{code:02x}" for code in (*range(9), *range(11, 32), *range(127, 160))}
_TURNS = {code: f"\\u{code:04x}" for code in (*range(0x202A, 0x202F), *range(0x2066, 0x206A))}
"""Bidirectional control characters, which make a text read differently from how it is written."""


def print_pieces(pieces: Iterable[str], secrets: Secrets) -> None:
    """Write the pieces to stdout in UTF-8 as they arrive. A closed pipe ends the output silently."""
    if isinstance(sys.stdout, TextIOWrapper):
        sys.stdout.reconfigure(encoding="utf-8", errors="replace")  # not every locale can encode every chat's text
    try:
        for piece in pieces:
            sys.stdout.write(secrets.mask(harmless(piece)))
        sys.stdout.flush()
    except BrokenPipeError:
        # Python flushes stdout once more at exit.
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())


def harmless(text: str) -> str:
    """Escape control characters except line ends and tabs."""
    return text.translate(_CONTROLS | _TURNS)
