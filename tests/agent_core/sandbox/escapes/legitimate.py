"""Actions that must work inside a sandbox."""

import os
import subprocess
from pathlib import Path

from tests.agent_core.sandbox.escapes.frame import WORLD, probe, reads


@probe
def legitimate_write() -> str:
    Path("folder").mkdir()
    Path("folder", "file").write_text("x")
    Path("folder", "file").rename("file")
    Path("file").unlink()
    Path("folder").rmdir()
    os.mkfifo("fifo")
    os.link("fifo", "fifo-2")
    with Path(os.environ["TMPDIR"], "temporary").open("w") as file:
        os.fchmod(file.fileno(), 0o600)
    return ""


@probe
def legitimate_python() -> str:
    told = "import ssl, sqlite3, json, zlib, ctypes, asyncio; asyncio.run(asyncio.sleep(0)); print(6 * 7)"
    done = subprocess.run(["/usr/bin/env", "python3", "-c", told], check=False, capture_output=True, text=True)  # noqa: S603
    return "" if done.stdout.strip() == "42" else f"Python does not work: {done.stderr}"


@probe
def legitimate_shell() -> str:
    told = (
        "cat <(echo from a pipe) >out && cp -p out copy && chmod u+rw copy && cat copy && touch copy && ls >/dev/null"
    )
    done = subprocess.run(["/usr/bin/env", "bash", "-c", told], check=False, capture_output=True, text=True)  # noqa: S603
    return "" if done.stdout == "from a pipe\n" else f"a shell does not work: {done.stderr}"


@probe
def legitimate_reading() -> str:
    return "" if reads(Path(WORLD["readable"], "SKILL.md"), "a skill") else "may not read what it was given"
