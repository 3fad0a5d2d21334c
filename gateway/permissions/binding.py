"""Binds approvals to the files behind a call, so that they lapse when one changes. Blocks.

These are the files that the call names and, for a program, all files of the workspace that it could run or import.
"""

import errno
import hashlib
import json
import os
import re
import stat
from collections.abc import Iterator, Mapping
from itertools import islice
from pathlib import Path

from msgspec import Struct
from pydantic import JsonValue

from agent_core.loop.permissions import Proposal
from agent_core.skills.header import BadSkill
from agent_core.skills.library import SkillLibrary
from agent_core.skills.skill import digest as digest_of_skill
from agent_core.skills.workspace_skills import FOLDER
from gateway.permissions.programs import SCRIPT, Runs, is_command, is_script, script_skill, what_runs

MOST_TOKENS = 500
LONGEST_PATH = 1_000
MOST_READ = 32 * 1024 * 1024
"""Most bytes of a file that are hashed; of larger ones size and times are compared."""
MOST_ENTRIES = 2_000
"""Most entries of a folder, and most program files of a workspace."""
TOO_MANY = "too many to look at"
"""Digest of a larger folder, to which no rule can be bound."""
DATA = frozenset(
    {"csv", "tsv", "txt", "md", "log", "json", "jsonl", "html", "pdf", "docx", "xlsx", "pptx", "odt", "ods", "odp"}
    | {"png", "jpg", "jpeg", "gif", "webp", "svg", "bmp", "tif", "tiff", "mp3", "wav", "ogg", "m4a", "mp4", "mov"}
)
"""Extensions of data files, which programs read but do not run: a program that runs one says so in its own source,
which is bound. Other files may be imported."""
_BETWEEN = re.compile(r"[\s'\"`$(){};|&<>=,]+")
_PIECE = 1024 * 1024


Named = Mapping[str, str]
"""Digest by path."""


class Binding(Struct, frozen=True):
    """Digests of a call. If one differs, it counts as another call."""

    files: str
    """Digest of all files that the call names or could run."""
    subject: str = ""
    """Subject of a rule that always allows the call; empty if there can be none."""
    state: str = ""
    """State in which the subject must be for the rule to hold."""


def binding(proposal: Proposal, library: SkillLibrary, *, network: bool) -> Binding:
    """Return the digests of a call. With `network` a script's arguments matter, since it can reach other machines."""
    workspace = proposal.workspace
    named = {path: _digest(workspace / path) for path in _named(proposal.call.arguments, workspace)}
    if is_script(proposal):
        return _of_script(proposal, library, named, network=network)
    if is_command(proposal):
        return _of_command(proposal, named, network=network)
    return Binding(_hash([named]))


def _of_script(proposal: Proposal, library: SkillLibrary, named: Named, *, network: bool) -> Binding:
    skill = _skill_state(proposal, library)
    words = {"skill", "script", *(["args"] if network else [])}
    about = {key: value for key, value in proposal.call.arguments.items() if key in words}
    files = _hash([skill, named])
    return Binding(files, _hash([SCRIPT, about]), _hash([skill, network])) if skill else Binding(files)


def _of_command(proposal: Proposal, named: Named, *, network: bool) -> Binding:
    """Return the binding of a command. A rule holds while no program file of the workspace changes."""
    argv = proposal.call.arguments.get("argv")
    runs = what_runs(list(map(str, argv)), proposal.workspace) if isinstance(argv, list) else Runs.UNKNOWN
    code = {} if runs is Runs.TOOL else _program_files(proposal.workspace)
    files = _hash([named, code])
    if runs is Runs.UNKNOWN or code is None or TOO_MANY in named.values():
        return Binding(files)
    return Binding(files, _hash([proposal.call.name, proposal.call.arguments]), _hash([named, code, network]))


def _program_files(workspace: Path) -> Named | None:
    """Return the digest of each file that may hold code, or None if there are too many."""
    found: dict[str, str] = {}
    for parent, folders, names in os.walk(workspace):
        links = [name for name in folders if Path(parent, name).is_symlink()]
        for path in (Path(parent, name) for name in (*links, *names)):
            if _may_be_run(path):
                found[str(path.relative_to(workspace))] = _digest(path)
            if len(found) > MOST_ENTRIES:
                return None
    return found


