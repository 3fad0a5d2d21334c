"""Errors of loading, unloading and reading skills."""

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
    """It is switched off, or only users can load it."""
    HELD = "held"
    """A user keeps it loaded, or it always is."""
    MISSING_REQUIREMENT = "missing_requirement"
    UNREADABLE = "unreadable"


class SkillError(Exception):
    """An error for users and models: `fact` says what is wrong, `advice` what to do next."""

    def __init__(self, code: SkillTrouble, fact: str, advice: str) -> None:
        super().__init__(f"{fact}; {advice}")
        self.code = code
        self.fact = fact
        self.advice = advice
