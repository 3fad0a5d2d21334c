"""Why a skill could not be loaded, unloaded or read."""

from enum import StrEnum


class SkillTrouble(StrEnum):
    NOT_FOUND = "not_found"
    OVER_BUDGET = "over_budget"
    """The skill alone is too large."""
    NO_ROOM = "no_room"
    """The conversation leaves no room for it."""
    NOT_LOADED = "not_loaded"
    BAD_REFERENCE = "bad_reference"
    DISABLED = "disabled"
    """It is switched off, or only people can load it."""
    HELD = "held"
    """A person keeps it loaded, or it always is."""
    MISSING_REQUIREMENT = "missing_requirement"
    UNREADABLE = "unreadable"


class SkillError(Exception):
    """`fact` says what is so, `advice` what to do next; both are for people and models."""

    def __init__(self, code: SkillTrouble, fact: str, advice: str) -> None:
        super().__init__(f"{fact}; {advice}")
        self.code = code
        self.fact = fact
        self.advice = advice
