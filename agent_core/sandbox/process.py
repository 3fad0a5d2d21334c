"""Execution of a command by a launcher: captures output, enforces limits and kills leftover processes."""

import asyncio
import os
import re
import signal
from asyncio.subprocess import Process
from collections.abc import Coroutine
from contextlib import suppress
from pathlib import Path
from types import TracebackType
from typing import BinaryIO

from agent_core.clock import Clock
from agent_core.log_errors import log_errors
from agent_core.sandbox.cgroup import Group
from agent_core.sandbox.command import Command, Finished, Launcher, OnOutput
from agent_core.sandbox.reaper import end_writers
from agent_core.sandbox.usage import Watch

TELL_EVERY = 0.25
"""Seconds between two progress lines."""
GRACE = 3.0
"""Seconds for all processes of a command to end after it; a supervisor may have much to clean up."""
LINE_CHARS = 200

_CHUNK = 64 * 1024
_TAIL = 4096
_FOLDER = os.O_RDONLY | os.O_DIRECTORY | os.O_NOFOLLOW | os.O_CLOEXEC
_NEW = os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_NOFOLLOW | os.O_CLOEXEC
_ESCAPES = re.compile(
    r"\x1b\[[0-?]*[ -/]*[@-~]"  # colours and cursor movement
    r"|\x1b[\]PX^_][^\x07\x1b]*(?:\x07|\x1b\\)?"  # titles and links
    r"|\x1b[ -/]*[0-~]?"
)


class ProcessSandbox:
    """Runs commands by a launcher, each in a process group of its own."""

    def __init__(self, launcher: Launcher, clock: Clock) -> None:
        self.name = launcher.name
        self._launcher = launcher
        self._clock = clock

    async def run(self, command: Command, output: str, on_output: OnOutput) -> Finished:
        """See `Sandbox.run`. An existing output file is replaced; its folders must exist.

        The work runs in a task that is asked to stop instead of cancelled, so that it always cleans up, even if the
        caller is cancelled repeatedly.
        """
        stop = asyncio.Event()
        task = asyncio.create_task(self._run(command, output, on_output, stop))
        cancelled: asyncio.CancelledError | None = None
        while not task.done():
            try:
                await asyncio.wait([task])
            except asyncio.CancelledError as error:
                cancelled = error
                stop.set()
        if cancelled:
            with suppress(OSError, asyncio.CancelledError):
                task.result()
            raise cancelled
        return task.result()

    async def _run(self, command: Command, output: str, on_output: OnOutput, stop: asyncio.Event) -> Finished:
        began = self._clock.monotonic()
        limits = command.limits
        with _created(command.workspace, output) as file, _Capture(file, limits.output_bytes) as capture:
            watch = await Watch.begin(command, self._clock)
            try:
                process, group = await self._start(command, capture)
            except asyncio.CancelledError:
                await asyncio.to_thread(capture.end_writers)  # it may have started all the same
                raise
            telling = asyncio.create_task(self._tell(capture, on_output))
            ends = process.wait(), capture.full.wait(), stop.wait(), watch.until_exceeded(process.pid, group)
            try:
                in_time = await self._first(limits.seconds, *ends)
            finally:
                telling.cancel()
                await self._end(process, capture)
                watch.release()
            excess = watch.at_the_end(group)
            if group:
                await asyncio.to_thread(group.remove)
        if capture.error:
            raise capture.error
        return Finished(
            code=process.returncode or 0,
            output=command.workspace / output,
            size=capture.size,
            timed_out=not in_time,
            flooded=capture.flooded,
            excess=excess,
            seconds=self._clock.monotonic() - began,
        )

    async def _start(self, command: Command, capture: "_Capture") -> tuple[Process, Group | None]:
        with self._launcher.launch(command) as launch:
            process = await asyncio.create_subprocess_exec(
                *launch.argv,
                stdin=launch.stdin,
                stdout=capture.writing,
                stderr=capture.writing,
                cwd=launch.cwd,
                env=dict(launch.env),
                pass_fds=launch.pass_fds,
                start_new_session=True,
            )
        capture.is_given_away()
        return process, launch.group

    async def _tell(self, capture: "_Capture", on_output: OnOutput) -> None:
        told = ""
        while True:
            await self._clock.sleep(TELL_EVERY)
            line = capture.last_line()
            if line and line != told:
                told = line
                with log_errors("on_output"):
                    on_output(line)

    async def _end(self, process: Process, capture: "_Capture") -> None:
        """Kill the process without a warning signal: bubblewrap's inner process cannot receive it and would survive.

        All processes of the command die with it, as launchers promise; what is left is searched for and killed.
        """
        if process.returncode is None:
            with suppress(ProcessLookupError):
                os.killpg(process.pid, signal.SIGKILL)
            await process.wait()
        if not await self._first(GRACE, capture.ended.wait()):
            await asyncio.to_thread(capture.end_writers)
            await self._first(GRACE, capture.ended.wait())

    async def _first(self, seconds: float, *events: Coroutine[object, object, object]) -> bool:
        """Return True if one of the events happened within this many seconds."""
        tasks = [asyncio.create_task(event) for event in events]
        late = asyncio.create_task(self._clock.sleep(seconds))
        try:
            await asyncio.wait([*tasks, late], return_when=asyncio.FIRST_COMPLETED)
            return any(task.done() for task in tasks)
        finally:
            for task in (*tasks, late):
                task.cancel()
            await asyncio.wait([*tasks, late])


