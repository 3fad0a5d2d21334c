"""Files of a folder that several processes share, also on other machines: they change them in turn, and notice it."""

import fcntl
import os
import threading
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from pathlib import Path
from weakref import finalize

_FLAGS = os.O_RDWR | os.O_CREAT | os.O_CLOEXEC | os.O_NOFOLLOW


@contextmanager
def file_locked(path: Path) -> Iterator[None]:
    """Hold the lock of a file, which is created, while the context is open. Blocks. Raises OSError."""
    path.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
    lock = os.open(path, _FLAGS, 0o600)
    try:
        fcntl.flock(lock, fcntl.LOCK_EX)
        yield
    finally:
        os.close(lock)


class Watched:
    """A file that is always replaced as a whole, and may be by other processes."""

    def __init__(self, path: Path) -> None:
        self.path = path
        self.lock = path.with_name(f"{path.name}.lock")
        self._seen: tuple[int, int, int] | None = None

    def has_changed(self) -> bool:
        """Return True if the file is not as it was at the last call."""
        before, self._seen = self._seen, self._state()
        return before is None or before != self._seen

    def _state(self) -> tuple[int, int, int]:
        try:
            about = self.path.stat()
        except OSError:
            return (0, 0, 0)
        return about.st_ino, about.st_mtime_ns, about.st_size


class Held:
    """A lock that is held until it is released, until nothing refers to this object, or until the process has died."""

    def __init__(self, path: Path) -> None:
        """Create the file and lock it. Raises BlockingIOError if somebody holds the lock, and other OSErrors."""
        path.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
        self.path = path
        lock = os.open(path, _FLAGS, 0o600)
        self.release = finalize(self, os.close, lock)
        try:
            fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except OSError:
            self.release()
            raise


class FolderLock:
    """The lock of a folder that one process changes at a time, and another one may have for itself. Reentrant.

    Threads of this process take turns. Processes that enter it do not wait for each other, so one that is frozen holds
    up nobody; only `alone` excludes them.
    """

    def __init__(self, folder: Path) -> None:
        self._file = folder / "lock"
        self._turns = threading.RLock()
        self._depth = 0
        self._held: int | None = None

    def __enter__(self) -> None:
        self._turns.acquire()
        if self._depth == 0:
            self._held = self._shared()
        self._depth += 1

    def __exit__(self, *_: object) -> None:
        self._depth -= 1
        if self._depth == 0 and self._held is not None:
            os.close(self._held)
            self._held = None
        self._turns.release()

    @contextmanager
    def alone(self) -> Iterator[None]:
        """Hold it while no other process does. Raises BlockingIOError if one does, and other OSErrors."""
        with self._turns:
            held = Held(self._file)
            self._depth += 1
            try:
                yield
            finally:
                self._depth -= 1
                held.release()

    def _shared(self) -> int | None:
        """Return the descriptor of the lock; None if there is no folder yet, or no lock can be had on its disk."""
        with ExitStack() as undo:
            try:
                file = os.open(self._file, _FLAGS, 0o600)
                undo.callback(os.close, file)
                fcntl.flock(file, fcntl.LOCK_SH)
            except OSError:
                return None
            undo.pop_all()
        return file


def is_held(path: Path) -> bool:
    """Return True if a process holds the lock of a file. Raises OSError."""
    try:
        Held(path).release()
    except BlockingIOError:
        return True
    return False
