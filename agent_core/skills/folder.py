"""A folder of skills, searched recursively; only what has changed is read again."""

import os
from collections.abc import Iterator
from dataclasses import dataclass, field
from functools import partial
from pathlib import Path

from agent_core.skills.header import BadSkill
from agent_core.skills.reading import MOST_ENTRIES, Found, Names, Signature, entries, opened
from agent_core.skills.skill import FILE, Origin, Skill, contents, read_skill
from agent_core.untrusted import harmless

DEEPEST = 6
MOST_FOLDERS = 1_000
MOST_SKILLS = 300
MOST_OWN_SKILLS = 50
"""In a chat, where all of them are read while users wait."""

_PASSED_OVER = frozenset({"__pycache__", "node_modules"})


@dataclass(frozen=True)
class Diagnostic:
    """One line for users: the file, the problem, and what to do."""

    file: str
    problem: str
    """Includes the advice, after a semicolon."""
    is_usable: bool = False
    """True if the skill can still be loaded."""

    def __str__(self) -> str:
        return f"{harmless(self.file)}: {self.problem}"


@dataclass(frozen=True)
class Scan:
    skills: tuple[Skill, ...] = ()
    diagnostics: tuple[Diagnostic, ...] = ()


@dataclass
class SkillFolder:
    """A root folder of skills, whose contents may change at any time, even during a scan."""

    root: Path
    origin: Origin
    _known: dict[Names, tuple[tuple[Signature, ...], Skill | Diagnostic]] = field(default_factory=dict)
    _left: int = MOST_ENTRIES
    """Entries that may still be read in this scan."""

    @property
    def base(self) -> Path:
        """Return the folder beneath which links are not followed. In a chat it is the workspace, where the whole folder
        could be replaced by a link."""
        return (self.root.parent if self.origin is Origin.CHAT else self.root).absolute()

    def scan(self) -> Scan:
        """Scan the folder. Blocks for a few stat calls per skill and for reading what is new. A missing folder is
        empty."""
        known, self._known = self._known, {}
        self._left = MOST_ENTRIES
        most = MOST_OWN_SKILLS if self.origin is Origin.CHAT else MOST_SKILLS
        skills: list[Skill] = []
        diagnostics: list[Diagnostic] = []
        try:
            with opened(self.base, self.root.absolute()) as root:
                for found in self._walk(root, known):
                    if isinstance(found, Diagnostic):
                        diagnostics.append(found)
                        continue
                    if len(skills) == most:
                        diagnostics.append(self._about((), f"it has more than {most} skills; take some out"))
                        break
                    names = (*self._names(found), FILE)
                    diagnostics += [self._about(names, text, is_usable=True) for text in found.header.warnings]
                    skills.append(found)
        except FileNotFoundError:
            return Scan()
        except OSError as error:
            return Scan(diagnostics=(self._about((), f"it cannot be opened: {error.strerror}; put a folder there"),))
        return Scan(tuple(skills), tuple(diagnostics))

    def _walk(
        self, root: int, known: dict[Names, tuple[tuple[Signature, ...], Skill | Diagnostic]]
    ) -> Iterator[Skill | Diagnostic]:
        waiting: list[Names] = [()]
        looked_at = 0
        while waiting:
            names = waiting.pop()
            looked_at += 1
            if looked_at > MOST_FOLDERS:
                yield self._about((), f"it has more than {MOST_FOLDERS} folders; take out what is no skill")
                return
            try:
                found = self._look(root, names)
            except BadSkill as error:
                yield self._about(names, str(error))
                return
            except OSError as error:
                yield self._about(names, f"it cannot be opened: {error.strerror}; let Parley read it")
                continue
            if names and any(entry.name == FILE for entry in found):
                yield self._skill(root, names, found, known)
                continue
            yield from self._misplaced(names, found)
            yield from self._links_out(names, found)
            inner = [(*names, entry.name) for entry in found if entry.is_folder and _may_hold_skills(entry.name)]
            if len(names) < (1 if self.origin is Origin.CHAT else DEEPEST):
                waiting.extend(reversed(inner))

    def _look(self, root: int, names: Names) -> list[Found]:
        """Return the entries of a folder. Raises OSError, and BadSkill if there are too many."""
        try:
            found = entries(root, names, self._left)
        except BadSkill:
            self._left = 0  # stop here: there may be many more such folders
            raise
        self._left -= len(found)
        return found

    def _skill(
        self,
        root: int,
        names: Names,
        found: list[Found],
        known: dict[Names, tuple[tuple[Signature, ...], Skill | Diagnostic]],
    ) -> Skill | Diagnostic:
        read: Skill | Diagnostic
        signature: tuple[Signature, ...] = ()
        try:
            inside = contents(partial(self._look, root), names, found)
            signature = inside.signature
            if names in known and known[names][0] == signature:
                self._known[names] = known[names]
                return known[names][1]
            folder = self.root.absolute().joinpath(*names)
            read = read_skill(root, names, inside, self.origin, folder, self.base)
        except BadSkill as error:
            read = self._about((*names, FILE), str(error))
        except OSError as error:
            return self._about((*names, FILE), f"it cannot be read: {error.strerror}; put a readable file there")
        self._known[names] = signature, read
        return read

    def _misplaced(self, names: Names, found: list[Found]) -> Iterator[Diagnostic]:
        for entry in found:
            if entry.name == FILE:
                yield self._about((FILE,), "it has no folder of its own; put it into one with the skill's name")
            elif entry.name.lower() == FILE.lower():
                yield self._about((*names, entry.name), f"it is passed over; call it {FILE}")

    def _links_out(self, names: Names, found: list[Found]) -> Iterator[Diagnostic]:
        """Report links that lead outside; links to another skill in this folder are ignored, because that is found
        itself."""
        base = self.root.resolve()
        for entry in found:
            if entry.is_link and _may_hold_skills(entry.name):
                target = Path(os.path.realpath(self.root.joinpath(*names, entry.name)))
                if not target.is_relative_to(base) and target.is_dir():
                    yield self._about((*names, entry.name), "it is a link that leads out; copy the folder here")

    def _names(self, skill: Skill) -> Names:
        return skill.folder.relative_to(self.root.absolute()).parts

    def _about(self, names: Names, problem: str, *, is_usable: bool = False) -> Diagnostic:
        return Diagnostic("/".join((self.root.name, *names)), problem, is_usable)


def _may_hold_skills(name: str) -> bool:
    return not name.startswith(".") and name not in _PASSED_OVER
