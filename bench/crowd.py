"""Many concurrent chats with a model that takes a second: time until the last answer, and lost messages."""

import asyncio
from collections.abc import Sequence
from dataclasses import dataclass

from bench.bot import PARLEY
from bench.figures import Figure
from bench.place import PLACES
from bench.stage import stage
from tests.emulators.model_script import Answer, ModelRequest, Turn

MODEL_S = 1.0
WITHIN = 90.0
ANSWER = "Here is the answer that you were waiting for."


def respond(asked: ModelRequest) -> Answer:
    return Turn(ANSWER, first_byte=MODEL_S)


@dataclass(frozen=True)
class Crowd:
    """Response times in seconds, counted from the moment when all users wrote."""

    fastest: float
    slowest: float
    lost: int
    doubled: int
    refused: int
    """Calls that the platform refused, if its limits are on."""


async def figures(on: str) -> list[Figure]:
    found = []
    for size, most in ((100, 1.5), (1000, 5.0)):
        bare, ours = await _measure(on, size, PLACES[on].bare), await _measure(on, size, PARLEY)
        found += [
            Figure(f"{size} chats: the last answer", ours.slowest, "s", most, bare.slowest),
            Figure(f"{size} chats: the first answer", ours.fastest, "s", None, bare.fastest),
            Figure(f"{size} chats: lost or doubled", ours.lost + ours.doubled, "", 0, bare.lost + bare.doubled),
            Figure(f"{size} chats: refused calls", ours.refused, "", 0, bare.refused),
        ]
    return found


async def _measure(on: str, size: int, command: Sequence[str]) -> Crowd:
    async with (
        stage(respond, on, pace=not PLACES[on].hurries, seats=size + 1) as scene,
        scene.bot(command, environ=PLACES[on].hurried),
    ):
        *seats, first = scene.seats
        await first.says("hello")  # opens connections and loads late imports
        await first.answered(ANSWER, 1, 20)
        begun = [await seat.says("hello") for seat in seats]
        await asyncio.gather(*(seat.answered(ANSWER, 1, WITHIN) for seat in seats), return_exceptions=True)
        answers = [seat.answers(ANSWER) for seat in seats]
        waits = [found[0] - begun[0] for found in answers if found]
        lost = sum(not found for found in answers)
        doubled = sum(len(found) > 1 for found in answers)
        return Crowd(min(waits), max(waits), lost, doubled, len(scene.refused()))
