"""Tools of MCP servers that models cannot be given, and why."""

from collections.abc import Mapping
from typing import Literal

from msgspec import Struct

Why = Literal["nameless", "not_object", "too_deep", "invalid", "too_large", "too_many", "header", "refused"]

_WORDS: Mapping[Why, str] = {
    "nameless": "it has no name",
    "not_object": "its arguments are not an object",
    "too_deep": "its arguments are nested too deeply",
    "invalid": "the schema of its arguments is not valid",
    "too_large": "the schema of its arguments is too large",
    "too_many": "the server has too many tools",
    "header": "an x-mcp-header in its arguments is not valid",
    "refused": "the model's server refuses the schema of its arguments",
}


class LeftOut(Struct, frozen=True):
    """A tool that is not offered, by the server's own name for it."""

    tool: str
    why: Why

    @property
    def words(self) -> str:
        """Return the reason in English."""
        return _WORDS[self.why]
