"""Line search in open files by ripgrep or Python. All functions block."""

import re
import subprocess
import time
from collections.abc import Callable, Sequence
from pathlib import Path

import regex  # type: ignore[import-untyped]

from agent_core.tools.files.confined import is_encodable
from agent_core.tools.files.contents import decoded, read_content
from agent_core.tools.files.tree import MOST_BYTES
from agent_core.tools.tool import ToolFailed

Search = Callable[[Sequence[int], int, float], list[list[int]]]
"""Takes descriptors of files, the maximum number of lines of each, and a deadline on the monotonic clock; returns line
numbers for each. Raises TimeoutError."""

PATTERN_CHARS = 1000
_LINE_CHARS = 500_000
"""Characters of a line that Python searches; a bad pattern needs a hundred bytes of memory for each."""
_COMPILED = 1_000_000
"""Limit of counts times pattern length, because Python's compiler expands counted repeats."""
_COUNTS = re.compile(r"\{([0-9]*),?([0-9]*)\}")
_HANDLES = Path("/proc/self/fd")
_OPTIONS = (
    "--no-config",
    "--no-messages",
    "--color=never",
    "--no-heading",
    "--with-filename",
    "--line-number",
    "--null",
    "--text",
    "--crlf",
    "--no-mmap",  # with mmap, a file that shrinks meanwhile would crash it
    "--max-columns=1",  # print line numbers without the lines, which may be huge
    "--threads=2",
    "--regex-size-limit=10M",
    "--dfa-size-limit=10M",
)


class Unsearchable(Exception):
    """This search cannot handle the pattern; another may."""


def ripgrep_search(program: str, pattern: str) -> Search:
    """Return a search by ripgrep. It raises Unsearchable if ripgrep does not support the pattern or does not run."""

    def search(handles: Sequence[int], most: int, until: float) -> list[list[int]]:
        if "\0" in pattern or not is_encodable(pattern):
            raise Unsearchable
        numbers: dict[int, list[int]] = {handle: [] for handle in handles}
        for path, _, rest in (line.partition(b"\0") for line in _run(program, pattern, handles, most, until)):
            number, _, _ = rest.partition(b":")
            numbers[int(path.rpartition(b"/")[2])].append(int(number))
        return [numbers[handle][:most] for handle in handles]

    return search


def has_handles() -> bool:
    """Return True if open files can be passed to another program by path."""
    return _HANDLES.is_dir()


def python_search(pattern: str) -> Search:
    """Return a search by Python's regex module. Raises ToolFailed for an invalid pattern."""
    compiled = _compiled(pattern)

    def search(handles: Sequence[int], most: int, until: float) -> list[list[int]]:
        return [_matches(compiled, handle, most, until) for handle in handles]

    return search


def lines_of(handle: int) -> list[str]:
    """Return the file's lines, split in the same way for both searches, without line ends."""
    try:
        content = read_content(handle, "", MOST_BYTES)
    except ToolFailed:  # it has grown meanwhile
        return []
    text = decoded(content)
    return [line.removesuffix("\r") for line in text.removesuffix("\n").split("\n")] if text else []


def _run(program: str, pattern: str, handles: Sequence[int], most: int, until: float) -> list[bytes]:
    """Run ripgrep and return its output line by line."""
    files = [str(_HANDLES / str(handle)) for handle in handles]
    argv = [program, *_OPTIONS, f"--max-count={most}", "--", pattern, *files]
    try:
        done = subprocess.run(  # noqa: S603 - an argument vector; the pattern stands behind `--`
            argv,
            pass_fds=handles,
            env={},
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=subprocess.DEVNULL,
            timeout=max(0.1, until - time.monotonic()),
            check=False,
        )
    except subprocess.TimeoutExpired as error:
        raise TimeoutError from error
    except OSError as error:
        raise Unsearchable from error
    if done.returncode not in (0, 1):
        raise Unsearchable
    return [line for line in done.stdout.split(b"\n") if line]


def _compiled(pattern: str) -> "regex.Pattern[str]":
    size = len(pattern)
    for least, most in _COUNTS.findall(pattern):
        size *= max(1, int(least[:9] or 0), int(most[:9] or 0))
    if size > _COMPILED:
        raise ToolFailed("that pattern repeats too much", "use smaller counts, or + and *")
    try:
        return regex.compile(pattern)
    except (regex.error, RecursionError) as error:
        raise ToolFailed(f"that is no regular expression: {str(error)[:100]}", "escape special characters") from error


def _matches(compiled: "regex.Pattern[str]", handle: int, most: int, until: float) -> list[int]:
    numbers: list[int] = []
    for number, line in enumerate(lines_of(handle), 1):
        left = until - time.monotonic()
        if left <= 0:
            raise TimeoutError
        # `concurrent` releases the GIL, so that a slow pattern does not block the program.
        if compiled.search(line, endpos=min(len(line), _LINE_CHARS), timeout=left, concurrent=True):
            numbers.append(number)
            if len(numbers) == most:
                break
    return numbers