class _Capture:
    """Copies a pipe into a file up to `most` bytes or a write error; further data is discarded until the pipe
    closes."""

    def __init__(self, file: BinaryIO, most: int) -> None:
        self._file = file
        self._most = most
        self._tail = b""
        self.size = 0
        self.flooded = False
        self.error: OSError | None = None
        self.full = asyncio.Event()
        """Set when no more output is kept."""
        self.ended = asyncio.Event()
        """Set when all writers have closed the pipe."""
        self._reading, self.writing = os.pipe()
        self._given_away = False

    def __enter__(self) -> "_Capture":
        os.set_blocking(self._reading, False)
        asyncio.get_running_loop().add_reader(self._reading, self._read)
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        asyncio.get_running_loop().remove_reader(self._reading)
        os.close(self._reading)
        self.is_given_away()

    def is_given_away(self) -> None:
        """Close the write end here, so that the pipe ends with its other writers."""
        if not self._given_away:
            self._given_away = True
            os.close(self.writing)

    def end_writers(self) -> None:
        end_writers(self._reading)

    def last_line(self) -> str:
        """Return the newest non-empty line, printable, at most LINE_CHARS characters."""
        lines = plain(self._tail.decode("utf-8", "replace")).split("\n")
        return next((line.strip()[:LINE_CHARS] for line in reversed(lines) if line.strip()), "")

    def _read(self) -> None:
        try:
            chunk = os.read(self._reading, _CHUNK)
        except BlockingIOError:
            return
        if not chunk:
            asyncio.get_running_loop().remove_reader(self._reading)
            self.ended.set()
        elif not self.full.is_set():
            self._keep(chunk)

    def _keep(self, chunk: bytes) -> None:
        kept = chunk[: self._most - self.size]
        try:
            self.size += self._file.write(kept)
        except OSError as error:
            self.error = error
        self._tail = (self._tail + kept)[-_TAIL:]
        self.flooded = len(kept) < len(chunk)
        if self.error or self.flooded:
            self.full.set()


def plain(text: str) -> str:
    """Return the text as a terminal would finally show it: without escape sequences and invisible characters, and with
    overwritten lines in their last state."""
    lines = (_ESCAPES.sub("", line).rstrip("\r").rsplit("\r", 1)[-1] for line in text.split("\n"))
    return "\n".join("".join(_visible(char) for char in line) for line in lines)


def _visible(char: str) -> str:
    if char.isprintable():
        return char
    return " " if char.isspace() else ""


def _created(workspace: Path, name: str) -> BinaryIO:
    """Create the output file without following links, because the workspace may be hostile."""
    *folders, last = name.split("/")
    handle = os.open(workspace, _FOLDER)
    try:
        for folder in folders:
            outer, handle = handle, os.open(folder, _FOLDER, dir_fd=handle)
            os.close(outer)
        # Renamed, because another command could take the name between a deletion and a new creation.
        arriving = f".{last}-{os.urandom(8).hex()}"
        file = os.fdopen(os.open(arriving, _NEW, 0o600, dir_fd=handle), "wb", buffering=0)
        try:
            os.replace(arriving, last, src_dir_fd=handle, dst_dir_fd=handle)
        except OSError:
            file.close()
            os.unlink(arriving, dir_fd=handle)
            raise
        return file
    finally:
        os.close(handle)
