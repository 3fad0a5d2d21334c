"""The tools that write and edit files."""

import asyncio
import difflib
import os
import re
from collections.abc import Iterator, Sequence
from contextlib import AbstractContextManager, contextmanager, nullcontext
from itertools import islice
from pathlib import Path

from msgspec import Struct

from agent_core.file_text import LABELS, FileText
from agent_core.origin import DATA, Origin
from agent_core.tool_result import ToolResult
from agent_core.tools.files.confined import (
    check_file,
    failure,
    in_words,
    names_of,
    open_folder_of,
    read_content,
    shown,
    split,
    text_in,
)
from agent_core.tools.files.replace import locked, open_made_folder, replace, replaceable
from agent_core.tools.tool import Tool, ToolContext, ToolFailed, tool
from agent_core.untrusted import origin_of
from agent_core.workspace.keeper import CannotKeep
from agent_core.workspace.safe_open import FILE_FLAGS, Opener

MOST_BYTES = 5_000_000
_BREAK = re.compile(r"\r?\n")
_UNMARKED = str.maketrans("\u2039\u27e6", "<[")
"""Maps the substitutes in files shown as data (`untrusted.harmless`) back to the original characters."""
_TOLD_LINES = 5
_SEARCHED_LINES = 5_000
_COMPARED_CHARS = 200
_CONTEXT = 3
_STARTS = re.compile(r"(?<= )([-+])([0-9]+)")
_COMPARED_LINES = 1000
"""If more lines than this changed, they are only counted: comparing them takes too long."""
MOST_LINES = 60
LINE_CHARS = 200


def write_file_tool(opener: Opener) -> Tool:
    @tool(acts="write", idempotent=True, label="Writing {path}", labels={"zh": "写入 {path}"})
    async def write_file(path: str, content: str, context: ToolContext) -> str:
        """Create or overwrite a text file."""
        data = encoded(content, path)
        return await asyncio.to_thread(_write, context, path, data, opener)

    return write_file


def encoded(text: str, path: str) -> bytes:
    """Encode the content of a file. Raises ToolFailed if it is too large or invalid."""
    try:
        data = text.encode()
    except UnicodeEncodeError as error:
        raise ToolFailed("the text holds half a character (a lone surrogate)", "send whole characters") from error
    _check_size(data, path)
    return data


def _write(context: ToolContext, path: str, data: bytes, opener: Opener) -> str:
    keeps = keeping(context, "write_file", names_of(path), len(data))
    done = write_whole(context.workspace, path, data, opener, keeps)
    context.files.wrote(path, origin_of(context.messages))
    return done


def write_whole(
    workspace: Path, path: str, data: bytes, opener: Opener, keeps: AbstractContextManager[None] | None = None
) -> str:
    """Write a file and return a sentence about it. Blocks; `keeps` is entered around the change, for undo. Raises
    ToolFailed."""
    names, name = split(path)
    try:
        folder = open_made_folder(workspace, names, opener)
        try:
            with locked(folder), keeps or nullcontext():
                old = replaceable(folder, name, path)
                replace(folder, name, data, old.st_mode & 0o777 if old else 0o600)
        finally:
            os.close(folder)
    except OSError as error:
        raise failure(error.errno or 0, path) from error
    was = f", was {in_words(old.st_size)}" if old else ""
    return f"{'Replaced' if old else 'Created'} {shown(path)} ({in_words(len(data))}{was})."


@contextmanager
def keeping(context: ToolContext, tool: str, names: Sequence[str], size: int) -> Iterator[None]:
    """Record the change of one file to this size, made in the `with` block. Blocks. Raises ToolFailed if that is not
    possible."""
    try:
        with context.keeper.file(context.author(tool), "/".join(names), size):
            yield
    except CannotKeep as error:
        raise ToolFailed(f"the file was not changed: {error}", "tell the person; deleting large files helps") from error


class Match(Struct, frozen=True):
    """The places where the old text occurs."""

    old: str
    """The old text as the file has it."""
    count: int
    lines: tuple[int, ...]
    """Numbers of the first few lines where it starts."""
    newline: str
    """The line ending used there."""
    unmarked: bool = False
    """True if the model gave the text with the substitutes with which it was shown."""


