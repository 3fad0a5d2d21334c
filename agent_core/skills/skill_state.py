"""Stored state of a chat's loaded skills, which survives a restart."""

from agent_core.messages import Frozen


class SkillState(Frozen):
    name: str
    references: tuple[str, ...] = ()
    held: bool = False
    """Loaded by a user, so that only users can unload it."""
    inherited: bool = False
    """Loaded because a channel, workspace or the whole installation keeps it loaded."""
    digest: str | None = None
    """For a skill of the chat's own, a hash of the files that a user approved."""


class SkillStates(Frozen):
    """Loaded skills in order of loading; round-trips through JSON."""

    skills: tuple[SkillState, ...] = ()

    @property
    def held(self) -> "SkillStates":
        """Return what remains in a new conversation, and what a thread inherits from its channel: held skills without
        references."""
        return SkillStates(
            skills=tuple(skill.model_copy(update={"references": ()}) for skill in self.skills if skill.held)
        )
