"""The skills in a chat's own folder.

A model or a stranger may have written them, so that no model can load them: a person does, and what they approve by
that is what the files say at that moment.
"""

import errno
import os
from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from pathlib import Path

from agent_core.skills.errors import SkillError, SkillTrouble
from agent_core.skills.folder import Diagnostic, SkillFolder
from agent_core.skills.header import BadSkill, read_header
from agent_core.skills.reading import digest
from agent_core.skills.skill import FILE, Origin, Skill

FOLDER = "skills"
"""In the chat's workspace."""


@dataclass(frozen=True)
class Snapshot:
    """All that a skill said at one moment. What is approved, and what the prompt says of it, is made from this alone:
    between two looks somebody could change a file, and change it back."""

    skill: Skill
    files: Mapping[str, bytes]
    digest: str

    def read(self, path: str) -> bytes:
        """Raises OSError."""
        if path not in self.files:
            raise FileNotFoundError(errno.ENOENT, os.strerror(errno.ENOENT))
        return self.files[path]


class OwnSkills:
    """Only `skills/NAME/SKILL.md` is the skill NAME, so that people who look there see what they would load."""

    def __init__(self, root: Path | None, shared: Callable[[str], Skill | None]) -> None:
        """`shared` finds the skill that all chats have by that name: it wins, or else a load of it would bring what
        somebody else has put here under its name."""
        self.diagnostics: tuple[Diagnostic, ...] = ()
        """Of the last look."""
        self._shared = shared
        self._folder = SkillFolder(root, Origin.CHAT) if root else None

    def scan(self) -> tuple[Skill, ...]:
        """Look now."""
        if self._folder is None:
            return ()
        scan = self._folder.scan()
        found = [skill for skill in scan.skills if skill.name == skill.folder.name]  # else its header was warned of
        hidden = [skill for skill in found if self._shared(skill.name) is not None]
        self.diagnostics = (*scan.diagnostics, *map(_hidden, hidden))
        return tuple(skill for skill in found if skill not in hidden)

    def find(self, name: str) -> Skill | None:
        return next((skill for skill in self.scan() if skill.name == name), None)

    def approve(self, skill: Skill) -> Snapshot:
        """What an approval holds for. Raises SkillError."""
        try:
            snapshot = _taken(skill)
        except (BadSkill, OSError) as error:
            why = error.strerror if isinstance(error, OSError) else error
            fact = f"the skill {skill.name} cannot be approved: {why}"
            raise SkillError(SkillTrouble.UNREADABLE, fact, "put that right first") from error
        if snapshot.skill.name != skill.name:
            raise SkillError(SkillTrouble.UNREADABLE, f"the skill {skill.name} is being changed", "try again later")
        return snapshot

    def approved(self, skill: Skill, digest: str) -> Snapshot | None:
        """What it says, where that is still what was approved."""
        try:
            snapshot = _taken(skill)
        except (BadSkill, OSError):
            return None
        return snapshot if snapshot.digest == digest else None


def _hidden(skill: Skill) -> Diagnostic:
    file = f"{FOLDER}/{skill.folder.name}/{FILE}"
    return Diagnostic(file, f"another skill is called {skill.name}, and wins; rename this one")


def _taken(skill: Skill) -> Snapshot:
    """Raises OSError and BadSkill."""
    files = skill.read_all()
    header = read_header(files.get(FILE, b""), skill.folder.name)
    return Snapshot(replace(skill, header=header), files, digest(files))
