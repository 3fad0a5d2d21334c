"""The skills in a chat's own folder.

They may be written by a model or by untrusted input, so models cannot load them: a user does, and thereby approves
their contents at that moment.
"""

import errno
import os
from collections.abc import Callable, Mapping
from pathlib import Path

from msgspec import Struct
from msgspec.structs import replace

from agent_core.skills.header import BadSkill, read_header
from agent_core.skills.library import Diagnostic, SkillFolder
from agent_core.skills.skill import FILE, Origin, Skill, SkillError, SkillTrouble, digest

FOLDER = "skills"
"""Name of the folder in the chat's workspace."""


class Snapshot(Struct, frozen=True):
    """All files of a skill at one moment. Approval and prompt are made from the same snapshot, because files could
    change between two reads."""

    skill: Skill
    files: Mapping[str, bytes]
    digest: str

    def read(self, path: str) -> bytes:
        """Return a file's content. Raises OSError."""
        if path not in self.files:
            raise FileNotFoundError(errno.ENOENT, os.strerror(errno.ENOENT))
        return self.files[path]


class WorkspaceSkills:
    """The skills in a chat's folder. The folder `skills/NAME` must hold the skill NAME, so that users see what they
    load."""

    def __init__(self, root: Path | None, shared: Callable[[str], Skill | None]) -> None:
        """Create the collection; `shared` finds a shared skill by name. Shared skills take precedence, so that a file
        here cannot pose as one of them."""
        self.diagnostics: tuple[Diagnostic, ...] = ()
        """Problems of the last scan."""
        self._shared = shared
        self._folder = SkillFolder(root, Origin.CHAT) if root else None

    def scan(self) -> tuple[Skill, ...]:
        """Scan the folder and return its skills."""
        if self._folder is None:
            return ()
        scan = self._folder.scan()
        found = [skill for skill in scan.skills if skill.name == skill.folder.name]  # others have a warning
        hidden = [skill for skill in found if self._shared(skill.name) is not None]
        self.diagnostics = (*scan.diagnostics, *map(_hidden, hidden))
        return tuple(skill for skill in found if skill not in hidden)

    def find(self, name: str) -> Skill | None:
        return next((skill for skill in self.scan() if skill.name == name), None)

    def approve(self, skill: Skill) -> Snapshot:
        """Return a snapshot for an approval. Raises SkillError."""
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
        """Return the skill's files if they are still as approved."""
        try:
            snapshot = _taken(skill)
        except (BadSkill, OSError):
            return None
        return snapshot if snapshot.digest == digest else None


def _hidden(skill: Skill) -> Diagnostic:
    file = f"{FOLDER}/{skill.folder.name}/{FILE}"
    return Diagnostic(file, f"another skill is called {skill.name}, and wins; rename this one")


def _taken(skill: Skill) -> Snapshot:
    """Take a snapshot. Raises OSError and BadSkill."""
    files = skill.read_all()
    header = read_header(files.get(FILE, b""), skill.folder.name)
    return Snapshot(replace(skill, header=header), files, digest(files))
