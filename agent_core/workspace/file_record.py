"""The record of the origin of one file of a workspace, and the form in which it is saved."""

from msgspec import Struct, field
from pydantic import BaseModel, JsonValue

from agent_core.origin import Origin, in_line

State = tuple[int, int, int]
"""Size, change time of the inode in nanoseconds, inode number."""
NOWHERE: State = (-1, -1, -1)
"""State of a deleted file."""


class _Row(BaseModel, defer_build=True):
    state: State
    sources: str
    contents: dict[str, str]


class FileRecord(Struct):
    """The record of one file; for a folder, only the origin of its name."""

    state: State
    origin: Origin
    contents: dict[str, Origin] = field(default_factory=dict)
    """Origins by digest of the content, newest last."""

    @property
    def row(self) -> JsonValue:
        """The record as it is saved."""
        contents: dict[str, JsonValue] = {digest: each.line for digest, each in self.contents.items()}
        return {"state": [*self.state], "sources": self.origin.line, "contents": contents}

    @classmethod
    def parse(cls, row: JsonValue) -> "FileRecord":
        """Return what was saved. Raises ValueError for anything else."""
        found = _Row.model_validate(row)
        contents = {digest: in_line(line) for digest, line in found.contents.items()}
        return cls(found.state, in_line(found.sources), contents)
