"""A skill: a folder with a SKILL.md, of which only the header is read until it is loaded."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from enum import StrEnum
from pathlib import Path

from agent_core.skills.header import Header, read_header
from agent_core.skills.reading import Found, Names, Signature, names_in, opened, read, read_all

FILE = "SKILL.md"
SCRIPTS = "scripts"
REFERENCES = "references"

_LISTED = 60
"""Maximum number of scripts, references and documents of one skill, each."""
_AT_THE_TOP = ("reference.md", "forms.md")
_REFERENCE_ENDINGS = (".md", ".txt", ".yaml", ".yml", ".json")
_NOT_FOR_MODELS = frozenset({"readme.md", "license.md", "changelog.md", "contributing.md"})


class Origin(StrEnum):
    SHIPPED = "shipped"
    OWNER = "owner"
    CHAT = "chat"
    """In a chat's workspace, where a model or untrusted input may have written it."""


@dataclass(frozen=True)
class Skill:
    header: Header
    folder: Path
    """Absolute path."""
    base: Path
    """The root of skills or a chat's workspace; links beneath it are not followed."""
    origin: Origin
    scripts: tuple[str, ...]
    """Names in `scripts/`."""
    references: tuple[str, ...]
    """Paths in the folder; only these can be loaded as references."""
    docs: tuple[str, ...]
    """Other documents beside SKILL.md, which are part of the instructions."""
    signature: tuple[Signature, ...]
    """Changes with any of its files."""

    @property
    def name(self) -> str:
        return self.header.name

    @property
    def description(self) -> str:
        return self.header.description

    @property
    def is_shared(self) -> bool:
        return self.origin is not Origin.CHAT

    def read(self, path: str) -> bytes:
        """Read one of its files now. Raises OSError and BadSkill."""
        with opened(self.base, self.folder) as root:
            return read(root, tuple(path.split("/")))

    def read_all(self) -> dict[str, bytes]:
        """Read all files, by path. Raises OSError, and BadSkill for too many files or links."""
        with opened(self.base, self.folder) as root:
            return read_all(root)


@dataclass(frozen=True)
class Contents:
    """The entries of a skill's folder; the files are not read."""

    top: tuple[Found, ...]
    scripts: tuple[Found, ...]
    references: tuple[Found, ...]

    @property
    def signature(self) -> tuple[Signature, ...]:
        files = (entry for entry in (*self.top, *self.scripts, *self.references) if entry.is_file)
        return tuple(entry.signature for entry in files)


def contents(look: Callable[[Names], Sequence[Found]], names: Names, top: Sequence[Found]) -> Contents:
    """Return the contents of the folder `names`, whose own entries are `top`; `look` returns those of others, and may
    raise."""
    folders = {entry.name for entry in top if entry.is_folder}
    scripts, references = (tuple(look((*names, name))) if name in folders else () for name in (SCRIPTS, REFERENCES))
    return Contents(tuple(top), scripts, references)


def read_skill(root: int, names: Names, inside: Contents, origin: Origin, folder: Path, base: Path) -> Skill:
    """Read the skill at `names` beneath `root`, whose absolute path is `folder`. Raises OSError and BadSkill."""
    header = read_header(read(root, (*names, FILE)), names[-1])
    top = list(names_in(inside.top))
    references = [f"{REFERENCES}/{name}" for name in names_in(inside.references) if _is_reference(name)]
    return Skill(
        header=header,
        folder=folder,
        base=base,
        origin=origin,
        scripts=tuple(names_in(inside.scripts))[:_LISTED],
        references=(*(name for name in _AT_THE_TOP if name in top), *references)[:_LISTED],
        docs=tuple(name for name in top if _is_document(name))[:_LISTED],
        signature=inside.signature,
    )


def _is_reference(name: str) -> bool:
    return name.lower().endswith(_REFERENCE_ENDINGS)


def _is_document(name: str) -> bool:
    return name.endswith(".md") and name not in (FILE, *_AT_THE_TOP) and name.lower() not in _NOT_FOR_MODELS
