"""What people do beside writing: files, edits, reminders, memories, programs and `/undo`, and what became of each."""

import random
import re
import sqlite3
from collections import Counter
from collections.abc import Sequence
from contextlib import closing
from pathlib import Path

from bench.figures import Figure
from bench.programs import Programs
from bench.stage import Seat
from bench.talk import Talk

BESIDE = 0.4
"""Share of the messages with which something else is done."""
REMINDER, FACT = "reminder", "fact"
LINES = {REMINDER: "/remind in 9h {word}", FACT: "/memory add {word}"}
CAME = "SELECT payload FROM inbox"
COMMAND = re.compile(r"[rf]\d+x\d+")


class Mixed(Talk):
    """A talk in which files come with messages, messages are edited, and commands stand between them."""

    def __init__(self, seats: Sequence[Seat], chance: random.Random) -> None:
        super().__init__(seats, chance)
        self.commanded: dict[str, list[str]] = {REMINDER: [], FACT: []}
        """The words of commands, by what each makes."""
        self.programs = Programs(seats)
        self.undone: set[str] = set()
        """Those of facts that `/undo` may have taken back: the newest of the chat each time."""

    async def send(self, number: int, word: str) -> None:
        seat, kind = self.seats[number], self._chance.random()
        if kind > BESIDE:
            await super().send(number, word)
        elif kind > 0.3:
            await seat.chat.says(seat.person, word, document=("notes.txt", word.encode(), "text/plain"))
        elif kind > 0.2:
            message = await seat.chat.says(seat.person, f"{word} pleas")
            await seat.chat.edits(message, f"{word} please")
        else:
            await super().send(number, word)
            await self._command(number, seat)

    async def _command(self, number: int, seat: Seat) -> None:
        kind = self._chance.choice((REMINDER, FACT, "undo", "program"))
        if kind == "program":
            await self.programs.ask(number)
            return
        if kind == "undo":
            mine = [word for word in self.commanded[FACT] if word.startswith(f"f{number}x") and word not in self.undone]
            self.undone.update(mine[-1:])
            await seat.says("/undo")
            return
        word = f"{kind[0]}{number}x{len(self.commanded[kind])}"
        self.commanded[kind].append(word)
        await seat.says(LINES[kind].format(word=word))

    def outcomes(self, folder: Path) -> list[Figure]:
        """Return how many commands that Parley has taken in were lost, and how many were carried out more than once.

        Slack and Discord tell the person of a slash command that nobody takes in, so those are counted apart.
        """
        made = {REMINDER: words_in(folder, "SELECT work FROM jobs", COMMAND), FACT: _facts(folder)}
        came = words_in(folder, CAME, COMMAND)
        found = []
        for kind, words in self.commanded.items():
            lost = [word for word in words if came[word] and not made[kind][word] and word not in self.undone]
            if lost:
                print(f"{kind} of which nothing came: {lost}")
            missing = sum(not came[word] for word in words)
            found += [
                Figure(f"commands for a {kind}", len(words), ""),
                Figure(f"counted apart: commands for a {kind} sent while nobody listened", missing, ""),
                Figure(f"commands for a {kind} that were lost", len(lost), "", 0),
                Figure(f"commands for a {kind} carried out twice", sum(made[kind][word] > 1 for word in words), "", 0),
            ]
        return found + self.programs.outcomes(folder)


def words_in(folder: Path, query: str, words: re.Pattern[str]) -> Counter[str]:
    """Count the words in the texts that a query of the store returns."""
    (file,) = folder.rglob("parley.db")
    with closing(sqlite3.connect(f"file:{file}?mode=ro", uri=True)) as database:
        return Counter(word for (text,) in database.execute(query) for word in words.findall(text))


def _facts(folder: Path) -> Counter[str]:
    files = (file for file in folder.rglob("*.md") if "memory" in file.parts)
    return Counter(word for file in files for word in COMMAND.findall(file.read_text("utf-8")))
