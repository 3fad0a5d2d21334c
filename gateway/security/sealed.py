"""Seals texts that are kept, with a key of this installation that is in no database and no backup.

The package `cryptography` comes with the extra `mcp`, and is imported only when something is sealed.
"""

import importlib
from functools import cached_property
from pathlib import Path
from typing import Protocol, cast

from agent_core.file_lock import file_locked
from gateway.security.private_file import write_private

FILE = "sealing.key"
FERNET = "cryptography.fernet"


class _Fernet(Protocol):
    def encrypt(self, data: bytes) -> bytes: ...
    def decrypt(self, token: bytes) -> bytes: ...


class Sealed:
    """Seals and opens texts. The key is a file of the home, made when it is needed first."""

    def __init__(self, home: Path) -> None:
        self._file = home / FILE

    def seal(self, text: str) -> str:
        """Return the text so that only this installation can read it. Blocks. Raises ParleyError and OSError."""
        return self._fernet.encrypt(text.encode()).decode()

    def opened(self, sealed: str) -> str | None:
        """Return a text that was sealed here; None for any other. Blocks. Raises ParleyError and OSError."""
        try:
            return self._fernet.decrypt(sealed.encode()).decode()
        except importlib.import_module(FERNET).InvalidToken:
            return None

    @cached_property
    def _fernet(self) -> _Fernet:
        module = importlib.import_module(FERNET)
        with file_locked(self._file.with_suffix(".lock")):
            if not self._file.exists():
                write_private(self._file, [module.Fernet.generate_key().decode()])
        return cast("_Fernet", module.Fernet(self._file.read_text("ascii").strip()))
