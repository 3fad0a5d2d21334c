"""Connections closed by the platform while users write: lost, repeated and reordered answers."""

import asyncio
import re
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import suppress
from dataclasses import dataclass
from itertools import pairwise

from bench.bot import PARLEY
from bench.figures import Figure
from bench.place import PLACES
from bench.stage import Seat, Stage, stage
from parley.testing.emulators.discord import DiscordEmulator
from parley.testing.emulators.slack import SlackEmulator
from tests.emulators.model_script import Answer, ModelRequest, says, text_of

CHATS = 40
"""Enough that no rate limit per chat or per user applies."""
MESSAGES = 200
RATE = 20
"""Messages per second."""
OPENING_S = 0.3
"""Seconds that opening a socket takes; on loopback it would take none."""
WITHIN = 15.0
"""Seconds after the last message; Slack repeats an event after three."""
SETTLE_S = 3.0
"""Seconds after which a bot with several sockets has opened them."""
QUIET_S = 1.0
"""Seconds within which a repeated answer would appear."""
ANSWER = "Heard"
NUMBER = re.compile(r"#(\d+)")

Disturb = Callable[[Stage], None]


@dataclass(frozen=True)
class Outcome:
    lost: int
    doubled: int
    disordered: int
    """Answers that came after the answer to a later message of the same chat."""
    slowest: float
    """Longest time in seconds from a message to its answer."""


async def figures(on: str) -> list[Figure]:
    found = []
    for name, disturb, every in DISTURBANCES[on]:
        ours, bare = await asyncio.gather(
            _measure(on, PARLEY, disturb, every), _measure(on, PLACES[on].bare, disturb, every)
        )
        found += [
            Figure(f"{name}: lost of {MESSAGES} messages", ours.lost, "", 0, bare.lost),
            Figure(f"{name}: answered twice", ours.doubled, "", 0, bare.doubled),
            Figure(f"{name}: out of order", ours.disordered, "", 0, bare.disordered),
            Figure(f"{name}: the slowest answer", ours.slowest, "s", None, None if bare.lost else bare.slowest),
        ]
    return found


def _refresh_one(scene: Stage) -> None:
    """Ask the client to give up its oldest socket."""
    assert isinstance(scene.emulator, SlackEmulator)
    scene.emulator.refresh(count=1)


def _refresh_all(scene: Stage) -> None:
    assert isinstance(scene.emulator, SlackEmulator)
    scene.emulator.refresh()


def _reconnect(scene: Stage) -> None:
    """Ask the client to reconnect; it may resume."""
    assert isinstance(scene.emulator, DiscordEmulator)
    scene.emulator.reconnect()


def _refuse(scene: Stage) -> None:
    """Ask the client to reconnect and reject its resume, so that messages in between are not delivered."""
    assert isinstance(scene.emulator, DiscordEmulator)
    scene.emulator.forget_sessions()
    scene.emulator.reconnect()


DISTURBANCES: dict[str, Sequence[tuple[str, Disturb, float]]] = {
    "slack": (
        ("a socket refreshed each second", _refresh_one, 1.0),
        ("all sockets refreshed every 3 s", _refresh_all, 3.0),
    ),
    "discord": (
        ("a resume each second", _reconnect, 1.0),
        ("refused resumes", _refuse, 3.0),
    ),
}
"""Name, disturbance and interval in seconds, by platform. discord.py waits five seconds before a new session."""


def respond(asked: ModelRequest) -> Answer:
    """Repeat the numbers of all messages without an answer."""
    numbers = [number for words in list(_unanswered(asked))[::-1] for number in NUMBER.findall(words)]
    return says(f"{ANSWER} " + " ".join(f"#{number}" for number in numbers))


def _unanswered(asked: ModelRequest) -> Iterator[str]:
    """Yield the user messages after the last answer, newest first."""
    for message in asked.messages[::-1]:
        if message["role"] == "assistant":
            return
        if message["role"] == "user":
            yield text_of(message)


async def _measure(on: str, command: Sequence[str], disturb: Disturb, every: float) -> Outcome:
    async with stage(respond, on, pace=False, seats=CHATS) as scene, scene.bot(command, PLACES[on].hurried):
        for seat in scene.seats:
            await seat.says("hello")
        await asyncio.gather(*(seat.answered(ANSWER, 1, 20) for seat in scene.seats))
        await asyncio.sleep(SETTLE_S)
        scene.emulator.faults.delay(scene.place.opening, seconds=OPENING_S)
        disturbing = asyncio.create_task(_disturb(scene, disturb, every))
        said = await _talk(scene)
        disturbing.cancel()
        with suppress(AssertionError):
            await scene.emulator.wait_for(lambda: sum(len({*_heard(seat)}) for seat in scene.seats) >= MESSAGES, WITHIN)
        await asyncio.sleep(QUIET_S)
        return _judge(scene, said)


async def _disturb(scene: Stage, disturb: Disturb, every: float) -> None:
    while True:
        await asyncio.sleep(every)
        disturb(scene)


async def _talk(scene: Stage) -> list[float]:
    """Send the messages, with the chats in turn, and return the time of each."""
    began, said = time.monotonic(), []
    for number in range(MESSAGES):
        await asyncio.sleep(began + number / RATE - time.monotonic())
        said.append(await scene.seats[number % CHATS].says(f"this is #{number}"))
    return said


def _judge(scene: Stage, said: Sequence[float]) -> Outcome:
    heard = [number for seat in scene.seats for number in _heard(seat)]
    pairs = (pair for seat in scene.seats for pair in pairwise(_heard(seat)))
    waits = [
        message.at - said[int(number)]
        for seat in scene.seats
        for message in seat.chat.bot_messages
        for number in NUMBER.findall(message.text)
    ]
    return Outcome(
        lost=MESSAGES - len({*heard}),
        doubled=len(heard) - len({*heard}),
        disordered=sum(later < earlier for earlier, later in pairs),
        slowest=max(waits, default=0.0),
    )


def _heard(seat: Seat) -> list[int]:
    """Return the numbers of the answered messages in the order of the answers."""
    return [int(number) for message in seat.chat.bot_messages for number in NUMBER.findall(message.text)]
