"""Random kills while a program sends events to a webhook: events that were answered and never told, and told twice.

`python -m bench hooks --on slack --messages 1000 --kills 20`. The sender repeats what was not answered, as senders do.
"""

import asyncio
import random
import re
import socket
import sqlite3
from collections import Counter
from collections.abc import Sequence
from contextlib import closing, suppress
from dataclasses import dataclass, field
from functools import partial
from pathlib import Path

from aiohttp import ClientError, ClientSession, ClientTimeout

from bench.bot import Bot
from bench.figures import Figure
from bench.kills import EARLY, LONGEST_START_S, MOST_TWICE, Sizes, shares
from bench.stage import Seat, Stage, stage
from parley.testing.emulators.slack import SlackEmulator
from tests.emulators.model_script import Answer, ModelRequest, Turn

SETTINGS = {"PARLEY_WEB": "on", "PARLEY_PLUGIN_HOOKS_A_MINUTE": "1000000", "PARLEY_PLUGIN_HOOKS_A_DAY": "1000000"}
AGAIN_S = 0.05
"""Pause before a request is repeated."""
LONGEST_LIFE_S = 1.5
AT_THE_END_S = 300.0
_TOLD = re.compile(r"event-(\d+)-end")


def answer(_: ModelRequest) -> Answer:
    """Say nothing of interest: no event asks the model."""
    return Turn("Hello.")


@dataclass
class Sender:
    """A program that sends events to webhooks in turn, each until it is answered."""

    port: int
    hooks: list[tuple[str, str]] = field(default_factory=list)
    """The path and the secret of each webhook."""
    answered: list[int] = field(default_factory=list)
    repeated: int = 0

    async def send(self, events: Sequence[int], chance: random.Random) -> None:
        """Send events, spread at random over the longest life of a process."""
        async with ClientSession(timeout=ClientTimeout(total=5)) as client:
            after = [chance.random() * LONGEST_LIFE_S for _ in events]
            await asyncio.gather(*map(partial(self._until_answered, client), events, after))

    async def _until_answered(self, client: ClientSession, number: int, after: float) -> None:
        await asyncio.sleep(after)
        path, secret = self.hooks[number % len(self.hooks)]
        headers = {"Authorization": f"Bearer {secret}", "Idempotency-Key": f"event {number}"}
        while True:
            with suppress(ClientError, TimeoutError):
                url = f"http://127.0.0.1:{self.port}{path}"
                async with client.post(url, json={"number": number}, headers=headers) as answer:
                    if answer.status == 200:
                        self.answered.append(number)
                        return
            self.repeated += 1
            await asyncio.sleep(AGAIN_S)


async def figures(on: str, sizes: Sizes) -> list[Figure]:
    chance = random.Random(sizes.seed)  # noqa: S311 (a bench that can be repeated)
    async with stage(answer, on, pace=False, seats=sizes.chats) as scene:
        sender = Sender(_free_port())
        await _live(scene, sender, sizes, chance)
        left = _left(scene.folder)
        texts = [message.text for seat in scene.seats for message in seat.chat.bot_messages]
    told = Counter(int(each) for text in texts for each in _TOLD.findall(text))
    lost = set(sender.answered) - told.keys()
    twice = sum(count > 1 for count in told.values())
    return [
        Figure("events answered", len(sender.answered), f"of {sizes.messages}", sizes.messages, at_least=True),
        Figure("requests repeated", sender.repeated, ""),
        Figure("still to be told in the end", left, ""),
        Figure("answered, and neither told nor to be told", len(lost) - left, "", 0),
        Figure("told twice", twice, "", MOST_TWICE.get(on)),
    ]


async def _live(scene: Stage, sender: Sender, sizes: Sizes, chance: random.Random) -> None:
    """Run one process after the other, and a last one in which everything is told."""
    owners = ",".join(f"{scene.place.platform}:{seat.person.id}" for seat in scene.seats)
    settings = {**SETTINGS, "PARLEY_OWNERS": owners, "PARLEY_WEB_PORT": str(sender.port)}
    bot = await scene.spawn(environ=settings)
    await scene.listening(bot)
    slash = "!" if isinstance(scene.emulator, SlackEmulator) else "/"
    sender.hooks = [await _added(seat, slash) for seat in scene.seats]
    sent = 0
    for share in shares(sizes.messages, sizes.kills + 1):
        sending = asyncio.create_task(sender.send(range(sent, sent + share), chance))
        sent += share
        if sent < sizes.messages:
            await asyncio.sleep(chance.random() * LONGEST_LIFE_S)
            await bot.kill()
            bot = await _next(scene, settings, chance)
        await sending
    for seat, share in zip(scene.seats, shares(sizes.messages, len(scene.seats)), strict=True):
        with suppress(AssertionError):
            await seat.answered("-end", share, AT_THE_END_S)
    await bot.stop()


async def _next(scene: Stage, settings: dict[str, str], chance: random.Random) -> Bot:
    """Start the next process; some are killed while they start, before another one."""
    bot = await scene.spawn(environ=settings)
    if chance.random() < EARLY:
        await asyncio.sleep(chance.random() * LONGEST_START_S)
        await bot.kill()
        bot = await scene.spawn(environ=settings)
    await scene.listening(bot)
    return bot


async def _added(seat: Seat, slash: str) -> tuple[str, str]:
    """Set a webhook and what it tells. Return its path and secret."""
    await seat.says(f"{slash}hook add bench")
    await seat.answered("/hooks/", 1, AT_THE_END_S)
    shown = " ".join(message.text for message in seat.chat.bot_messages)
    path, secret = re.search(r"(/hooks/[0-9a-f]{32})", shown), re.search(r"only now:\W*([0-9a-f]{48})", shown)
    assert path, shown
    assert secret, shown
    await seat.says(f"{slash}hook post bench event-{{{{number}}}}-end")
    await seat.answered("From now on", 1, AT_THE_END_S)
    return path[1], secret[1]


def _left(folder: Path) -> int:
    """Return the number of events that are stored and not told yet."""
    (file,) = folder.rglob("parley.db")
    with closing(sqlite3.connect(f"file:{file}?mode=ro", uri=True)) as database:
        [(owed,)] = database.execute("SELECT count(*) FROM owed WHERE kind = 'hook_event'")
        query = "SELECT state, count(*) FROM outbox WHERE key LIKE 'hook-event%' GROUP BY state"
        states: dict[str, int] = dict(database.execute(query).fetchall())
    return int(owed) + sum(count for state, count in states.items() if state in ("pending", "sending"))


def _free_port() -> int:
    with socket.socket() as found:
        found.bind(("127.0.0.1", 0))
        return int(found.getsockname()[1])
