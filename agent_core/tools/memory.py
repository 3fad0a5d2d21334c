"""Long-term memory: facts, one per line, in a file that its owner may edit, too.

`2026-11-22|Ann|likes tea` is day, source and fact. A source that ends in `, after page:example.com` tells the origin of
the conversation from which the fact was written, `, after data` that there were files or outputs in it: such a fact is
found by a search, but never put into a prompt unasked. The folder is outside the workspace, so that only these
functions and the owner write there. Other lines are facts without day and source, except headings.
"""

import asyncio
import os
import re
from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from datetime import datetime
from pathlib import Path
from typing import TypeVar
from zoneinfo import ZoneInfo

from msgspec import Struct
from msgspec.structs import replace

from agent_core.clock import Clock
from agent_core.late_pattern import LatePattern
from agent_core.messages import AgentMessage, UserMessage
from agent_core.origin import CLEAN, NOT_KNOWN, Origin, in_line, joined
from agent_core.tool_result import ToolResult
from agent_core.tools.files.confined import check_file, open_folder
from agent_core.tools.files.replace import locked
from agent_core.tools.files.replace import replace as replace_file
from agent_core.tools.stated_facts import is_said
from agent_core.tools.tool import Tool, ToolContext, ToolFailed, tool
from agent_core.untrusted import name_of, origin_of

FILE = "MEMORY.md"
FACT_CHARS = 500
MOST_FACTS = 200
MOST_BYTES = 256_000
MOST_HITS = 15
SUMMARY = "summary"
"""Source of facts kept when a conversation was compacted."""

_AFTER = ", after "
_UNTRUSTED = "strangers"
"""Written after `_AFTER` by earlier versions."""
_LINE = LatePattern(r"([0-9]{4}-[0-9]{2}-[0-9]{2})\|([^|]*)\|(.*)")
_BULLET = re.compile(r"(?:[-*+]|[0-9]{1,3}[.)])\s+")
_BREAKS = LatePattern(r"[\s\x00-\x1f\x7f-\x9f\u2028\u2029]+")
_WIDE = LatePattern("[\u3040-\u30ff\u3400-\u9fff\uac00-\ud7af\uf900-\ufaff]{3,}")
"""Scripts without spaces between words."""

T = TypeVar("T")
SOMEBODY = "person"
"""Source of a fact if the sender has no name, as in a private chat."""
AGENT = "agent"
"""Source of a fact if the prompt came from another agent."""


class Fact(Struct, frozen=True):
    """A fact; `number` counts from 1 in the order of the file."""

    number: int
    day: str
    source: str
    text: str
    origin: Origin
    """The origin of the conversation in which it was written."""

    @property
    def line(self) -> str:
        """Return the fact as a line of the file."""
        return f"{self.day}|{self._said_by}|{self.text}"

    @property
    def told(self) -> str:
        """Return the fact as shown to a model."""
        about = ", ".join(filter(None, (self._said_by, self.day)))
        return f"{self.text} ({about})" if about else self.text

    @property
    def _said_by(self) -> str:
        return f"{self.source}{_AFTER}{self.origin.line}" if self.origin.is_data else self.source


Changing = Callable[[Sequence[str], Sequence[str]], None]
"""Called with the lines removed and the lines added."""


def _unheard(removed: Sequence[str], added: Sequence[str]) -> None:
    """Ignore changes."""


