"""Which lines of open files match a pattern: found by ripgrep, or by Python. Everything here blocks."""

import re
import subprocess
import time
from collections.abc import Callable, Sequence
from pathlib import Path

import regex  # type: ignore[import-untyped]

from agent_core.builtin.files.confined import is_encodable
from agent_core.builtin.files.contents import decoded, read_content
from agent_core.builtin.files.tree import MOST_BYTES
from agent_core.tools import ToolFailed

Search = Callable[[Sequence[int], int, float], list[list[int]]]
"""Handles of files, how many lines are wanted of each, and when to stop on the monotonic clock -> line numbers of each.

Raises TimeoutError.
"""

PATTERN_CHARS = 1000
_LINE_CHARS = 500_000
"""How much of one line Python looks at; a bad pattern remembers a hundred bytes for each character."""
_COMPILED = 1_000_000
"""Python's compiler writes a counted repeat out, so the counts times the pattern's length are its memory."""
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
    "--no-mmap",  # a file that shrinks meanwhile would kill it
    "--max-columns=1",  # it says where a line stands and not what stands in it, so that no line can flood us
    "--threads=2",
    "--regex-size-limit=10M",
    "--dfa-size-limit=10M",
)


class Unsearchable(Exception):
    """This way cannot do it; another may."""


def ripgrep_search(program: str, pattern: str) -> Search:
    """Raises Unsearchable when called, where ripgrep does not understand the pattern or does not run."""

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
    """Whether open files can be handed to another program by name."""
    return _HANDLES.is_dir()


def python_search(pattern: str) -> Search:
    """Raises ToolFailed where the pattern is none."""
    compiled = _compiled(pattern)

    def search(handles: Sequence[int], most: int, until: float) -> list[list[int]]:
        return [_matches(compiled, handle, most, until) for handle in handles]

    return search


def lines_of(handle: int) -> list[str]:
    """The file's lines as both ways count them, without their ends."""
    try:
        content = read_content(handle, "", MOST_BYTES)
    except ToolFailed:  # it has grown meanwhile
        return []
    text = decoded(content)
    return [line.removesuffix("\r") for line in text.removesuffix("\n").split("\n")] if text else []


def _run(program: str, pattern: str, handles: Sequence[int], most: int, until: float) -> list[bytes]:
    """What ripgrep prints, line by line."""
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
        # Concurrent: a pattern that takes for ever does not hold up the rest of the program until then.
        if compiled.search(line, endpos=min(len(line), _LINE_CHARS), timeout=left, concurrent=True):
            numbers.append(number)
            if len(numbers) == most:
                break
    return numbers
