"""Programs that people let Parley run after a question, and how often each has run."""

import asyncio
from collections import Counter
from collections.abc import Sequence
from contextlib import suppress
from pathlib import Path

from bench.figures import Figure
from bench.stage import Seat
from tests.emulators.model_script import ModelRequest, ToolUse, Turn
from tests.emulators.model_script import calls as turn_that_calls

ALLOW = "Allow once"
LOOK_EVERY_S = 0.5
SETTINGS = {"PARLEY_PERMISSIONS_OWNER": "sandboxed=ask"}
FILE = "ran.txt"


def call_for(word: str) -> Turn:
    """Return the answer in which the model runs a program that leaves a word behind."""
    return turn_that_calls(ToolUse("run_command", {"argv": ["sh", "-c", f"echo {word} >> {FILE}"]}))


def called(asked: ModelRequest) -> set[str]:
    """Return the words for which a request shows a call already."""
    calls = [str(message.get("tool_calls", "")) for message in asked.messages if message["role"] == "assistant"]
    return {word for call in calls for word in call.split() if word.startswith("p")}


class Programs:
    """The words of programs, and the people who press the button below each question."""

    def __init__(self, seats: Sequence[Seat]) -> None:
        self._seats = seats
        self.words: list[str] = []

    async def ask(self, number: int) -> None:
        """Ask for a program in a chat."""
        self.words.append(f"p{number}n{len(self.words)}")
        await self._seats[number].says(f"run {self.words[-1]}")

    async def approve(self) -> None:
        """Press the button below each question, until cancelled."""
        while True:
            for seat in self._seats:
                if any(message.button(ALLOW) is not None for message in seat.chat.bot_messages):
                    with suppress(AssertionError, LookupError):  # it is gone by now
                        await seat.chat.presses(seat.person, ALLOW)
            await asyncio.sleep(LOOK_EVERY_S)

    def outcomes(self, folder: Path) -> list[Figure]:
        """Return how many programs ran, and how many of those more than once."""
        ran = Counter(word for file in folder.rglob(FILE) for word in file.read_text("utf-8").split())
        twice = [word for word in self.words if ran[word] > 1]
        if twice:
            print(f"programs that ran twice: {twice}")
        return [
            Figure("programs asked for", len(self.words), ""),
            Figure("counted apart: programs that ran", len(ran), ""),
            Figure("programs that ran twice", len(twice), "", 0),
        ]