def _may_be_run(path: Path) -> bool:
    """Return True for files that may hold code. Links count as such, since their targets can change."""
    if path.suffix.removeprefix(".").lower() not in DATA:
        return True
    try:
        return bool(path.lstat().st_mode & 0o111)
    except OSError:
        return True


def _skill_state(proposal: Proposal, library: SkillLibrary) -> str:
    """Return the digest of all files of the call's skill, or "" if they cannot be read."""
    skill = script_skill(proposal, library)
    if skill is not None:
        try:
            return digest_of_skill(skill.read_all())
        except (BadSkill, OSError):
            return ""
    name = str(proposal.call.arguments.get("skill", "")).strip()
    folder = proposal.workspace / FOLDER / name
    state = _digest(folder) if name and "/" not in name and folder.is_dir() else ""
    return "" if state == TOO_MANY else state


def _named(arguments: JsonValue, workspace: Path) -> list[str]:
    """Return the workspace paths in the call's arguments, including words of shell commands."""
    root = os.path.realpath(workspace)
    found: dict[str, None] = {}
    for text in _texts(arguments):
        for token in (text, *_BETWEEN.split(text)):
            if len(found) < MOST_TOKENS and (path := _inside(root, token)):
                found[path] = None
    return sorted(found)


def _texts(value: JsonValue) -> Iterator[str]:
    match value:
        case str():
            yield value
        case list():
            for each in value:
                yield from _texts(each)
        case dict():
            for each in value.values():
                yield from _texts(each)
        case _:
            return


def _inside(root: str, token: str) -> str:
    """Return the path relative to the workspace, or "" if the word names nothing in it."""
    if not token or len(token) > LONGEST_PATH or "\0" in token:
        return ""
    try:
        real = os.path.realpath(os.path.join(root, token))  # noqa: PTH118 - may be absolute
        return os.path.relpath(real, root) if _is_beneath(root, real) and os.path.lexists(real) else ""
    except (OSError, ValueError):
        return ""


def _is_beneath(root: str, real: str) -> bool:
    return real == root or real.startswith(root + os.sep)


def _digest(path: Path) -> str:
    """Return a digest of a file's content, or of the metadata of a folder's files."""
    try:
        handle = os.open(path, os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK | os.O_CLOEXEC)
    except OSError as error:
        return f"link to {_target(path)}" if error.errno == errno.ELOOP else f"unreadable {error.errno}"
    try:
        about = os.fstat(handle)
        if stat.S_ISDIR(about.st_mode):
            entries = list(islice(_entries(path), MOST_ENTRIES + 1))
            return _hash(entries) if len(entries) <= MOST_ENTRIES else TOO_MANY
        if not stat.S_ISREG(about.st_mode) or about.st_size > MOST_READ:
            return _seen(about)
        total = hashlib.sha256()
        while piece := os.read(handle, _PIECE):
            total.update(piece)
        return f"{stat.S_IMODE(about.st_mode):o} {total.hexdigest()}"
    finally:
        os.close(handle)


def _target(link: Path) -> str:
    try:
        return os.fsencode(link.readlink()).hex()
    except OSError as error:
        return f"unreadable {error.errno}"


def _entries(folder: Path) -> Iterator[str]:
    for parent, folders, files in os.walk(folder):
        folders.sort()
        for name in sorted((*folders, *files)):
            path = os.path.join(parent, name)  # noqa: PTH118 - many
            about = os.lstat(path)
            kind = "folder" if stat.S_ISDIR(about.st_mode) else _seen(about)
            yield f"{os.path.relpath(path, folder)} {kind}"


def _seen(about: os.stat_result) -> str:
    """Return a file's metadata. Any write changes its times."""
    return f"{about.st_mode:o} {about.st_ino} {about.st_size} {about.st_mtime_ns} {about.st_ctime_ns}"


def _hash(facts: object) -> str:
    text = json.dumps(facts, sort_keys=True, ensure_ascii=True, separators=(",", ":"))
    return hashlib.sha256(text.encode()).hexdigest()
