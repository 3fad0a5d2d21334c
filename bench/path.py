"""The way of a text message on Telegram, stage by stage: the time and the statements that each takes.

The model answers at once, and nobody else writes. `stream` and `deliver` contain the work of the emulators. Stages have
medians; what is due by time, and the search index once in 32 messages, count in the statements in all, a mean.
"""

import asyncio
import json
import os
import signal
import statistics
import sys
from collections.abc import Sequence
from pathlib import Path

from bench.figures import Figure, median
from bench.latency import ANSWER, respond
from bench.marked import STAGES
from bench.place import PLACES
from bench.stage import stage

SEATS = 8
"""Private chats used in turn, so that no rate limit per chat or per user applies."""
ROUNDS = 5
"""Messages in each chat, after a first one that opens connections and loads late imports."""
WITHIN = 20.0
QUIET_S = 0.1
"""Seconds after an answer in which the work on a message ends."""
MARKED = (sys.executable, "-P", "-m", "bench.marked")
BUDGET = {
    "receive": (0.5, 0),
    "admit": (0.5, 0),
    "store": (3.0, 4),
    "prompt": (1.0, 0),
    "request": (4.0, 8),
    "stream": (3.0, 0),
    "end": (3.0, 8),
    "deliver": (4.0, 4),
}
"""Milliseconds and statements that a stage may take on two idle cores."""

STATEMENTS = 25
TRANSACTIONS = 4.1
"""The arrival and three more; now and then something else is written beside a message."""
OVER = "over"

Mark = tuple[float, str, str]


class _Notes:
    """Asks the program for its list, which it writes to `file`."""

    def __init__(self, file: Path, pid: int) -> None:
        self._file = file
        self._pid = pid

    def begin(self) -> None:
        """Begin a new list."""
        os.kill(self._pid, signal.SIGUSR1)

    async def end(self) -> list[Mark]:
        """Return the list once the message is dealt with."""
        marks = await self._read()
        async with asyncio.timeout(WITHIN):
            while OVER not in {text for _, _, text in marks}:
                await asyncio.sleep(QUIET_S)
                marks = await self._read()
        return marks

    async def _read(self) -> list[Mark]:
        self._file.unlink(missing_ok=True)
        os.kill(self._pid, signal.SIGUSR2)
        while not self._file.exists():  # noqa: ASYNC110 - another process writes it
            await asyncio.sleep(0.005)
        return [(at, kind, text) for at, kind, text in json.loads(self._file.read_text("utf-8"))]


async def figures() -> list[Figure]:
    made = await _marked()
    times = [(name, median([_ms(marks, name) for marks in made])) for name in BUDGET]
    counts = [(name, median([_statements(marks, name) for marks in made])) for name in BUDGET]
    statements = statistics.fmean(sum(kind == "statement" for _, kind, _ in marks) for marks in made)
    commits = statistics.fmean(sum(text == "COMMIT" for _, _, text in marks) for marks in made)
    return [
        *(Figure(f"{name}: time", ms, "ms", BUDGET[name][0]) for name, ms in times),
        *(Figure(f"{name}: statements", count, "", BUDGET[name][1]) for name, count in counts),
        Figure("statements in all", statements, "", STATEMENTS),
        Figure("transactions", commits, "", TRANSACTIONS),
    ]


async def _marked() -> list[list[Mark]]:
    """Send messages one after another; return what the program noted for each."""
    async with stage(respond, "telegram", pace=False, seats=SEATS) as scene:
        file = scene.folder / "marks.json"
        async with scene.bot((*MARKED, str(file)), PLACES["telegram"].hurried) as bot:
            notes = _Notes(file, bot.pid)
            made = []
            for count in range(1, ROUNDS + 2):
                for seat in scene.seats:
                    notes.begin()
                    await seat.says("hello")
                    await seat.answered(ANSWER, count, WITHIN)
                    await asyncio.sleep(QUIET_S)
                    made.append(await notes.end())
    return made[SEATS:]


def _window(marks: Sequence[Mark], name: str) -> tuple[float, float]:
    """Return when a stage began and ended."""
    names = [*STAGES]
    after = names[names.index(name) + 1]
    began = {text: at for at, kind, text in reversed(marks) if kind == "stage"}
    return began[name], began[after]


def _ms(marks: Sequence[Mark], name: str) -> float:
    began, ended = _window(marks, name)
    return 1000 * (ended - began)


def _statements(marks: Sequence[Mark], name: str) -> int:
    began, ended = _window(marks, name)
    return sum(kind == "statement" and began <= at < ended for at, kind, _ in marks)