class Memory:
    """The facts in one folder, which may not exist yet. Methods raise ToolFailed if its file is invalid or too
    large."""

    def __init__(self, folder: Path, clock: Clock, zone: ZoneInfo, changing: Changing = _unheard) -> None:
        """Create a memory with days in `zone`; `changing` is called before each change."""
        self._folder = folder
        self._clock = clock
        self._zone = zone
        self._changing = changing

    async def remember(self, fact: str, source: str, origin: Origin) -> tuple[Fact, bool]:
        """Store a fact; returns it, and True if it is new.

        A known fact that is not clean becomes so when it is stored again from a clean origin. Raises ToolFailed for a
        fact that cannot be stored.
        """
        text = one_line(fact)
        if not text:
            raise ToolFailed("a fact needs words", "call it again with the words")
        if len(text) > FACT_CHARS:
            raise ToolFailed(f"a fact has at most {FACT_CHARS} characters", "make it shorter, or several of it")

        def add(lines: list[str]) -> tuple[list[str], tuple[Fact, bool]]:
            facts = _facts(lines)
            known = next((each for each in facts if each.text == text), None)
            if known and (origin.is_data or known.origin.is_clean):
                return lines, (known, False)
            lines = _without(lines, known) if known else lines
            if len(facts) >= MOST_FACTS and not known:
                raise ToolFailed(f"there are {MOST_FACTS} facts already", "let the person say which to forget")
            number = len(facts) + (0 if known else 1)
            made = self._made(number, source, text, origin)
            return [*lines, made.line], (made, True)

        return await asyncio.to_thread(self._changed, add)

    async def keep(self, lines: Sequence[str], origin: Origin) -> None:
        """Store facts found by a compaction; if there is no room, the oldest of that kind are deleted."""
        found = [text for text in dict.fromkeys(map(one_line, lines)) if 0 < len(text) <= FACT_CHARS]

        def add(lines: list[str]) -> tuple[list[str], None]:
            facts = _facts(lines)
            known = {fact.text for fact in facts}
            new = [text for text in found if text not in known]
            surplus = max(0, len(facts) + len(new) - MOST_FACTS)
            oldest = [fact for fact in facts if fact.source == SUMMARY][:surplus]
            for fact in reversed(oldest):  # from the end, so that earlier numbers stay valid
                lines = _without(lines, fact)
            room = MOST_FACTS - len(facts) + len(oldest)
            made = [self._made(0, SUMMARY, text, origin).line for text in new[:room]]
            return ([*lines, *made] if made else lines), None

        await asyncio.to_thread(self._changed, add)

    async def search(self, words: str = "") -> list[Fact]:
        """Return the newest facts that contain all words, else any of them; without words the newest."""
        facts = _facts(await asyncio.to_thread(self._lines))
        wanted = words.casefold().split()
        hits = [fact for fact in facts if all(word in fact.line.casefold() for word in wanted)]
        if not hits:
            pieces = [piece for word in wanted for piece in _pieces(word)]
            hits = [fact for fact in facts if any(piece in fact.line.casefold() for piece in pieces)]
        return hits[-MOST_HITS:]

    async def recent(self, most: int) -> list[Fact]:
        """Return the newest clean facts, which may be put into a prompt unasked."""
        facts = _facts(await asyncio.to_thread(self._lines))
        return [fact for fact in facts if fact.origin.is_clean][-most:]

    async def facts(self) -> list[Fact]:
        """Return all facts, in the order of the file."""
        return _facts(await asyncio.to_thread(self._lines))

    async def reword(self, line: str, text: str, source: str, origin: Origin) -> Fact | None:
        """Replace the words of the fact with this line, or delete it if the text is empty.

        Return the new fact, or the deleted one; None if there is no such fact any more. Raises ToolFailed for a text
        that cannot be stored.
        """
        words = one_line(text)
        if len(words) > FACT_CHARS:
            raise ToolFailed(f"a fact has at most {FACT_CHARS} characters", "make it shorter, or several of it")

        def change(lines: list[str]) -> tuple[list[str], Fact | None]:
            facts = _facts(lines)
            fact = next((each for each in facts if each.line == line), None)
            if fact is None:
                return lines, None
            if not words:
                return _without(lines, fact), fact
            made = self._made(len(facts), source, words, origin)
            return [*_without(lines, fact), made.line], made

        return await asyncio.to_thread(self._changed, change)

    async def forget(self, number: int) -> Fact:
        """Delete a fact; later ones are renumbered. Raises ToolFailed if it does not exist."""

        def take_out(lines: list[str]) -> tuple[list[str], Fact]:
            facts = _facts(lines)
            if not 1 <= number <= len(facts):
                raise ToolFailed(f"there is no fact {str(number)[:20]}, there are {len(facts)}", "look with recall")
            return _without(lines, facts[number - 1]), facts[number - 1]

        return await asyncio.to_thread(self._changed, take_out)

    def swap(self, removed: Sequence[str], added: Sequence[str]) -> list[str]:
        """Remove and add lines, for an undo; returns the lines that were missing already. Blocks."""

        def change(lines: list[str]) -> tuple[list[str], list[str]]:
            missing = list(_surplus(removed, lines))
            return [*_surplus(lines, removed), *_surplus(added, lines)], missing

        return self._changed(change)

    def _made(self, number: int, source: str, text: str, origin: Origin) -> Fact:
        day = f"{datetime.fromtimestamp(self._clock.time(), self._zone):%Y-%m-%d}"
        return Fact(number, day, name_of(source).replace("|", " "), text, origin)

    def _lines(self) -> list[str]:
        if not self._folder.exists():
            return []
        folder = open_folder(self._folder, ".")
        try:
            return _read(folder)
        finally:
            os.close(folder)

    def _changed(self, change: Callable[[list[str]], tuple[list[str], T]]) -> T:
        """Change the file atomically and return what `change` returns."""
        self._folder.mkdir(mode=0o700, parents=True, exist_ok=True)
        folder = open_folder(self._folder, ".")
        try:
            with locked(folder):
                lines = _read(folder)
                changed, answer = change(lines)
                if changed is not lines:
                    self._changing(list(_surplus(lines, changed)), list(_surplus(changed, lines)))
                    _write(folder, "".join(f"{line}\n" for line in changed).encode("utf-8", "surrogateescape"))
                return answer
        finally:
            os.close(folder)


