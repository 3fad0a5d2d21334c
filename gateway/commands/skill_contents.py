"""Shows a skill's content before people approve it: its header, files, a scan, and what an update changes.

Everything quoted here was written by the skill's author, so it is shown without markup, mentions and links.
"""

import difflib
from collections.abc import Iterator, Mapping, Sequence

from agent_core.skills.header import Header
from agent_core.skills.scan import Found, scan
from agent_core.skills.skill import PackedSkill
from channels.text import literal
from gateway.permissions.question_text import shown
from gateway.texts.say import Language, say

MOST_FILES = 20
MOST_FINDINGS = 12
MOST_ABOUT = 400
"""Characters of a description."""
MOST_DIFF_LINES = 40
MOST_DIFF_CHARS = 2_000
MOST_LINE = 160
_KB = 1024

Files = Mapping[str, bytes]


def contents(packed: PackedSkill, place: str, language: Language) -> str:
    """Return what a skill is, what it asks for, its files, and what a scan found."""
    header = packed.header
    version = f" {literal(_short(header.version, MOST_LINE))}" if header.version else ""
    title = say("skill_offered", language, name=literal(header.name), version=version, place=place)
    about = f"> {code(header.description, MOST_ABOUT)}"
    return "\n\n".join([title, about, details(header, packed.files, language)])


def details(header: Header, files: Files, language: Language) -> str:
    """Return what a skill asks for, its files, and what a scan found."""
    wants = say("skill_wants", language, what="; ".join(_wants(header, language)) or say("skill_wants_none", language))
    return "\n\n".join([wants, "\n".join(_files(files, language)), findings(files, language)])


def findings(files: Files, language: Language) -> str:
    """Return what the scan found."""
    found = scan(files)
    if not found:
        return say("skill_scan_clean", language)
    lines = [f"- {_finding(each, language)}" for each in found[:MOST_FINDINGS]]
    if len(found) > MOST_FINDINGS:
        lines.append(say("skill_scan_more", language, count=len(found) - MOST_FINDINGS))
    return "\n".join([say("skill_scan", language), "", *lines])


def changes(before: Files, after: Files, language: Language) -> str:
    """Return one line for each file that an update changes."""
    lines = []
    for path in sorted({*before, *after}):
        old, new = before.get(path), after.get(path)
        if old == new:
            continue
        key = "skill_file_new" if old is None else "skill_file_gone" if new is None else "skill_file_changed"
        added, removed = _counts(old or b"", new or b"")
        lines.append(f"- {say(key, language, path=code(path), added=added, removed=removed)}")
    rest = len(lines) - MOST_FILES
    return "\n".join([*lines[:MOST_FILES], *([say("skill_scan_more", language, count=rest)] if rest > 0 else [])])


def diff(before: Files, after: Files) -> list[str]:
    """Return the lines of a unified diff of all files, with invisible characters written out."""
    lines: list[str] = []
    for path in sorted({*before, *after}):
        if before.get(path) != after.get(path):
            old, new = _lines(before.get(path, b"")), _lines(after.get(path, b""))
            lines += [shown(line) for line in difflib.unified_diff(old, new, path, path, lineterm="", n=2)]
    return lines


def diff_block(lines: Sequence[str]) -> tuple[str, bool]:
    """Return the start of a diff as a code block, and True if that is all of it."""
    taken: list[str] = []
    for line in lines[:MOST_DIFF_LINES]:
        if sum(map(len, taken)) + len(line) > MOST_DIFF_CHARS:
            break
        taken.append(line)
    return "\n".join(["```diff", *taken, "```"]), len(taken) == len(lines)


def code(text: str, most: int = MOST_LINE) -> str:
    """Return the text as code, on one line and with invisible characters written out."""
    return f"`{_short(shown(text).replace('`', chr(39)), most)}`"


def _wants(header: Header, language: Language) -> Iterator[str]:
    requires = header.requires
    for key, words in (
        ("skill_wants_bins", (*requires.bins, *requires.any_bins)),
        ("skill_wants_packages", requires.packages),
        ("skill_wants_env", requires.env),
        ("skill_wants_systems", requires.systems),
    ):
        if words:
            yield say(key, language, names=", ".join(map(code, words)))
    if header.always:
        yield say("skill_wants_always", language)


def _files(files: Files, language: Language) -> Iterator[str]:
    total = sum(map(len, files.values()))
    yield say("skill_files", language, count=len(files), size=_size(total))
    yield ""
    for path, content in list(files.items())[:MOST_FILES]:
        yield f"- {code(path)} ({_size(len(content))})"
    if len(files) > MOST_FILES:
        yield say("skill_scan_more", language, count=len(files) - MOST_FILES)


def _finding(found: Found, language: Language) -> str:
    details = ", ".join(map(code, found.details))
    return say(f"skill_scan_{found.kind}", language, file=code(found.file), details=details)


def _counts(before: bytes, after: bytes) -> tuple[int, int]:
    """Return how many lines were added and removed."""
    changed = list(difflib.unified_diff(_lines(before), _lines(after), lineterm="", n=0))[2:]
    return sum(line.startswith("+") for line in changed), sum(line.startswith("-") for line in changed)


def _lines(content: bytes) -> list[str]:
    return content.decode("utf-8", "backslashreplace").splitlines()


def _size(size: int) -> str:
    return f"{size} B" if size < _KB else f"{size / _KB:.1f} KB"


def _short(text: str, most: int) -> str:
    flat = " ".join(text.split())
    return flat if len(flat) <= most else f"{flat[: most - 1]}…"
