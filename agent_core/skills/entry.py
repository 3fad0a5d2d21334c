"""A skill as listed for users."""

from dataclasses import dataclass

from agent_core.skills.skill import Origin


@dataclass(frozen=True)
class SkillEntry:
    name: str
    description: str
    origin: Origin
    tags: tuple[str, ...] = ()
    loaded: bool = False
    held: bool = False
    """Loaded by a user, so that only users can unload it."""
    always: bool = False
    """Part of the prompt in every chat, without being loaded."""
    only_people: bool = False
    """A model cannot load it."""
    reason: str = ""
    """Why it cannot be loaded here, in a few words; empty if it can."""
    tokens: int = 0
    """Tokens of its loaded parts."""
    references: tuple[str, ...] = ()
    """Loaded references."""
