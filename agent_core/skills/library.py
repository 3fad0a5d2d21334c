"""The skills shared by all chats, from several folders, reloaded when files change."""

import os
import shutil
import sys
import time
from collections.abc import Callable, Iterable, Iterator, Mapping
from functools import partial
from pathlib import Path

from msgspec import Struct, field

from agent_core.skills.header import BadSkill, Requirements
from agent_core.skills.installed import InstalledSkills
from agent_core.skills.skill import (
    FILE,
    MOST_ENTRIES,
    Found,
    Names,
    Origin,
    Signature,
    Skill,
    SkillError,
    SkillTrouble,
    contents,
    entries,
    opened,
    read_skill,
)
from agent_core.untrusted import harmless

DEEPEST = 6
MOST_FOLDERS = 1_000
MOST_SKILLS = 300
MOST_OWN_SKILLS = 50
"""In a chat, where all of them are read while users wait."""

_PASSED_OVER = frozenset({"__pycache__", "node_modules"})
LOOK_EVERY = 2.0
"""Seconds between two scans."""

_SYSTEMS = {"darwin": "macOS", "linux": "Linux", "win32": "Windows", "windows": "Windows"}


class Diagnostic(Struct, frozen=True):
    """One line for users: the file, the problem, and what to do."""

    file: str
    problem: str
    """Includes the advice, after a semicolon."""
    is_usable: bool = False
    """True if the skill can still be loaded."""

    def __str__(self) -> str:
        return f"{harmless(self.file)}: {self.problem}"


class Scan(Struct, frozen=True):
    skills: tuple[Skill, ...] = ()
    diagnostics: tuple[Diagnostic, ...] = ()


class SkillFolder(Struct):
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
                    warned = found.header.warnings
                    diagnostics += [self._about((*self._names(found), FILE), each, is_usable=True) for each in warned]
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


class SkillLibrary:
    """Shared skills by name; for duplicate names, the first folder wins."""

    def __init__(
        self,
        roots: Iterable[tuple[Path, Origin]] = (),
        *,
        clock: Callable[[], float] = time.monotonic,
        which: Callable[[str], str | None] = shutil.which,
        environ: Mapping[str, str] | None = None,
        installed: InstalledSkills | None = None,
    ) -> None:
        """Create a library. `installed` has skills, which come after those of `roots`, and the approved contents."""
        self.generation = 0
        """Incremented when anything changes."""
        self.installed = installed
        last = ((installed.root, Origin.INSTALLED),) if installed else ()
        self._folders = tuple(SkillFolder(root, origin) for root, origin in (*roots, *last))
        self.clock = clock
        self._which = which
        self._environ = os.environ if environ is None else environ
        self._skills: dict[str, Skill] = {}
        self._reasons: dict[str, str] = {}
        self._diagnostics: tuple[Diagnostic, ...] = ()
        self._looked: float | None = None
        self.refresh()

    @property
    def skills(self) -> tuple[Skill, ...]:
        """Return all readable skills, sorted by name."""
        return tuple(self._skills.values())

    @property
    def diagnostics(self) -> tuple[Diagnostic, ...]:
        """Return the problems in the folders."""
        return self._diagnostics

    def refresh(self, *, now: bool = False) -> None:
        """Scan the folders, at most once every two seconds unless `now`."""
        time_now = self.clock()
        if not self._folders or (not now and self._looked is not None and time_now - self._looked < LOOK_EVERY):
            return
        self._looked = time_now
        skills: dict[str, Skill] = {}
        diagnostics: list[Diagnostic] = []
        approvals = self.installed.approvals() if self.installed else {}
        for folder in self._folders:
            scan = folder.scan()
            diagnostics += scan.diagnostics
            for skill in scan.skills:
                if self.installed and self.installed.is_leftover(skill, approvals):
                    continue
                if self.installed and (refused := self.installed.refused(skill, approvals)):
                    diagnostics.append(_not_used(skill, refused))
                    continue
                first = skills.setdefault(skill.name, skill)
                if first is not skill:
                    diagnostics.append(_twice(skill, first))
        reasons = {skill.name: reason for skill in skills.values() if (reason := self.missing(skill))}
        found = dict(sorted(skills.items())), reasons, tuple(diagnostics)
        if found != (self._skills, self._reasons, self._diagnostics):
            self._skills, self._reasons, self._diagnostics = found
            self.generation += 1

    def find(self, name: str) -> Skill | None:
        return self._skills.get(name)

    def refused(self, skill: Skill) -> str:
        """Return why a person's approval does not cover the skill's files as they are now; empty if it does."""
        return self.installed.refused(skill) if self.installed and skill.is_shared else ""

    def is_locked(self, skill: Skill) -> bool:
        """Return True if a person locked the skill's content, which has not changed since."""
        return self.installed is not None and skill.is_shared and self.installed.is_locked(skill)

    def get(self, name: str) -> Skill:
        """Return a skill. Raises SkillError."""
        skill = self.find(name)
        if skill is None:
            raise SkillError(SkillTrouble.NOT_FOUND, f"there is no skill {name[:80]!r}", "look at the list of skills")
        return skill

    def reason(self, skill: Skill) -> str:
        """Return why a shared skill cannot be used here, in a few words; empty if it can."""
        return self._reasons.get(skill.name, "")

    def missing(self, skill: Skill) -> str:
        """Return why any skill cannot be used here, checked now; empty if it can."""
        if not skill.header.enabled:
            return "is disabled in its file"
        return _missing(skill.header.requires, self._which, self._environ)

    def search(self, text: str = "", tag: str = "") -> tuple[Skill, ...]:
        """Return skills whose name, description or when-to-use contains the words and that have the tag."""
        return tuple(skill for skill in self.skills if fits(skill, text) and (not tag or has_tag(skill, tag)))


def fits(skill: Skill, text: str) -> bool:
    """Return True if the skill contains all words of the text, or has it as a tag."""
    header = skill.header
    told = f"{header.name}\n{header.description}\n{header.when_to_use}".lower()
    return all(word in told for word in text.lower().split()) or has_tag(skill, text)


def has_tag(skill: Skill, tag: str) -> bool:
    return tag.strip().lower() in (own.lower() for own in skill.header.tags)


def _not_used(skill: Skill, refused: str) -> Diagnostic:
    return Diagnostic(f"{skill.name}/{FILE}", refused)


def _twice(skill: Skill, first: Skill) -> Diagnostic:
    file = f"{skill.folder.parent.name}/{skill.folder.name}/{FILE}"
    return Diagnostic(file, f"another skill is called {skill.name} ({first.folder}) and wins; rename one of them")


def _missing(needs: Requirements, which: Callable[[str], str | None], environ: Mapping[str, str]) -> str:
    for name in needs.bins:
        if which(name) is None:
            return f"needs {name}, which is not installed"
    if needs.any_bins and not any(map(which, needs.any_bins)):
        return f"needs one of {', '.join(needs.any_bins)}, of which none is installed"
    for name in needs.env:
        if not environ.get(name):
            return f"needs {name}, which is not set"
    systems = [_SYSTEMS.get(name.lower(), name) for name in needs.systems]
    if systems and _SYSTEMS.get(sys.platform, sys.platform) not in systems:
        return f"needs {' or '.join(systems)}"
    return ""
