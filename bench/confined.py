"""Reads through paths whose links are swapped concurrently: do they escape the workspace, and what do they cost?

The bare way is the common one: resolve the path, check that it is inside, open it.
"""

import os
import subprocess
import sys
import tempfile
import time
from collections import Counter
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path

from agent_core.tools.files.confined import open_file
from agent_core.tools.tool import ToolFailed
from agent_core.workspace.safe_open import Opener, best_opener, open_by_kernel, open_by_walk
from bench.figures import Figure

READS = 60_000
INSIDE, OUTSIDE = b"what stands inside", b"what stands outside"
SWAP = """
import os
while True:
    for name in ("real", "link"):
        os.rename(name, "door")
        os.rename("door", name)
"""
"""Swaps a folder and a link to the outside under one name."""

Read = Callable[[Path, str], bytes]


async def figures() -> list[Figure]:
    openers = [open_by_kernel, open_by_walk] if best_opener() is open_by_kernel else [open_by_walk]
    bare, _ = _race(_read_bare)
    found: list[Figure] = []
    for opener in openers:
        name = opener.__name__.removeprefix("open_by_")
        read, spent = _race(_reader(opener))
        found += [
            Figure(f"by {name}: reads that leak", read[OUTSIDE], f"of {READS:,}", 0, bare[OUTSIDE]),
            Figure(f"by {name}: reads of the right file", read[INSIDE], f"of {READS:,}", None, bare[INSIDE]),
            Figure(f"by {name}: one attempt", 1e6 * spent / READS, "us"),
        ]
    return found


def _race(read: Read) -> tuple[Counter[bytes], float]:
    """Return how often each content was read (b"" if refused), and the time in seconds."""
    with tempfile.TemporaryDirectory(prefix="parley-bench-") as place:
        workspace = Path(place) / "workspace"
        (workspace / "real").mkdir(parents=True)
        (workspace / "real" / "file").write_bytes(INSIDE)
        (Path(place) / "file").write_bytes(OUTSIDE)
        (workspace / "link").symlink_to(place)
        with _swapped(workspace):
            began = time.monotonic()
            found = Counter(read(workspace, "door/file") for _ in range(READS))
            return found, time.monotonic() - began


@contextmanager
def _swapped(workspace: Path) -> Iterator[None]:
    swapper = subprocess.Popen([sys.executable, "-c", SWAP], cwd=workspace)  # noqa: S603 - our own words
    try:
        while not (workspace / "door").exists():  # wait for its first swap
            pass
        yield
    finally:
        swapper.kill()
        swapper.wait()


def _reader(opener: Opener) -> Read:
    def read(workspace: Path, path: str) -> bytes:
        try:
            handle = open_file(workspace, path, opener)
        except ToolFailed:
            return b""
        try:
            return os.read(handle, 100)
        finally:
            os.close(handle)

    return read


def _read_bare(workspace: Path, path: str) -> bytes:
    try:
        file = (workspace / path).resolve(strict=True)
        return (workspace / path).read_bytes() if file.is_relative_to(workspace) else b""
    except OSError:
        return b""
