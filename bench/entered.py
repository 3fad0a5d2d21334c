"""Our files and functions that a warm "hello" enters on the emulated Telegram, as a profiler sees them.

A function counts once a message; comprehensions, and functions that the standard library generates, do not count.
"""

import asyncio
import json
import os
import signal
import sys
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from bench.figures import Figure, median
from bench.profiled import Stack
from bench.stage import stage
from tests.emulators.model_script import Answer, ModelRequest, says

WARM_UP = 2
"""Messages in the same chat before the first that is measured."""
ROUNDS = 3
QUIET_S = 0.5
"""Seconds after the answer in which the work on a message ends."""
WITHIN = 20.0
ANSWER = "Hello, and what can I do for you?"
MAILBOX = "gateway/chat/session.py"
"""The module whose tasks take messages from the mailbox of a chat."""
PROFILED = (sys.executable, "-P", "-m", "bench.profiled")


@dataclass(frozen=True)
class Entry:
    """A function that was entered. Paths are relative to the repository."""

    path: str
    function: str
    """Qualified name."""
    stacks: Sequence[Stack]
    """Those of its first call; see `Profiler`."""


@dataclass(frozen=True)
class Trip:
    """The functions that one message entered, in order of their first call."""

    until_request: Sequence[Entry]
    """Those before the first model request arrived."""
    whole: Sequence[Entry]


class Recorder:
    """Asks the profiled program for its list, which it writes to `file`."""

    def __init__(self, file: Path) -> None:
        self._file = file
        self._pid = 0
        self._until_request: list[Entry] = []

    async def respond(self, asked: ModelRequest) -> Answer:
        """Answer a model request, noting what was entered until then."""
        if self._pid:
            self._until_request = await self._read()
        return says(ANSWER)

    def begin(self, pid: int) -> None:
        """Begin a new list in the program with this process id."""
        self._pid = pid
        os.kill(pid, signal.SIGUSR1)

    async def end(self) -> Trip:
        return Trip(self._until_request, await self._read())

    async def _read(self) -> list[Entry]:
        self._file.unlink(missing_ok=True)
        os.kill(self._pid, signal.SIGUSR2)
        async with asyncio.timeout(WITHIN):
            while not self._file.exists():  # noqa: ASYNC110 - another process writes it
                await asyncio.sleep(0.005)
        return [
            Entry(path, function, [tuple(stack) for stack in stacks])
            for path, function, stacks in json.loads(self._file.read_text("utf-8"))
        ]


async def trips() -> list[Trip]:
    """Send a few messages and return the functions that each of them entered."""
    recorders: list[Recorder] = []

    async def respond(asked: ModelRequest) -> Answer:
        return await recorders[0].respond(asked)

    made = []
    async with stage(respond, "telegram", seats=1) as scene:
        file = scene.folder / "entered.json"
        recorders.append(Recorder(file))
        async with scene.bot((*PROFILED, str(file))) as bot:
            for count in range(1, WARM_UP + ROUNDS + 1):
                recorders[0].begin(bot.pid)
                await scene.seats[0].says("hello")
                await scene.seats[0].answered(ANSWER, count, WITHIN)
                await asyncio.sleep(QUIET_S)
                made.append(await recorders[0].end())
    return made[WARM_UP:]


def functions_to_model(trip: Trip) -> int:
    """Count our functions that wait for one another from a chat's mailbox to the model's client when that is called."""
    clients = (each for each in trip.until_request if each.path.startswith("agent_core/models/"))
    stacks = next(each.stacks for each in clients if each.function.endswith(".stream"))
    first = max(number for number, stack in enumerate(stacks) if stack[:1] == (MAILBOX,))
    return sum(map(len, stacks[first:])) - 1


def figures_of(made: Sequence[Trip]) -> list[Figure]:
    first, whole = [trip.until_request for trip in made], [trip.whole for trip in made]
    return [
        Figure("a hello until the model request: files entered", _files(first), "", 110),
        Figure("a hello until the model request: functions entered", median(list(map(len, first))), "", 380),
        Figure("functions from a mailbox to the model's client", median(list(map(functions_to_model, made))), "", 8),
        Figure("a hello until the answer is sent: files entered", _files(whole), "", 65),
        Figure("a hello until the answer is sent: functions entered", median(list(map(len, whole))), "", 300),
    ]


def _files(lists: Sequence[Sequence[Entry]]) -> float:
    return median([len({entry.path for entry in entries}) for entries in lists])
