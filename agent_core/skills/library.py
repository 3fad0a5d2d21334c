"""The skills shared by all chats, from several folders, reloaded when files change."""

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
"""Seconds between two scans."""

_SYSTEMS = {"darwin": "macOS", "linux": "Linux", "win32": "Windows", "windows": "Windows"}


class SkillLibrary:
    """Shared skills by name; for duplicate names, the first folder wins."""

    def __init__(
        self,
        roots: Iterable[tuple[Path, Origin]] = (),
        *,
        clock: Callable[[], float] = time.monotonic,
        which: Callable[[str], str | None] = shutil.which,
        environ: Mapping[str, str] | None = None,
    ) -> None:
        self.generation = 0
        """Incremented when anything changes."""
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
