"""Tracks which contents of plugins of others an owner has approved; what nobody approved is not imported.

The names of the commands of all plugins are kept beside, as those of one that is not imported cannot be read.

Who names a plugin in the settings approves the content that is found first. A later one waits until an owner approves
it, too, and is loaded at the next start.
"""

from collections.abc import Mapping, Sequence
from pathlib import Path

import structlog
from pydantic import BaseModel, ConfigDict, ValidationError

from agent_core.file_lock import file_locked
from gateway.permissions.installed_plugins import Content

FILE = "plugins.json"
"""Name of the file in the home."""

log = structlog.get_logger(__name__)


class _Kept(BaseModel):
    model_config = ConfigDict(frozen=True, defer_build=True)

    approved: Mapping[str, Content] = {}
    """The approved contents by the names of plugins."""
    commands: Mapping[str, Sequence[str]] = {}
    """The names of the commands that plugins have had, by the names of plugins."""
    lost: bool = False
    """True once the file was damaged: it may have named any plugin, so that none is approved by itself any more."""


class ApprovedPlugins:
    """The approved contents, in a file that several processes may share. All methods block."""

    def __init__(self, home: Path) -> None:
        self._file = home / FILE

    def see(self, name: str, content: Content) -> bool:
        """Record what is installed now. Return True if it is approved, as the first content of a plugin is.

        Raises OSError if that cannot be kept.
        """
        with file_locked(self._lock):
            kept = self._read()
            if self._is_new(kept, name):
                kept = kept.model_copy(update={"approved": {**kept.approved, name: content}})
                self._write(kept)
            elif kept.lost:
                self._write(kept)  # so that a damaged file is told of once
        approved = kept.approved.get(name)
        return approved is not None and approved.digest == content.digest

    def approved(self, name: str) -> Content | None:
        return self._read().approved.get(name)

    def would_pass(self, name: str, content: Content) -> bool:
        """Return what `see` would, without recording anything."""
        kept = self._read()
        approved = content if self._is_new(kept, name) else kept.approved.get(name)
        return approved is not None and approved.digest == content.digest

    def approve(self, name: str, content: Content) -> None:
        """Approve a content instead of the former one. Raises OSError."""
        with file_locked(self._lock):
            kept = self._read()
            self._write(kept.model_copy(update={"approved": {**kept.approved, name: content}}))

    def commands(self) -> Mapping[str, Sequence[str]]:
        """Return the names of the commands that each plugin had when it was loaded last."""
        return self._read().commands

    def note_commands(self, names: Mapping[str, Sequence[str]]) -> None:
        """Keep the names of the commands of plugins that are loaded, if they are others. Raises OSError."""
        with file_locked(self._lock):
            kept = self._read()
            commands = {**kept.commands, **names}
            if commands != kept.commands:
                self._write(kept.model_copy(update={"commands": commands}))

    @property
    def _lock(self) -> Path:
        return self._file.with_name(f"{self._file.name}.lock")

    @staticmethod
    def _is_new(kept: _Kept, name: str) -> bool:
        return name not in kept.approved and not kept.lost

    def _read(self) -> _Kept:
        try:
            return _Kept.model_validate_json(self._file.read_bytes())
        except FileNotFoundError:
            return _Kept()
        except (OSError, ValidationError) as error:
            log.warning("approved plugins cannot be read; approve them again", file=str(self._file), reason=str(error))
            return _Kept(lost=True)

    def _write(self, kept: _Kept) -> None:
        arriving = self._file.with_suffix(".arriving")
        arriving.touch(mode=0o600)
        arriving.write_text(kept.model_dump_json(), "utf-8")
        arriving.replace(self._file)
