"""The skills in a chat's own folder.

A model or a stranger may have written them, so that no model can load them: a person does, and what they approve by
that is what the files say at that moment.
"""

from collections.abc import Callable, Iterator
from pathlib import Path

from agent_core.skills.errors import SkillError, SkillTrouble
from agent_core.skills.folder import Diagnostic, SkillFolder
from agent_core.skills.header import BadSkill
from agent_core.skills.reading import digest
from agent_core.skills.skill import FILE, Origin, Skill

FOLDER = "skills"
"""In the chat's workspace."""


class OwnSkills:
    def __init__(self, root: Path | None) -> None:
        self.diagnostics: tuple[Diagnostic, ...] = ()
        """Of the last look."""
        self._seen: tuple[Skill, ...] = ()
        self._folder = SkillFolder(root, Origin.CHAT) if root else None

    def scan(self) -> tuple[Skill, ...]:
        """Look now; of two with one name the first counts."""
        if self._folder is None:
            return ()
        scan = self._folder.scan()
        self.diagnostics = scan.diagnostics
        self._seen = tuple({skill.name: skill for skill in reversed(scan.skills)}.values())
        return self._seen

    def hiding(self, shared: Callable[[str], Skill | None]) -> Iterator[Diagnostic]:
        """Of those seen last, the ones with the name of a shared one (S1-28)."""
        for skill in self._seen:
            if shared(skill.name) is not None:
                file = f"{FOLDER}/{skill.folder.name}/{FILE}"
                fact = f"another skill is called {skill.name}, and people who load it get this one; rename it"
                yield Diagnostic(file, fact)

    def find(self, name: str) -> Skill | None:
        return next((skill for skill in self.scan() if skill.name == name), None)

    def digest(self, skill: Skill) -> str:
        """What an approval holds for. Raises SkillError."""
        try:
            return digest(skill.folder)
        except (BadSkill, OSError) as error:
            fact = f"the skill {skill.name} cannot be approved: {error}"
            raise SkillError(SkillTrouble.UNREADABLE, fact, "put that right first") from error

    def says_still(self, skill: Skill, approved: str) -> bool:
        """Whether its files say what was approved."""
        try:
            return digest(skill.folder) == approved
        except (BadSkill, OSError):
            return False
