"""A lock file that admits one Parley process per store and names its holder."""

import fcntl
import os
from pathlib import Path
from types import TracebackType

from gateway.errors import HomeUnusable, ParleyError


class StoreBusy(ParleyError):
    """Another process uses the same store."""

    def __init__(self, path: Path, holder: str) -> None:
        super().__init__(
            f"Another Parley ({holder or 'unknown process'}) already uses {path.parent}. "
            "Stop it, or start this one with another PARLEY_HOME."
        )


class StoreLock:
    """An exclusive lock, held from `__enter__` to `__exit__`. The kernel releases it when the process dies."""

    def __init__(self, path: Path) -> None:
        self._path = path
        self._file: int | None = None

    def __enter__(self) -> "StoreLock":
        """Take the lock, creating the folder if needed. Raises StoreBusy and HomeUnusable."""
        try:
            self._path.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
            self._file = os.open(self._path, os.O_RDWR | os.O_CREAT, 0o600)
            self._take(self._file)
        except OSError as error:
            self._let_go()
            raise HomeUnusable(Path(error.filename or self._path), error.strerror or type(error).__name__) from error
        except StoreBusy:
            self._let_go()
            raise
        return self

    def _take(self, file: int) -> None:
        try:
            fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            holder = os.read(file, 100).decode(errors="replace").strip()
            raise StoreBusy(self._path, holder) from None
        os.ftruncate(file, 0)
        os.write(file, f"pid {os.getpid()}\n".encode())

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self._let_go()

    def _let_go(self) -> None:
        if self._file is not None:
            os.close(self._file)
            self._file = None
