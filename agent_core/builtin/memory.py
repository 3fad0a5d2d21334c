"""Durable memory: facts, a line each, in a file that its owner may edit too (S2-17, C-10).

`2026-11-22|Ann|likes tea` is the day, who said it, and what. A source that ends in `, after strangers` says that
strangers had a word in the conversation in which it was written: such a fact is found by who looks for it, and never
told unasked. The folder is no workspace, so that nothing but this file's own functions and its owner can write there.
Lines that a person wrote in another form are facts too, without a day and a source; headings are none.
"""

import asyncio
import os
import re
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace
from datetime import datetime
from pathlib import Path
from typing import TypeVar
from zoneinfo import ZoneInfo

from agent_core.builtin.files.confined import check_file, open_folder
from agent_core.builtin.files.replace import locked
from agent_core.builtin.files.replace import replace as replace_file
from agent_core.clock import Clock
from agent_core.tools import ToolFailed
from agent_core.untrusted import name_of

FILE = "MEMORY.md"
FACT_CHARS = 500
MOST_FACTS = 200
MOST_BYTES = 256_000
MOST_HITS = 15
SUMMARY = "summary"
"""The source of what was kept when a conversation was summarised."""

_STRANGERS = ", after strangers"
_LINE = re.compile(r"([0-9]{4}-[0-9]{2}-[0-9]{2})\|([^|]*)\|(.*)")
_BULLET = re.compile(r"(?:[-*+]|[0-9]{1,3}[.)])\s+")
_BREAKS = re.compile(r"[\s\x00-\x1f\x7f-\x9f\u2028\u2029]+")
_WIDE = re.compile("[\u3040-\u30ff\u3400-\u9fff\uac00-\ud7af\uf900-\ufaff]{3,}")
"""Writing without spaces between its words."""

T = TypeVar("T")


@dataclass(frozen=True)
class Fact:
    """`number` counts from 1, in the order of the file."""

    number: int
    day: str
    source: str
    text: str
    after_strangers: bool = False

    @property
    def line(self) -> str:
        """As it stands in the file."""
        return f"{self.day}|{self.source}{_STRANGERS if self.after_strangers else ''}|{self.text}"

    @property
    def told(self) -> str:
        """As a model reads it."""
        source = f"{self.source}{_STRANGERS if self.after_strangers else ''}"
        return f"{self.text} ({', '.join(filter(None, (source, self.day)))})" if source or self.day else self.text


class Memory:
    """Facts of one folder, which may not exist yet. Raises ToolFailed where the file is none, or is too large."""

    def __init__(self, folder: Path, clock: Clock, zone: ZoneInfo) -> None:
        """Days are those of `zone`."""
        self._folder = folder
        self._clock = clock
        self._zone = zone

    async def remember(self, fact: str, source: str, *, tainted: bool) -> tuple[Fact, bool]:
        """The fact as it is kept, and whether it is new. What was known from a talk with strangers only, and is said
        again without them, is theirs no more. Raises ToolFailed for what cannot be kept."""
        text = one_line(fact)
        if not text:
            raise ToolFailed("a fact needs words", "call it again with the words")
        if len(text) > FACT_CHARS:
            raise ToolFailed(f"a fact has at most {FACT_CHARS} characters", "make it shorter, or several of it")

        def add(lines: list[str]) -> tuple[list[str], tuple[Fact, bool]]:
            facts = _facts(lines)
            known = next((each for each in facts if each.text == text), None)
            if known and (tainted or not known.after_strangers):
                return lines, (known, False)
            lines = _without(lines, known) if known else lines
            if len(facts) >= MOST_FACTS and not known:
                raise ToolFailed(f"there are {MOST_FACTS} facts already", "let the person say which to forget")
            number = len(facts) + (0 if known else 1)
            made = self._made(number, source, text, tainted=tainted)
            return [*lines, made.line], (made, True)

        return await asyncio.to_thread(self._changed, add)

    async def keep(self, lines: Sequence[str], *, tainted: bool) -> None:
        """Take in what a summary found worth keeping; where it is full, the oldest of its kind give way."""
        found = [text for text in dict.fromkeys(map(one_line, lines)) if 0 < len(text) <= FACT_CHARS]

        def add(lines: list[str]) -> tuple[list[str], None]:
            facts = _facts(lines)
            known = {fact.text for fact in facts}
            new = [text for text in found if text not in known]
            surplus = max(0, len(facts) + len(new) - MOST_FACTS)
            oldest = [fact for fact in facts if fact.source == SUMMARY][:surplus]
            for fact in reversed(oldest):  # from the end, so that the numbers before it hold
                lines = _without(lines, fact)
            room = MOST_FACTS - len(facts) + len(oldest)
            made = [self._made(0, SUMMARY, text, tainted=tainted).line for text in new[:room]]
            return ([*lines, *made] if made else lines), None

        await asyncio.to_thread(self._changed, add)

    async def search(self, words: str = "") -> list[Fact]:
        """The newest facts in which all of the words stand, else those with any of them; without words the newest."""
        facts = _facts(await asyncio.to_thread(self._lines))
        wanted = words.casefold().split()
        hits = [fact for fact in facts if all(word in fact.line.casefold() for word in wanted)]
        if not hits:
            pieces = [piece for word in wanted for piece in _pieces(word)]
            hits = [fact for fact in facts if any(piece in fact.line.casefold() for piece in pieces)]
        return hits[-MOST_HITS:]

    async def recent(self, most: int) -> list[Fact]:
        """The newest that may be told unasked: no stranger had a word in them."""
        facts = _facts(await asyncio.to_thread(self._lines))
        return [fact for fact in facts if not fact.after_strangers][-most:]

    async def forget(self, number: int) -> Fact:
        """Take it out; those behind it move up. Raises ToolFailed where there is none."""

        def take_out(lines: list[str]) -> tuple[list[str], Fact]:
            facts = _facts(lines)
            if not 1 <= number <= len(facts):
                raise ToolFailed(f"there is no fact {str(number)[:20]}, there are {len(facts)}", "look with recall")
            return _without(lines, facts[number - 1]), facts[number - 1]

        return await asyncio.to_thread(self._changed, take_out)

    def _made(self, number: int, source: str, text: str, *, tainted: bool) -> Fact:
        day = f"{datetime.fromtimestamp(self._clock.time(), self._zone):%Y-%m-%d}"
        return Fact(number, day, name_of(source).replace("|", " "), text, after_strangers=tainted)

    def _lines(self) -> list[str]:
        if not self._folder.exists():
            return []
        folder = open_folder(self._folder, ".")
        try:
            return _read(folder)
        finally:
            os.close(folder)

    def _changed(self, change: Callable[[list[str]], tuple[list[str], T]]) -> T:
        """Change the file as a whole: whoever reads it, or is killed, finds the old facts or the new ones."""
        self._folder.mkdir(mode=0o700, parents=True, exist_ok=True)
        folder = open_folder(self._folder, ".")
        try:
            with locked(folder):
                lines = _read(folder)
                changed, answer = change(lines)
                if changed is not lines:
                    _write(folder, "".join(f"{line}\n" for line in changed).encode("utf-8", "surrogateescape"))
                return answer
        finally:
            os.close(folder)


