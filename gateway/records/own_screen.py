"""Keeps the screen of a chat for the chat.

What else a process writes to its standard streams goes to a file: the log, warnings, what libraries print, and the
standard error of its programs.
"""

import os
import sys
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager, redirect_stderr, redirect_stdout
from pathlib import Path
from typing import TextIO

FILE = "terminal.log"
FORMER = "terminal.log.1"
MOST = 1024 * 1024
"""Bytes of a file to which nothing is added any more; the next chat begins another."""
_APPENDED = os.O_WRONLY | os.O_CREAT | os.O_APPEND | os.O_CLOEXEC | os.O_NOFOLLOW


class OwnScreen:
    """The standard output of a process as only the chat writes to it."""

    def __init__(self) -> None:
        self.output: TextIO = sys.stdout
        """The screen, also while it is kept."""

    @contextmanager
    def kept(self, folder: Path) -> Iterator[TextIO]:
        """Yield the file in a folder to which everything goes that does not use `output`."""
        file = _opened(folder)
        with ExitStack() as life:
            screen = os.fdopen(os.dup(1), "w", 1, encoding=sys.stdout.encoding, errors=sys.stdout.errors)
            self.output = life.enter_context(screen)
            for number, stream in ((1, sys.stdout), (2, sys.stderr)):
                stream.flush()
                former = os.dup(number)
                life.callback(os.close, former)
                life.callback(os.dup2, former, number)
                os.dup2(file.fileno(), number)
            life.enter_context(redirect_stdout(file))
            life.enter_context(redirect_stderr(file))
            yield file


def _opened(folder: Path) -> TextIO:
    """Open the file, which stays open: the log has lines until the very end of the process.

    Where there can be none, as on a full disk, the lines are dropped; what is wrong there is said by those who need it.
    """
    file = folder / FILE
    try:
        folder.mkdir(mode=0o700, parents=True, exist_ok=True)
        if file.exists() and file.stat().st_size > MOST:
            file.replace(folder / FORMER)
        descriptor = os.open(file, _APPENDED, 0o600)
    except OSError:
        descriptor = os.open(os.devnull, os.O_WRONLY | os.O_CLOEXEC)
    return os.fdopen(descriptor, "w", 1, encoding="utf-8", errors="backslashreplace")
