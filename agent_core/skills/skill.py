"""A skill: a folder with a SKILL.md, of which only the header is read until it is loaded."""

import hashlib
import os
import stat
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from enum import StrEnum
from itertools import islice
from operator import attrgetter
from pathlib import Path

from msgspec import Struct

from agent_core.skills.header import BadSkill, Header, read_header
from agent_core.untrusted import harmless
from agent_core.workspace.safe_open import FILE_FLAGS, FOLDER_FLAGS, best_opener, open_root

SKILL_TOOLS = frozenset({"load_skill", "unload_skill", "load_skill_reference", "list_skills"})
FILE = "SKILL.md"
SCRIPTS = "scripts"
REFERENCES = "references"

_LISTED = 60
"""Maximum number of scripts, references and documents of one skill, each."""
_AT_THE_TOP = ("reference.md", "forms.md")
_REFERENCE_ENDINGS = (".md", ".txt", ".yaml", ".yml", ".json")
_NOT_FOR_MODELS = frozenset({"readme.md", "license.md", "changelog.md", "contributing.md"})
MOST_BYTES = 256 * 1024
"""Size of one file that a model reads."""
MOST_ENTRIES = 10_000
"""Entries of a folder of skills that are read; it may have been flooded."""
MOST_APPROVED_BYTES = 4 * 1024 * 1024
MOST_APPROVED_FILES = 200

Names = tuple[str, ...]
Signature = tuple[int, ...]
"""Changes with the file or folder: programs can reset a file's modification time, but not its change time."""


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


class Found(Struct, frozen=True):
    """One entry of a folder."""

    name: str
    is_folder: bool
    is_file: bool
    is_link: bool
    has_other_names: bool
    """True for a hard link, which may be another user's file."""
    signature: Signature


@contextmanager
def opened(base: Path, folder: Path) -> Iterator[int]:
    """Open the folder, which is `base` or beneath it. Only the path to `base` may contain links. Raises OSError."""
    outer = open_root(base)
    try:
        handle = best_opener()(outer, folder.relative_to(base).parts, FOLDER_FLAGS)
    finally:
        os.close(outer)
    try:
        yield handle
    finally:
        os.close(handle)


def entries(root: int, names: Names, most: int = MOST_ENTRIES) -> list[Found]:
    """Return the folder's entries sorted by name, without following links.

    Raises OSError, and BadSkill for more than `most`.
    """
    handle = best_opener()(root, names, FOLDER_FLAGS)
    try:
        with os.scandir(handle) as listed:
            found = [entry for each in islice(listed, most + 1) if (entry := _found(each))]
    finally:
        os.close(handle)
    if len(found) > most:
        raise BadSkill("there is too much in it", "take out what is no skill")
    return sorted(found, key=attrgetter("name"))


def read(root: int, names: Names, most: int = MOST_BYTES) -> bytes:
    """Read a regular file. Raises OSError, and BadSkill if it is larger than `most`."""
    handle = best_opener()(root, names, FILE_FLAGS)
    try:
        about = os.fstat(handle)
        if not stat.S_ISREG(about.st_mode):
            raise BadSkill("it is no regular file", "put a file in its place")
        if about.st_size > most:
            raise BadSkill(f"it is larger than {most // 1024} KB", "make it shorter, and keep details in references")
        with os.fdopen(handle, "rb", closefd=False) as file:
            return file.read(most)
    finally:
        os.close(handle)


def text_of(content: bytes) -> str:
    """Return the text of a reference or document, without invisible characters. Raises BadSkill."""
    try:
        return harmless(content.decode("utf-8-sig").replace("\r\n", "\n").strip())
    except UnicodeDecodeError as error:
        raise BadSkill("it is not UTF-8", "save it as UTF-8") from error


def read_all(root: int) -> dict[str, bytes]:
    """Read all files of a skill, by path. Raises OSError, and BadSkill for too many files or links."""
    left = MOST_APPROVED_BYTES
    contents: dict[str, bytes] = {}
    for path in list(_files(root)):
        content = contents["/".join(path)] = read(root, path, left)
        left -= len(content)
    return contents


def digest(files: Mapping[str, bytes]) -> str:
    """Return a hash of all files of a skill."""
    total = hashlib.sha256()
    for path, content in files.items():
        total.update(f"{path}\0{len(content)}\0".encode("utf-8", "surrogateescape"))
        total.update(content)
    return total.hexdigest()


def _files(root: int) -> Iterator[Names]:
    waiting: list[Names] = [()]
    seen = 0
    while waiting:
        folder = waiting.pop()
        for entry in entries(root, folder, MOST_APPROVED_FILES):
            seen += 1
            if seen > MOST_APPROVED_FILES:
                raise BadSkill(f"it has more than {MOST_APPROVED_FILES} files", "keep only what it needs")
            if entry.is_folder:
                waiting.append((*folder, entry.name))
            elif entry.is_file and not entry.has_other_names:
                yield (*folder, entry.name)
            else:
                raise BadSkill(f"{entry.name!r} is a link or no regular file", "put the file itself there")


def _found(entry: os.DirEntry[str]) -> Found | None:
    """Return the entry; None if it was deleted meanwhile."""
    try:
        about = entry.stat(follow_symlinks=False)
    except FileNotFoundError:
        return None
    return Found(
        name=entry.name,
        is_folder=stat.S_ISDIR(about.st_mode),
        is_file=stat.S_ISREG(about.st_mode),
        is_link=stat.S_ISLNK(about.st_mode),
        has_other_names=about.st_nlink > 1,
        signature=(about.st_ctime_ns, about.st_mtime_ns, about.st_size, about.st_ino),
    )


def names_in(found: Sequence[Found]) -> Iterator[str]:
    """Yield the names of files that may be shown to a model."""
    return (entry.name for entry in found if entry.is_file and _is_plain(entry.name))


def _is_plain(name: str) -> bool:
    """Return True for a name that can be put into the prompt unchanged."""
    return not name.startswith(".") and name.isprintable() and "`" not in name and harmless(name) == name


class Origin(StrEnum):
    SHIPPED = "shipped"
    OWNER = "owner"
    INSTALLED = "installed"
    """From an archive; its files are used only as a person approved them."""
    CHAT = "chat"
    """In a chat's workspace, where a model or untrusted input may have written it."""


class Skill(Struct, frozen=True):
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


class PackedSkill(Struct, frozen=True):
    """A skill with all its files, as it comes from an archive."""

    header: Header
    files: dict[str, bytes]
    """Content by path, sorted."""

    @property
    def name(self) -> str:
        return self.header.name


class Contents(Struct, frozen=True):
    """The entries of a skill's folder; the files are not read."""

    top: tuple[Found, ...]
    scripts: tuple[Found, ...]
    references: tuple[Found, ...]

    @property
    def signature(self) -> tuple[Signature, ...]:
        found = (*self.top, *self.scripts, *self.references)
        return tuple([entry.signature for entry in found if entry.is_file])


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