def one_line(text: str) -> str:
    """So that no fact can look like two, or hide an escape sequence."""
    return _BREAKS.sub(" ", text.encode("utf-8", "replace").decode()).strip()


def _facts(lines: Sequence[str]) -> list[Fact]:
    return [fact for fact, _ in _numbered(lines)]


def _without(lines: Sequence[str], fact: Fact) -> list[str]:
    place = next(place for known, place in _numbered(lines) if known.number == fact.number)
    return [*lines[:place], *lines[place + 1 :]]


def _numbered(lines: Sequence[str]) -> Iterator[tuple[Fact, int]]:
    """Each fact with the place of its line."""
    number = 0
    for place, line in enumerate(lines):
        if fact := _fact(line):
            number += 1
            yield replace(fact, number=number), place


def _fact(line: str) -> Fact | None:
    text = one_line(line)
    if found := _LINE.fullmatch(text):
        day, source, words = found.groups()
        source = source.strip()  # an editor may have left a space there, and the mark counts all the same
        own = source.removesuffix(_STRANGERS)
        return Fact(0, day, own.strip(), words.strip()[:FACT_CHARS], own != source) if words.strip() else None
    words = _BULLET.sub("", text, count=1)
    return Fact(0, "", "", words[:FACT_CHARS]) if words and not words.startswith("#") else None


def _pieces(word: str) -> list[str]:
    """A word, or each pair of signs where a whole sentence may be one."""
    return [word[at : at + 2] for at in range(len(word) - 1)] if _WIDE.search(word) else [word]


def _read(folder: int) -> list[str]:
    """The lines as they are; bytes that are no UTF-8 survive a rewrite."""
    try:
        handle = os.open(FILE, os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK | os.O_CLOEXEC, dir_fd=folder)
    except FileNotFoundError:
        return []
    except OSError as error:
        raise ToolFailed(f"{FILE} cannot be opened: {error.strerror}", "tell the person") from error
    try:
        check_file(os.fstat(handle), FILE)
    except ToolFailed:
        os.close(handle)
        raise
    with os.fdopen(handle, "rb") as stream:
        content = stream.read(MOST_BYTES + 1)
    if len(content) > MOST_BYTES:
        raise ToolFailed(f"{FILE} is too large to hold facts", "tell the person")
    text = content.decode("utf-8", "surrogateescape")
    return text.removesuffix("\n").split("\n") if text else []


def _write(folder: int, content: bytes) -> None:
    if len(content) > MOST_BYTES:
        raise ToolFailed(f"{FILE} would become too large", "let the person say which to forget")
    replace_file(folder, FILE, content)