def find(text: str, old: str, path: str, *, everywhere: bool) -> Match:
    """Find the text. Raises ToolFailed if it does not occur, or more than once without `everywhere`."""
    main = "\r\n" if text.count("\r\n") * 2 > text.count("\n") else "\n"
    other = "\n" if main == "\r\n" else "\r\n"
    given = (old, old.translate(_UNMARKED))
    spellings = [spelling for some in given for spelling in (some, _BREAK.sub(main, some), _BREAK.sub(other, some))]
    found = next((spelling for spelling in spellings if spelling in text), None)
    if found is None:
        raise _missing(text, old, path)
    first = text.index(found)
    count = text.count(found)
    if not everywhere and text.find(found, first + 1) >= 0:
        raise _ambiguous(text, found, path)
    newline = "\r\n" if "\r\n" in found else "\n" if "\n" in found else main
    unmarked = found not in spellings[: len(spellings) // 2]
    return Match(found, count, tuple(_lines_of(text, found)), newline, unmarked)


def apply(text: str, match: Match, new: str, most: int) -> str:
    """Return the text with all places replaced. Raises ToolFailed for more than `most` characters."""
    new = _BREAK.sub(match.newline, new.translate(_UNMARKED) if match.unmarked else new)
    size = len(text) + match.count * (len(new) - len(match.old))
    if size > most:
        raise ToolFailed(f"the file would have {in_words(size)}; {in_words(most)} is the most")
    return text.replace(match.old, new)


def _lines_of(text: str, found: str) -> list[int]:
    """Return the numbers of the first few lines where it starts; places may overlap."""
    numbers: list[int] = []
    line, done, place = 1, 0, text.find(found)
    while place >= 0 and len(numbers) < _TOLD_LINES:
        line += text.count("\n", done, place)
        numbers.append(line)
        done, place = place, text.find(found, place + 1)
    return numbers


def _ambiguous(text: str, found: str, path: str) -> ToolFailed:
    count = max(2, text.count(found))
    numbers = _lines_of(text, found)
    more = ", ..." if count > len(numbers) else ""
    lines = ", ".join(str(number) for number in numbers)
    return ToolFailed(
        f"old_text occurs {count} times in {shown(path)}, in lines {lines}{more}",
        "give more of the text around it, or set replace_all",
    )


def _missing(text: str, old: str, path: str) -> ToolFailed:
    """Return an error that shows what the model may have meant."""
    advice = "read the file, then give old_text exactly as it stands there"
    wanted = next((line.strip() for line in old.splitlines() if line.strip()), "")[:_COMPARED_CHARS]
    lines = [line.strip()[:_COMPARED_CHARS] for line in islice(text.split("\n"), _SEARCHED_LINES)]
    if wanted in lines:
        number = lines.index(wanted) + 1
        return ToolFailed(f"old_text is not in {shown(path)}; it differs from what begins in line {number}", advice)
    near = difflib.get_close_matches(wanted, lines, n=1)
    if not near:
        return ToolFailed(f"old_text is not in {shown(path)}, nor anything like it", advice)
    return ToolFailed(
        f"old_text is not in {shown(path)}; most like it is line {lines.index(near[0]) + 1}: {near[0][:80]}", advice
    )


class Diff(Struct, frozen=True):
    added: int
    removed: int
    text: str
    """Unified diff, cut if long."""

    @property
    def counts(self) -> str:
        return f"+{self.added} -{self.removed}"

    @classmethod
    def of(cls, before: str, after: str, path: str) -> "Diff":
        old, new = before.split("\n"), after.split("\n")
        start, end = _same_start(old, new), 0
        while end < min(len(old), len(new)) - start and old[-1 - end] == new[-1 - end]:
            end += 1
        cut_old, cut_new = old[start : len(old) - end], new[start : len(new) - end]
        if max(len(cut_old), len(cut_new)) > _COMPARED_LINES:
            return cls(len(cut_new), len(cut_old), "(too many lines to show)")
        first, last = max(0, start - _CONTEXT), max(0, end - _CONTEXT)
        hunks = difflib.unified_diff(
            old[first : len(old) - last], new[first : len(new) - last], n=_CONTEXT, lineterm=""
        )
        lines = [f"--- {path}", f"+++ {path}", *(_moved(line, first) for line in islice(hunks, 2, None))]
        added = sum(line.startswith("+") for line in lines[2:])
        removed = sum(line.startswith("-") for line in lines[2:])
        return cls(added, removed, _text(lines))


def _same_start(old: list[str], new: list[str]) -> int:
    pairs = enumerate(zip(old, new, strict=False))
    return next((number for number, (one, other) in pairs if one != other), min(len(old), len(new)))


def _moved(line: str, by: int) -> str:
    """Shift the line numbers of a hunk's head, which count from the first compared line."""
    if not line.startswith("@@"):
        return line
    return _STARTS.sub(lambda found: f"{found[1]}{int(found[2]) + by}", line)


def _text(lines: list[str]) -> str:
    shown = [line.removesuffix("\r")[:LINE_CHARS] for line in lines[:MOST_LINES]]
    return "\n".join(shown if len(lines) <= MOST_LINES else [*shown, f"[{len(lines) - MOST_LINES} more lines]"])


class _Edit(Struct, frozen=True):
    path: str
    old: str
    new: str
    everywhere: bool

    def __post_init__(self) -> None:
        if not self.old:
            raise ToolFailed("old_text is empty", "give the text to replace; write_file makes new files")
        if self.old == self.new:
            raise ToolFailed("old_text and new_text are the same", "give the text as it is to be")
        for text in (self.old, self.new):
            encoded(text, self.path)


def edit_file_tool(opener: Opener) -> Tool:
    @tool(acts="write", label="Editing {path}", labels={"zh": "修改 {path}"}, for_files=True)
    async def edit_file(
        path: str, old_text: str, new_text: str, *, replace_all: bool = False, context: ToolContext
    ) -> ToolResult:
        """Replace text that occurs once in a file, or every occurrence."""
        edit = _Edit(path, old_text, new_text, replace_all)
        match, diff, origin = await asyncio.to_thread(_edit, context, edit, opener)
        await asyncio.to_thread(context.files.wrote, path, origin | origin_of(context.messages))
        places = f"at line {match.lines[0]}" if match.count == 1 else f"in {match.count} places"
        said = ToolResult.of(f"Edited {shown(path)} {places} ({diff.counts}).", origin | DATA)
        return said.model_copy(update={"details": {"diff": diff.text}, "summary": diff.counts})

    return edit_file


def _edit(context: ToolContext, edit: _Edit, opener: Opener) -> tuple[Match, Diff, Origin]:
    """Return what was replaced, with the origin of the content before."""
    folder, name = open_folder_of(context.workspace, edit.path, opener)
    try:
        with locked(folder):
            content, mode = _before(folder, name, edit.path, opener)
            origin = context.files.of_content(edit.path, content)
            with quoting(origin):
                found = _editable(content, edit.path)
                match = find(found.text, edit.old, edit.path, everywhere=edit.everywhere)
                after = apply(found.text, match, edit.new, MOST_BYTES)
                data = _encoded_back(found, after, edit.path)
            with keeping(context, "edit_file", names_of(edit.path), len(data)):
                replace(folder, name, data, mode)
    except OSError as error:
        raise failure(error.errno or 0, edit.path) from error
    finally:
        os.close(folder)
    return match, Diff.of(found.text, after, edit.path), origin


@contextmanager
def quoting(origin: Origin) -> Iterator[None]:
    """Give a failure in the `with` block the origin of the file that it may quote."""
    try:
        yield
    except ToolFailed as error:
        error.origin = origin
        raise


def _encoded_back(found: FileText, text: str, path: str) -> bytes:
    """Return the new text in the encoding of the file. Raises ToolFailed if it is too large or does not exist there."""
    try:
        data = found.back(text)
    except UnicodeEncodeError as error:
        char, label = text[error.start], LABELS[found.encoding]
        raise ToolFailed(
            f"{shown(path)} is in {label}, which has no {char!r}", "use other characters, or write_file for UTF-8"
        ) from error
    _check_size(data, path)
    return data


def _check_size(data: bytes, path: str) -> None:
    if len(data) > MOST_BYTES:
        raise ToolFailed(f"{shown(path)} would have {in_words(len(data))}; {in_words(MOST_BYTES)} is the most")


def _before(folder: int, name: str, path: str, opener: Opener) -> tuple[bytes, int]:
    """Return the content of a file and its permissions. Raises ToolFailed."""
    handle = opener(folder, (name,), FILE_FLAGS)
    try:
        about = os.fstat(handle)
        check_file(about, path)
        replaceable(folder, name, path)
        return read_content(handle, path, MOST_BYTES), about.st_mode & 0o777
    finally:
        os.close(handle)


def _editable(content: bytes, path: str) -> FileText:
    """Return the text, with its line endings. Raises ToolFailed if it could not be written back as it is."""
    found = text_in(content, path)
    if found.broken or found.back(found.text) != content:
        label = LABELS[found.encoding]
        raise ToolFailed(f"{shown(path)} holds bytes that are no {label}, and editing would lose them")
    return found
