"""What commands print for people on standard output: without secrets, and without what would steer a terminal."""

import os
import sys
from collections.abc import Iterable
from io import TextIOWrapper

from gateway.secrets import Secrets

_CONTROLS = {code: f"\\x{code:02x}" for code in (*range(9), *range(11, 32), *range(127, 160))}
_TURNS = {code: f"\\u{code:04x}" for code in (*range(0x202A, 0x202F), *range(0x2066, 0x206A))}
"""What makes a text read otherwise than it is written."""


def print_pieces(pieces: Iterable[str], secrets: Secrets) -> None:
    """One after the other, as they come, in UTF-8; whoever has read enough may close the pipe."""
    if isinstance(sys.stdout, TextIOWrapper):
        sys.stdout.reconfigure(encoding="utf-8", errors="replace")  # not every locale has the words of every chat
    try:
        for piece in pieces:
            sys.stdout.write(secrets.mask(harmless(piece)))
        sys.stdout.flush()
    except BrokenPipeError:
        # Python flushes once more when it ends.
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())


def harmless(text: str) -> str:
    """Line ends and tabs stay."""
    return text.translate(_CONTROLS | _TURNS)
