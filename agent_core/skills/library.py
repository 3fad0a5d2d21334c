"""The skills that all chats share: found in several folders, seen anew when a file changes."""

import os
import shutil
import sys
import time
from collections.abc import Callable, Iterable, Mapping
from pathlib import Path

from agent_core.skills.errors import SkillError, SkillTrouble
from agent_core.skills.folder import Diagnostic, SkillFolder
from agent_core.skills.header import Requirements
from agent_core.skills.skill import FILE, Origin, Skill

LOOK_EVERY = 2.0
"""Seconds between two looks at the files."""

_SYSTEMS = {"darwin": "macOS", "linux": "Linux", "win32": "Windows", "windows": "Windows"}


class SkillLibrary:
    """Of two skills with one name, that of the first folder wins (S1-28)."""

    def __init__(
        self,
        roots: Iterable[tuple[Path, Origin]] = (),
        *,
        clock: Callable[[], float] = time.monotonic,
        which: Callable[[str], str | None] = shutil.which,
        environ: Mapping[str, str] | None = None,
    ) -> None:
        self.generation = 0
        """Another number where anything has changed."""
        self._folders = tuple(SkillFolder(root, origin) for root, origin in roots)
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
        """All that can be read, by name."""
        return tuple(self._skills.values())

    @property
    def diagnostics(self) -> tuple[Diagnostic, ...]:
        """What is wrong in the folders."""
        return self._diagnostics

    def refresh(self, *, now: bool = False) -> None:
        """Look at the files, at most once every two seconds unless `now`."""
        time_now = self.clock()
        if not self._folders or (not now and self._looked is not None and time_now - self._looked < LOOK_EVERY):
            return
        self._looked = time_now
        skills: dict[str, Skill] = {}
        diagnostics: list[Diagnostic] = []
        for folder in self._folders:
            scan = folder.scan()
            diagnostics += scan.diagnostics
            for skill in scan.skills:
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

    def get(self, name: str) -> Skill:
        """Raises SkillError."""
        skill = self.find(name)
        if skill is None:
            raise SkillError(SkillTrouble.NOT_FOUND, f"there is no skill {name[:80]!r}", "look at the list of skills")
        return skill

    def reason(self, skill: Skill) -> str:
        """Why a shared skill cannot be used here, in a few words; empty where it can (S2-13)."""
        return self._reasons.get(skill.name, "")

    def missing(self, skill: Skill) -> str:
        """The same of any skill, looked up now."""
        if not skill.header.enabled:
            return "is disabled in its file"
        return _missing(skill.header.requires, self._which, self._environ)

    def search(self, text: str = "", tag: str = "") -> tuple[Skill, ...]:
        """Those whose name, description or when-to-use has the text, and which have the tag (S1-05)."""
        return tuple(skill for skill in self.skills if fits(skill, text) and (not tag or has_tag(skill, tag)))


def fits(skill: Skill, text: str) -> bool:
    """Whether it has each of the words, or one of its tags is the text."""
    header = skill.header
    told = f"{header.name}\n{header.description}\n{header.when_to_use}".lower()
    return all(word in told for word in text.lower().split()) or has_tag(skill, text)


def has_tag(skill: Skill, tag: str) -> bool:
    return tag.strip().lower() in (own.lower() for own in skill.header.tags)


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
