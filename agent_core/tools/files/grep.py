"""The tool `grep`: searches files of the chat's workspace.

Parley finds and opens the files itself, so that nothing leads out of the workspace. ripgrep, if installed, only gets
open files and only reports the numbers of matching lines.
"""

import asyncio
import os
import re
import shutil
import subprocess
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from fnmatch import fnmatchcase
from itertools import islice
from pathlib import Path

import regex  # type: ignore[import-untyped]
from msgspec import Struct, field

from agent_core.cancel import CancelToken
from agent_core.encodings import SNIFFED, is_utf8, looks_binary, read_text
from agent_core.origin import DATA, Origin
from agent_core.tool_result import ToolResult
from agent_core.tools.files.confined import (
    check_file,
    failure,
    is_encodable,
    names_of,
    printable,
    read_content,
)
from agent_core.tools.tool import Tool, ToolContext, ToolFailed, tool
from agent_core.workspace.provenance import FileSources
from agent_core.workspace.safe_open import FILE_FLAGS, FOLDER_FLAGS, Opener, open_root

Names = tuple[str, ...]

MOST_BYTES = 8_000_000
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
MOST_FILES = 10_000
MOST_HITS = 100
PAGE_CHARS = 12_000
LINE_CHARS = 300
SECONDS = 20.0

_BATCH = 32
"""Files open at the same time."""


def files_beneath(root: int, folder: Names, opener: Opener, goes_on: Callable[[], bool]) -> Iterator[Names]:
    """Yield each folder's files sorted by name, then those of its folders; `folder` may be a file itself.

    `goes_on` is called before each folder, since there may be a million of them without a file. Folders whose names
    start with a dot are left out. Raises OSError if `folder` cannot be opened; anything deeper that cannot be opened is
    left out.
    """
    try:
        files, waiting = _entries(root, folder, opener)
    except NotADirectoryError:
        os.close(opener(root, folder, FILE_FLAGS))
        files, waiting = [folder], []
    yield from files
    while waiting and goes_on():
        try:
            files, folders = _entries(root, waiting.pop(), opener)
        except OSError:
            continue
        yield from files
        waiting += folders


def open_searched(root: int, names: Names, opener: Opener) -> int | None:
    """Open a file; None if it is too large, has a second name or may not be read."""
    try:
        handle = opener(root, names, FILE_FLAGS)
    except OSError:
        return None
    about = os.fstat(handle)
    try:
        check_file(about, names[-1])
    except ToolFailed:
        os.close(handle)
        return None
    if about.st_size > MOST_BYTES:
        os.close(handle)
        return None
    return handle


def fits(names: Names, glob: str) -> bool:
    """Match a glob against the file's name, or, if it contains a slash, the whole path; `**/` also matches no
    folder."""
    if "/" not in glob:
        return not glob or fnmatchcase(names[-1], glob)
    path = "/".join(names)
    return fnmatchcase(path, glob) or fnmatchcase(path, glob.replace("**/", ""))


def _entries(root: int, folder: Names, opener: Opener) -> tuple[list[Names], list[Names]]:
    """Return the folder's files, and its folders in reverse order."""
    handle = opener(root, folder, FOLDER_FLAGS)
    try:
        with os.scandir(handle) as found:
            entries = sorted(found, key=lambda entry: entry.name)
        files = [(*folder, entry.name) for entry in entries if entry.is_file(follow_symlinks=False)]
        folders = [
            (*folder, entry.name)
            for entry in reversed(entries)
            if not entry.name.startswith(".") and entry.is_dir(follow_symlinks=False)
        ]
    finally:
        os.close(handle)
    return files, folders


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


def lines_of(content: bytes) -> list[str]:
    """Return a file's lines, split in the same way for both searches, without line ends."""
    found = read_text(content)
    text = found.text if found else ""
    return [line.removesuffix("\r") for line in text.removesuffix("\n").split("\n")] if text else []


def _content(handle: int) -> bytes:
    try:
        return read_content(handle, "", MOST_BYTES)
    except ToolFailed:  # it has grown meanwhile
        return b""


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
    for number, line in enumerate(lines_of(_content(handle)), 1):
        left = until - time.monotonic()
        if left <= 0:
            raise TimeoutError
        # `concurrent` releases the GIL, so that a slow pattern does not block the program.
        if compiled.search(line, endpos=min(len(line), _LINE_CHARS), timeout=left, concurrent=True):
            numbers.append(number)
            if len(numbers) == most:
                break
    return numbers


def find_ripgrep() -> str | None:
    """Return ripgrep's path, if it is installed and can be given open files."""
    return shutil.which("rg") if has_handles() else None


def grep_tool(opener: Opener, ripgrep: str | None, seconds: float = SECONDS) -> Tool:
    """Return the tool `grep`, which stops after so many seconds."""

    @tool(execution="parallel", label="Searching for {pattern}", labels={"zh": "搜索 {pattern}"}, for_files=True)
    async def grep(pattern: str, context: ToolContext, path: str = ".", glob: str = "") -> ToolResult:
        """Search workspace files for a regular expression."""
        if not pattern or len(pattern) > PATTERN_CHARS:
            raise ToolFailed(f"a pattern has 1 to {PATTERN_CHARS} characters")
        hunt = _Hunt(pattern, path, glob, opener, time.monotonic() + seconds, context.cancel, context.files)
        said = await asyncio.to_thread(hunt.run, context.workspace, ripgrep)
        return ToolResult.of(said, hunt.origin)

    return grep


