"""A program in a process of its own."""

import asyncio
import os
import secrets
import socket
import sys
from collections.abc import Callable, Mapping
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path

REPOSITORY = Path(__file__).parent.parent
SILENT = {"PARLEY_MODEL": "silent", "OPENAI_BASE_URL": "http://127.0.0.1:9/v1"}
"""The settings of a model that is not there, for tests in which none is asked."""


@dataclass(frozen=True)
class Finished:
    code: int | None
    out: str
    err: str


async def python(
    *arguments: str, cwd: Path = REPOSITORY, environ: Mapping[str, str] | None = None, says: str = ""
) -> Finished:
    """Run this interpreter on our sources with this environment and PATH only."""
    process = await asyncio.create_subprocess_exec(
        sys.executable,
        *arguments,
        cwd=cwd,
        env={"PATH": os.environ.get("PATH", ""), "PYTHONPATH": str(REPOSITORY), **(environ or {})},
        stdin=asyncio.subprocess.PIPE,
        stdout=asyncio.subprocess.PIPE,
        stderr=asyncio.subprocess.PIPE,
    )
    out, err = await process.communicate(says.encode())
    return Finished(process.returncode, out.decode(), err.decode())


def lasting_port() -> int:
    """Return a free port that the system gives to nobody who asks for any port, as other tests do at the same time."""
    while True:
        port = 10_000 + secrets.randbelow(20_000)
        with socket.socket() as probe, suppress(OSError):
            probe.bind(("127.0.0.1", port))
            return port


async def until(condition: Callable[[], object], within: float = 30.0) -> None:
    """Wait for an effect of another process that is not announced. Raises TimeoutError after `within` seconds."""
    async with asyncio.timeout(within):
        while not condition():  # noqa: ASYNC110 - nothing announces it
            await asyncio.sleep(0.01)
