"""Skills installed from archives, and which contents of skills people have approved.

Each content has a folder of its own, named by its digest, and one file says which digest is approved for each name.
That file is replaced atomically, so an installation or update happens as a whole or not at all.
"""

import os
import secrets
import shutil
from collections.abc import Callable, Iterable, Mapping
from functools import wraps
from pathlib import Path
from typing import Concatenate, ParamSpec, TypeVar

from pydantic import BaseModel, ConfigDict, ValidationError

from agent_core.file_lock import file_locked
from agent_core.skills.header import BadSkill
from agent_core.skills.skill import SCRIPTS, Origin, PackedSkill, Skill, digest, opened, read_all

P = ParamSpec("P")
T = TypeVar("T")

FOLDER = "installed-skills"
"""Name of the folder in the home."""
MOST_PROPOSED = 20
PROPOSED_FOR = 24 * 3600.0
"""Seconds for which a proposal can be approved."""
CODE_CHARS = 16
"""Characters of a digest in buttons."""

_FILE = "approved.json"
_ARRIVING = ".arriving-"


class Approval(BaseModel):
    """A content of a skill that somebody approved."""

    model_config = ConfigDict(frozen=True, defer_build=True)

    digest: str
    source: str = ""
    """Address that `update` fetches again; empty for an attachment, or for a skill that was not installed."""
    by: str
    """The person as `platform:id`."""
    at: float
    locked: bool = False
    installed: bool = True
    """False for a lock on a skill in the owner's folder."""


class Proposal(BaseModel):
    """A content that waits for approval."""

    model_config = ConfigDict(frozen=True, defer_build=True)

    name: str
    digest: str
    source: str = ""
    by: str
    at: float
    replaces: str = ""
    """The approved digest when it was proposed."""

    @property
    def code(self) -> str:
        return self.digest[:CODE_CHARS]


class _Kept(BaseModel):
    model_config = ConfigDict(frozen=True, defer_build=True)

    approved: dict[str, Approval] = {}
    proposed: dict[str, Proposal] = {}


class NotProposed(Exception):
    """There is no such proposal any more, or another content was approved since."""


def _in_turn(change: "Callable[Concatenate[InstalledSkills, P], T]") -> "Callable[Concatenate[InstalledSkills, P], T]":
    """Let no other process make such a change meanwhile."""

    @wraps(change)
    def changing(skills: "InstalledSkills", /, *given: P.args, **named: P.kwargs) -> T:
        with file_locked(skills.root.with_name(f"{skills.root.name}.lock")):
            return change(skills, *given, **named)

    return changing


