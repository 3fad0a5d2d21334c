"""A skill as people see it in a list."""

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
    """A person loaded it, and only people unload it."""
    always: bool = False
    """In the prompt of every chat, without being loaded."""
    only_people: bool = False
    """A model cannot load it."""
    reason: str = ""
    """Why it cannot be loaded here, in a few words; empty where it can."""
    tokens: int = 0
    """Of what is loaded of it."""
    references: tuple[str, ...] = ()
    """Those that are loaded."""
