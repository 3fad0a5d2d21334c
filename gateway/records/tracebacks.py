"""Tracebacks as text, whose messages may hold the words of anybody."""

import re
import traceback
from types import TracebackType

from gateway.security.printing import harmless

_BEGINS = re.compile(r"\n(?=\S)")


def traceback_of(kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None) -> str:
    """Return a traceback that neither steers a terminal nor has another line of a message begin like one of the log."""
    pieces = traceback.format_exception(kind, error, trace)
    return harmless("".join(each if each.startswith("\n") else _BEGINS.sub("\n    ", each) for each in pieces)).rstrip()