class InstalledSkills:
    """The folder of installed skills. All methods block. Several processes may share it."""

    def __init__(self, root: Path) -> None:
        self.root = root
        self._signature: tuple[int, int] | None = None
        self._kept = _Kept()
        self._seen: dict[str, tuple[str, object, str]] = {}
        """Contents that were found to be the approved ones, by name."""

    def approvals(self) -> Mapping[str, Approval]:
        """Return all approvals, by the names of skills."""
        return self._read().approved

    def approval(self, name: str) -> Approval | None:
        return self.approvals().get(name)

    def refused(self, skill: Skill, scan: Mapping[str, Approval] | None = None) -> str:
        """Return why a skill may not be used as its files are now, with what to do; empty if it may.

        A scan, which is made every two seconds, gives the approvals, and reads the files only if those beside SKILL.md
        have changed.
        """
        approvals = self.approvals() if scan is None else scan
        approval = approvals.get(skill.name)
        if self.is_leftover(skill, approvals):
            return "it is not approved; install it again"
        if approval is None:
            return ""
        seen = str(skill.folder), skill.signature, approval.digest
        if scan is not None and self._seen.get(skill.name) == seen:
            return ""
        self._seen.pop(skill.name, None)
        try:
            if digest(skill.read_all()) == approval.digest:
                self._seen[skill.name] = seen
                return ""
        except (BadSkill, OSError):
            pass
        advice = "install it again" if approval.installed else "unlock it, look at it, and lock it again"
        return f"its files were changed after a person approved them; {advice}"

    def is_leftover(self, skill: Skill, approvals: Mapping[str, Approval]) -> bool:
        """Return True for a folder of this kind that no approval names: a proposal, or an earlier version."""
        if skill.origin is not Origin.INSTALLED:
            return False
        approval = approvals.get(skill.name)
        return approval is None or not self._is_current(skill, approval)

    def is_locked(self, skill: Skill) -> bool:
        """Return True if a person locked the skill and its files are still the same."""
        approval = self.approval(skill.name)
        return approval is not None and approval.locked and not self.refused(skill)

    def folder(self, name: str, content: str) -> Path:
        """Return where this content of a skill is, by its digest."""
        return self.root / content / name

    def files(self, name: str, content: str) -> dict[str, bytes]:
        """Return the files with this digest, or none if they are not there as they were."""
        try:
            with opened(self.root.absolute(), self.folder(name, content).absolute()) as handle:
                found = read_all(handle)
        except (BadSkill, OSError):
            return {}
        return found if digest(found) == content else {}

    # Changes

    @_in_turn
    def propose(self, packed: PackedSkill, *, source: str, by: str, at: float) -> Proposal:
        """Write a skill's files beside the others, and keep the proposal. Raises OSError."""
        kept = self._read()
        recent = [each for each in kept.proposed.values() if at - each.at < PROPOSED_FOR][-MOST_PROPOSED + 1 :]
        self._remove_leftovers(kept.approved.values(), recent)
        content = self._unpacked(packed)
        current = kept.approved.get(packed.name)
        replaces = current.digest if current else ""
        made = Proposal(name=packed.name, digest=content, source=source, by=by, at=at, replaces=replaces)
        proposed = {each.digest: each for each in recent} | {content: made}
        self._write(kept.model_copy(update={"proposed": proposed}))
        return made

    def proposal(self, code: str, now: float) -> Proposal | None:
        """Return the proposal that a code names."""
        found = (each for each in self._read().proposed.values() if each.code == code and now - each.at < PROPOSED_FOR)
        return next(found, None)

    @_in_turn
    def approve(self, proposal: Proposal, *, by: str, at: float) -> Approval:
        """Approve a proposal's content. Raises NotProposed and OSError."""
        kept = self._read()
        current = kept.approved.get(proposal.name)
        if current is not None and current.digest == proposal.digest:
            return current
        is_same = (current.digest if current else "") == proposal.replaces and not (current and current.locked)
        if not is_same or not self.files(proposal.name, proposal.digest):
            raise NotProposed(proposal.name)
        made = Approval(digest=proposal.digest, source=proposal.source, by=by, at=at)
        self._write(kept.model_copy(update={"approved": {**kept.approved, proposal.name: made}}))
        return made

    @_in_turn
    def discard(self, code: str) -> bool:
        """Forget a proposal. Returns False if there is none."""
        kept = self._read()
        left = {key: each for key, each in kept.proposed.items() if each.code != code}
        if len(left) == len(kept.proposed):
            return False
        self._write(kept.model_copy(update={"proposed": left}))
        return True

    @_in_turn
    def remove(self, name: str) -> bool:
        """Withdraw the approval of an installed skill, and forget its proposals. Returns False if it is not one."""
        kept = self._read()
        if name not in kept.approved or not kept.approved[name].installed:
            return False
        approved = {key: each for key, each in kept.approved.items() if key != name}
        proposed = {key: each for key, each in kept.proposed.items() if each.name != name}
        self._write(_Kept(approved=approved, proposed=proposed))
        self._remove_leftovers(approved.values(), proposed.values())
        return True

    @_in_turn
    def lock(self, skill: Skill, *, by: str, at: float) -> Approval:
        """Lock a skill to its files as they are now. Raises BadSkill and OSError."""
        kept = self._read()
        current = kept.approved.get(skill.name)
        if skill.origin is Origin.INSTALLED and current is not None:
            made = current.model_copy(update={"locked": True})
        else:
            made = Approval(digest=digest(skill.read_all()), by=by, at=at, locked=True, installed=False)
        self._write(kept.model_copy(update={"approved": {**kept.approved, skill.name: made}}))
        return made

    @_in_turn
    def unlock(self, name: str) -> bool:
        """Remove a lock. Returns False if there is none."""
        kept = self._read()
        current = kept.approved.get(name)
        if current is None or not current.locked:
            return False
        approved = {key: each for key, each in kept.approved.items() if key != name}
        if current.installed:
            approved[name] = current.model_copy(update={"locked": False})
        self._write(kept.model_copy(update={"approved": approved}))
        return True

    # Internals

    def _is_current(self, skill: Skill, approval: Approval) -> bool:
        return approval.installed and skill.folder == self.folder(skill.name, approval.digest).absolute()

    def _read(self) -> _Kept:
        """Return what is kept, read again if the file has changed. An unreadable file approves nothing."""
        try:
            about = (self.root / _FILE).stat()
            signature = about.st_ino, about.st_mtime_ns
            if signature != self._signature:
                self._kept = _Kept.model_validate_json((self.root / _FILE).read_bytes())
                self._signature = signature
        except (OSError, ValidationError):
            self._kept, self._signature = _Kept(), None
        return self._kept

    def _write(self, kept: _Kept) -> None:
        arriving = self.root / f"{_ARRIVING}{_FILE}"
        self.root.mkdir(mode=0o700, parents=True, exist_ok=True)
        _write_file(arriving, kept.model_dump_json(indent=2).encode(), 0o600)
        arriving.replace(self.root / _FILE)
        _sync(self.root)
        self._kept, self._signature = kept, None

    def _unpacked(self, packed: PackedSkill) -> str:
        """Write the files into a folder named by their digest. Returns the digest."""
        self.root.mkdir(mode=0o700, parents=True, exist_ok=True)
        arriving = self.root / f"{_ARRIVING}{secrets.token_hex(8)}"
        _write_files(arriving / packed.name, packed.files)
        with opened(arriving.absolute(), (arriving / packed.name).absolute()) as handle:
            content = digest(read_all(handle))
        if not self.files(packed.name, content):
            shutil.rmtree(self.root / content, ignore_errors=True)  # changed since it was written
            arriving.rename(self.root / content)
            _sync(self.root)
        shutil.rmtree(arriving, ignore_errors=True)
        return content

    def _remove_leftovers(self, approved: Iterable[Approval], proposed: Iterable[Proposal]) -> None:
        """Delete the folders that nothing names."""
        keep = {_FILE, *(each.digest for each in approved), *(each.digest for each in proposed)}
        if not self.root.is_dir():
            return
        for folder in self.root.iterdir():
            if folder.name not in keep:
                shutil.rmtree(folder, ignore_errors=True)


def _write_files(folder: Path, files: Mapping[str, bytes]) -> None:
    for path, content in files.items():
        file = folder / path
        file.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
        is_program = path.startswith(f"{SCRIPTS}/") and content.startswith(b"#!")
        _write_file(file, content, 0o700 if is_program else 0o600)


def _write_file(file: Path, content: bytes, mode: int) -> None:
    with os.fdopen(os.open(file, os.O_WRONLY | os.O_CREAT | os.O_TRUNC | os.O_NOFOLLOW, mode), "wb") as out:
        out.write(content)
        out.flush()
        os.fsync(out.fileno())


def _sync(folder: Path) -> None:
    handle = os.open(folder, os.O_RDONLY | os.O_DIRECTORY)
    try:
        os.fsync(handle)
    finally:
        os.close(handle)
