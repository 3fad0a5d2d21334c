"""What of a chat's skills is written down, so that a restart changes nothing."""

from agent_core.messages import Frozen


class ShelvedSkill(Frozen):
    """One loaded skill."""

    name: str
    references: tuple[str, ...] = ()
    held: bool = False
    """A person loaded it, and only people unload it (D-10)."""
    digest: str | None = None
    """Of a skill of the chat's own folder: what its files said when a person loaded it."""


class Shelved(Frozen):
    """In the order in which they were loaded; JSON round-trips."""

    skills: tuple[ShelvedSkill, ...] = ()

    @property
    def held(self) -> "Shelved":
        """What stays when a new conversation begins, and what a thread takes from its channel: references are read
        again when they are needed."""
        return Shelved(skills=tuple(skill.model_copy(update={"references": ()}) for skill in self.skills if skill.held))