class _Hunt(Struct):
    """One search."""

    pattern: str
    path: str
    glob: str
    opener: Opener
    until: float
    """Deadline on the monotonic clock."""
    cancel: CancelToken
    files: FileSources
    origin: Origin = DATA
    """The origin of what was found."""
    searched: int = 0
    refused: int = 0
    hits: list[str] = field(default_factory=list)
    notes: list[str] = field(default_factory=list)

    def run(self, workspace: Path, ripgrep: str | None) -> str:
        names = names_of(self.path)
        if not names and not workspace.exists():
            return self._answer()
        search = ripgrep_search(ripgrep, self.pattern) if ripgrep else python_search(self.pattern)
        try:
            root = open_root(workspace)
            try:
                self._search_all(root, names, search)
            finally:
                os.close(root)
        except OSError as error:
            raise failure(error.errno or 0, self.path) from error
        return self._answer()

    def _search_all(self, root: int, folder: Names, search: Search) -> None:
        beneath = files_beneath(root, folder, self.opener, self._goes_on)
        found = (names for names in beneath if fits(names, self.glob))
        wanted = islice(found, MOST_FILES)
        while not self.cancel.cancelled and (batch := list(islice(wanted, _BATCH))):
            with self._opened(root, batch) as files:
                search = self._search_batch(files, search)
            if self._is_enough():
                return
        if not self._is_enough() and not self.cancel.cancelled and next(found, None):
            self.notes.append(f"only {MOST_FILES} files were searched; narrow the path or the glob")

    def _goes_on(self) -> bool:
        return not self.cancel.cancelled and time.monotonic() < self.until

    @contextmanager
    def _opened(self, root: int, batch: Sequence[Names]) -> Iterator[dict[Names, int]]:
        files: dict[Names, int] = {}
        try:
            for names in batch:
                handle = open_searched(root, names, self.opener)
                if handle is None:
                    self.refused += 1
                    continue
                files[names] = handle
            yield {names: handle for names, handle in files.items() if not looks_binary(os.pread(handle, SNIFFED, 0))}
        finally:
            for handle in files.values():
                os.close(handle)

    def _search_batch(self, files: dict[Names, int], search: Search) -> Search:
        """Search a batch and return the search for the next one: Python's replaces ripgrep's if that fails."""
        if not files:
            return search
        try:
            numbers = self._numbers(files, search)
        except Unsearchable:
            return self._search_batch(files, python_search(self.pattern))
        except TimeoutError:
            numbers = []
            self.until = 0
        for (names, handle), lines in zip(files.items(), numbers, strict=False):
            if lines:
                self._add("/".join(names), lines, _content(handle))
        self.searched += len(files)
        return search

    def _numbers(self, files: Mapping[Names, int], search: Search) -> list[list[int]]:
        """Return the lines with matches in each file. ripgrep gets those in UTF-8; others have to be decoded first.

        Raises TimeoutError and Unsearchable.
        """
        usual = [handle for handle in files.values() if _is_utf8(handle)]
        others = [handle for handle in files.values() if handle not in usual]
        found = dict(zip(usual, search(usual, MOST_HITS + 1, self.until) if usual else [], strict=True))
        if others:
            searched = python_search(self.pattern)(others, MOST_HITS + 1, self.until)
            found |= dict(zip(others, searched, strict=True))
        return [found[handle] for handle in files.values()]

    def _add(self, path: str, numbers: Sequence[int], content: bytes) -> None:
        self.origin |= self.files.of_content(path, content)
        lines = lines_of(content)
        for number in numbers:
            if number <= len(lines):
                line = lines[number - 1]
                short = line if len(line) <= LINE_CHARS else f"{line[:LINE_CHARS]}…"
                self.hits.append(f"{printable(path)}:{number}: {short}")

    def _is_enough(self) -> bool:
        if time.monotonic() >= self.until:
            self.notes.append("the search took too long and was stopped; narrow the path, the glob or the pattern")
            return True
        return len(self.hits) > MOST_HITS

    def _answer(self) -> str:
        page: list[str] = []
        room = PAGE_CHARS
        for hit in self.hits[:MOST_HITS]:
            room -= len(hit) + 1
            if room < 0:
                break
            page.append(hit)
        if len(page) < len(self.hits):
            self.notes.insert(0, f"only the first {len(page)} matches; narrow the path, the glob or the pattern")
        if self.refused:
            self.notes.append(f"{_files(self.refused)} not searched: too large, hard links, or no permission")
        if not self.hits:
            page.append(f"(no match in {_files(self.searched)})")
        return "\n".join([*page, *(f"[{note}]" for note in self.notes)])


def _is_utf8(handle: int) -> bool:
    try:
        return is_utf8(read_content(handle, "", MOST_BYTES))
    except ToolFailed:  # it has grown meanwhile
        return True


def _files(count: int) -> str:
    return "1 file" if count == 1 else f"{count} files"
