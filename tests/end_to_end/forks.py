"""Programs forked by a zygote, with the interface of a process that the test started itself."""

import asyncio
import os
import socket
import subprocess
import sys
from collections.abc import Mapping, Sequence
from contextlib import suppress
from pathlib import Path

from tests.end_to_end.zygote import Birth, is_read_at_start
from tests.process import REPOSITORY, Finished, python

NOTHING = Path(os.devnull)
CAN_FORK = sys.platform == "linux"
"""True where forking is safe; on other systems libraries forbid it, and programs start from the command line."""


class Forked:
    """A forked program with the interface of `asyncio.subprocess.Process`; bound to the event loop that created it."""

    def __init__(self, pid: int, line: socket.socket) -> None:
        self.pid = pid
        self._line = line
        self._loop = asyncio.get_running_loop()
        self._code: asyncio.Future[int] = self._loop.create_future()
        line.settimeout(0)
        self._loop.add_reader(line, self._ends)

    @property
    def returncode(self) -> int | None:
        return self._code.result() if self._code.done() else None

    async def wait(self) -> int:
        return await asyncio.shield(self._code)

    def send_signal(self, which: int) -> None:
        """Send a signal. Raises ProcessLookupError after the program has ended."""
        if self._code.done():
            raise ProcessLookupError(self.pid)
        try:
            self._line.send(str(int(which)).encode())
        except BrokenPipeError:
            raise ProcessLookupError(self.pid) from None

    def _ends(self) -> None:
        told = self._line.recv(16)
        self._loop.remove_reader(self._line)
        self._line.close()
        if told:
            self._code.set_result(int(told))
        else:
            self._code.set_exception(RuntimeError(f"the zygote of {self.pid} is gone; see what it wrote"))


class Nursery:
    """The zygote of this test process, started when first needed and ended after the last test."""

    def __init__(self) -> None:
        self._zygote: subprocess.Popen[bytes] | None = None
        self._requests: socket.socket | None = None

    async def fork(self, birth: Birth, *, stdin: int | None, stdout: int, stderr: int) -> Forked:
        """Start a program with these files; without stdin it reads an empty input."""
        line, theirs = socket.socketpair(socket.AF_UNIX, socket.SOCK_SEQPACKET)
        line.settimeout(0)
        with theirs:
            self._ask(birth, [stdin, stdout, stderr, theirs.fileno()])
        try:
            pid = await asyncio.get_running_loop().sock_recv(line, 16)
        except ConnectionError:
            pid = b""
        except BaseException:  # the test was broken off meanwhile
            line.close()
            raise
        if not pid:
            line.close()
            raise RuntimeError(f"the zygote ended with {self.close()}; see what it wrote")
        return Forked(int(pid), line)

    def close(self) -> int:
        """End the zygote and its programs. Returns how many were still running."""
        if self._requests is not None:
            self._requests.close()
            self._requests = None
        return 0 if self._zygote is None else self._zygote.wait()

    def _ask(self, birth: Birth, files: Sequence[int | None]) -> None:
        requests = self._open()
        with NOTHING.open("rb") as nothing:
            socket.send_fds(requests, [birth.dump()], [nothing.fileno() if file is None else file for file in files])

    def _open(self) -> socket.socket:
        if self._requests is None:
            self._requests, theirs = socket.socketpair(socket.AF_UNIX, socket.SOCK_SEQPACKET)
            with theirs:
                self._zygote = subprocess.Popen(  # noqa: S603 - ours
                    [sys.executable, "-P", "-m", "tests.end_to_end.zygote", str(theirs.fileno())],
                    env={"PATH": os.environ.get("PATH", ""), "PYTHONPATH": str(REPOSITORY)},
                    stdin=subprocess.DEVNULL,
                    pass_fds=[theirs.fileno()],
                )
        return self._requests


NURSERY = Nursery()


async def parley(
    *arguments: str, cwd: Path = REPOSITORY, environ: Mapping[str, str] | None = None, says: str = ""
) -> Finished:
    """Run `parley` with these arguments, this environment and PATH only, like `python("-P", "-m", "gateway.cli")`.

    It is forked where possible; `zygote` lists the differences.
    """
    given = environ or {}
    if not CAN_FORK or any(map(is_read_at_start, given)):
        return await python("-P", "-m", "gateway.cli", *arguments, cwd=cwd, environ=given, says=says)
    birth = Birth(
        modules=(),
        module="gateway.cli",
        arguments=arguments,
        environ={"PATH": os.environ.get("PATH", ""), "PYTHONPATH": str(REPOSITORY), **given},
        cwd=str(cwd),
        new_session=False,
    )
    (stdin, says_to), (out_of, stdout), (err_of, stderr) = os.pipe(), os.pipe(), os.pipe()
    try:
        program = await NURSERY.fork(birth, stdin=stdin, stdout=stdout, stderr=stderr)
    finally:
        for theirs in (stdin, stdout, stderr):
            os.close(theirs)
    _, out, err = await asyncio.gather(
        asyncio.to_thread(_write, says_to, says), asyncio.to_thread(_read, out_of), asyncio.to_thread(_read, err_of)
    )
    return Finished(await program.wait(), out, err)


def _write(file: int, text: str) -> None:
    with suppress(BrokenPipeError), open(file, "w", encoding="utf-8") as pipe:
        pipe.write(text)


def _read(file: int) -> str:
    with open(file, encoding="utf-8") as pipe:
        return pipe.read()