def one_line(text: str) -> str:
    """Return the text as one line, so that it cannot imitate two facts or contain escape sequences."""
    return _BREAKS.sub(" ", text.encode("utf-8", "replace").decode()).strip()


def told_line(line: str) -> str:
    """Return the fact in a line of the file, as shown to users."""
    fact = _fact(line)
    return fact.text if fact else line


def _surplus(lines: Sequence[str], others: Sequence[str]) -> Iterator[str]:
    """Yield the lines without a counterpart among the others, each of which counts once."""
    left = Counter(others)
    for line in lines:
        if left[line]:
            left[line] -= 1
        else:
            yield line


def _facts(lines: Sequence[str]) -> list[Fact]:
    return [fact for fact, _ in _numbered(lines)]


def _without(lines: Sequence[str], fact: Fact) -> list[str]:
    place = next(place for known, place in _numbered(lines) if known.number == fact.number)
    return [*lines[:place], *lines[place + 1 :]]


def _numbered(lines: Sequence[str]) -> Iterator[tuple[Fact, int]]:
    """Yield each fact with the index of its line."""
    number = 0
    for place, line in enumerate(lines):
        if fact := _fact(line):
            number += 1
            yield replace(fact, number=number), place


def _fact(line: str) -> Fact | None:
    text = one_line(line)
    if found := _LINE.fullmatch(text):
        day, source, words = found.groups()
        own, mark, after = f"{source} ".partition(_AFTER)  # an editor may have stripped the space after the mark
        after = after.strip()
        origin = CLEAN if not mark else NOT_KNOWN if after in ("", _UNTRUSTED) else in_line(after)
        return Fact(0, day, own.strip(), words.strip()[:FACT_CHARS], origin) if words.strip() else None
    words = _BULLET.sub("", text, count=1)
    return Fact(0, "", "", words[:FACT_CHARS], CLEAN) if words and not words.startswith("#") else None


def _pieces(word: str) -> list[str]:
    """Return the word, or all pairs of characters if the script has no spaces."""
    return [word[at : at + 2] for at in range(len(word) - 1)] if _WIDE.search(word) else [word]


def _read(folder: int) -> list[str]:
    """Read the lines; bytes that are not UTF-8 survive a rewrite."""
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


def memory_tools(memory_of: Callable[[ToolContext], Memory]) -> tuple[Tool, ...]:
    """Return the tools; `memory_of` returns the memory for a call."""

    @tool(idempotent=True, acts="write", label="Remembering: {fact}", labels={"zh": "记住：{fact}"})
    async def remember(fact: str, context: ToolContext) -> str:
        """Remember a fact."""
        origin = CLEAN if is_said(fact, context.messages) else origin_of(context.messages)
        kept, _ = await memory_of(context).remember(fact, _speaker(context.messages), origin)
        return f"Remembered: {kept.text}"  # the same if it was known: another one may have said it

    @tool(execution="parallel", label="Looking into the memory", labels={"zh": "查看记忆"})
    async def recall(words: str = "", *, context: ToolContext) -> ToolResult:
        """Search the remembered facts."""
        facts = await memory_of(context).search(words)
        return _result("\n".join(f"{fact.number}. {fact.told}" for fact in facts) or "(nothing found)", *facts)

    @tool(acts="write", label="Forgetting number {number}", labels={"zh": "忘掉第 {number} 条"})
    async def forget(number: int, context: ToolContext) -> ToolResult:
        """Forget a fact."""
        fact = await memory_of(context).forget(number)
        return _result(f"Forgotten: {fact.text}", fact)

    return remember, recall, forget


def _result(text: str, *facts: Fact) -> ToolResult:
    """Return a result of the origin of the facts."""
    return ToolResult.of(text, joined(fact.origin for fact in facts))


def _speaker(messages: Sequence[AgentMessage]) -> str:
    """Return the sender of the message that led to the call."""
    said = next((message for message in reversed(messages) if isinstance(message, UserMessage)), None)
    if said is None or said.by_agent:
        return AGENT if said else SOMEBODY
    return said.source or SOMEBODY
