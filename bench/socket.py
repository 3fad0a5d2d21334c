"""A platform takes its socket away while people talk: is a message lost, answered twice, or out of order."""

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
from tests.emulators.discord import DiscordEmulator
from tests.emulators.model_script import Answer, ModelRequest, says, text_of
from tests.emulators.slack import SlackEmulator

CHATS = 40
"""So many that neither the pace of a chat nor Parley's per person slows anything down."""
MESSAGES = 200
RATE = 20
"""Messages a second."""
OPENING_S = 0.3
"""How long it takes to open a socket, which loopback does in no time."""
WITHIN = 15.0
"""Seconds after the last message: Slack sends an event again after three."""
SETTLE_S = 3.0
"""By then a bot that keeps several sockets has them."""
QUIET_S = 1.0
"""What would come twice comes by then."""
ANSWER = "Heard"
NUMBER = re.compile(r"#(\d+)")

Disturb = Callable[[Stage], None]


@dataclass(frozen=True)
class Outcome:
    lost: int
    doubled: int
    disordered: int
    """Answers that came after that to a later message of the same chat."""
    slowest: float
    """Seconds from a message to its answer, at most."""


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
    """The oldest socket is told to go."""
    assert isinstance(scene.emulator, SlackEmulator)
    scene.emulator.refresh(count=1)


def _refresh_all(scene: Stage) -> None:
    assert isinstance(scene.emulator, SlackEmulator)
    scene.emulator.refresh()


def _reconnect(scene: Stage) -> None:
    """The client is told to connect anew, and may resume."""
    assert isinstance(scene.emulator, DiscordEmulator)
    scene.emulator.reconnect()


def _refuse(scene: Stage) -> None:
    """The same, but when it tries to resume it is told to begin anew: what was said meanwhile is not delivered."""
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
"""By platform; the name, what happens, and how often (seconds). discord.py takes five seconds to begin anew."""


def respond(asked: ModelRequest) -> Answer:
    """Repeat the numbers of the messages that have no answer yet."""
    numbers = [number for words in list(_unanswered(asked))[::-1] for number in NUMBER.findall(words)]
    return says(f"{ANSWER} " + " ".join(f"#{number}" for number in numbers))


def _unanswered(asked: ModelRequest) -> Iterator[str]:
    """The words of people after the last answer, newest first."""
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
    """When each message was said; the chats take turns."""
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
    """The numbers of the messages that were answered here, in the order of the answers."""
    return [int(number) for message in seat.chat.bot_messages for number in NUMBER.findall(message.text)]
