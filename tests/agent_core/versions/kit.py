"""Helpers for tests of file versions: a workspace with versions, and a listing of its contents."""

from dataclasses import dataclass
from pathlib import Path

from agent_core.versions.group import Group
from agent_core.versions.undo import Undone, newest, undo
from agent_core.versions.versions import ChatVersions, KeepLimits
from agent_core.workspace.keeper import Author
from tests.clock import FakeClock

ANN = "ann"


@dataclass
class Kept:
    """A workspace beside the folder of its versions."""

    place: Path
    clock: FakeClock
    versions: ChatVersions

    @property
    def workspace(self) -> Path:
        return self.versions.workspace

    def put(self, path: str, content: str = "old", mode: int = 0o644) -> Path:
        file = self.workspace / path
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_text(content)
        file.chmod(mode)
        return file

    def tree(self) -> dict[str, str]:
        """Return mode and content of every path; links are not followed."""
        return {str(path.relative_to(self.workspace)): _told(path) for path in sorted(self.workspace.rglob("*"))}

    def newest(self, person: str = ANN) -> Group:
        group = newest(self.versions, person)
        assert group is not None, "nothing to undo"
        return group

    def undo(self, group: Group | None = None, *, anyway: bool = False) -> Undone:
        wanted = group or self.newest()
        shown = undo(self.versions, wanted, ANN, anyway="") if anyway else None
        if shown is not None and shown.by is not None:
            return shown
        return undo(self.versions, wanted, ANN, anyway=shown.mark if shown else "")

    def next_life(self) -> "Kept":
        return kept_in(self.place, self.clock)


def kept_in(place: Path, clock: FakeClock | None = None, limits: KeepLimits | None = None) -> Kept:
    clock = clock or FakeClock()
    (place / "workspace").mkdir(exist_ok=True)
    return Kept(place, clock, ChatVersions(place / "versions", place / "workspace", clock, limits))


def by(call: str = "call-1", person: str = ANN) -> Author:
    return Author("run_command", call, person)


def _told(path: Path) -> str:
    mode = f"{path.lstat().st_mode & 0o7777:o}"
    if path.is_symlink():
        return f"link to {path.readlink()}"
    if path.is_dir():
        return f"{mode} folder"
    return f"{mode} {path.read_bytes()!r}" if path.is_file() else f"{mode} other"
