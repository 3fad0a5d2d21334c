"""One folder with skills in it: found however deep, read again only where something has changed (S1-28)."""

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
"""In a chat: all of them are read while everybody waits."""

_PASSED_OVER = frozenset({"__pycache__", "node_modules"})


@dataclass(frozen=True)
class Diagnostic:
    """One line for people: which file, what is wrong with it, and what to do."""

    file: str
    problem: str
    """With the advice, behind a semicolon."""
    is_usable: bool = False
    """The skill can be loaded all the same."""

    def __str__(self) -> str:
        return f"{harmless(self.file)}: {self.problem}"


@dataclass(frozen=True)
class Scan:
    """What a folder holds now."""

    skills: tuple[Skill, ...] = ()
    diagnostics: tuple[Diagnostic, ...] = ()


@dataclass
class SkillFolder:
    """A root of skills. What is in it may be changed by others at any time, also while we look."""

    root: Path
    origin: Origin
    _known: dict[Names, tuple[tuple[Signature, ...], Skill | Diagnostic]] = field(default_factory=dict)
    _left: int = MOST_ENTRIES
    """How many entries more are looked at now."""

    @property
    def base(self) -> Path:
        """Whoever writes in a chat's workspace may have put a link there, in the place of the whole folder, too."""
        return (self.root.parent if self.origin is Origin.CHAT else self.root).absolute()

    def scan(self) -> Scan:
        """Blocks for a few stats a skill, and for reading what is new. A folder that is not there holds nothing."""
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
        """Raises OSError, and BadSkill where there is more than can be looked at."""
        try:
            found = entries(root, names, self._left)
        except BadSkill:
            self._left = 0  # there may be a thousand more of that kind
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
        """A link to another skill of this folder is passed over in silence: that one is found by itself."""
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
