"""Random kills while users write, also between two process starts: lost, reordered, missing and repeated answers.

The sizes come from the command line: `python -m bench kills --messages 200 --kills 12 --signal term --on slack`.
"""

import asyncio
import random
import re
import sqlite3
from collections import Counter
from collections.abc import Sequence
from contextlib import closing, suppress
from dataclasses import dataclass, field
from itertools import pairwise
from pathlib import Path

from bench.bot import Bot
from bench.figures import Figure
from bench.stage import Seat, Stage, stage
from tests.emulators.model_script import Answer, ModelRequest, Turn

MODEL_S = 0.2
LONGEST_LIFE_S = 2.0
AT_THE_END_S = 120.0
EARLY = 0.25
"""Share of processes that are killed during start-up, while they resume the work of the previous one."""
LONGEST_START_S = 2.0
ALL_AT_ONCE = 0.3
"""Share of the messages that are sent while nothing is running."""
CONTINUE = "Continue"
DRAINS = "0", "20"
"""Drain seconds after SIGTERM, chosen at random for each process: it is cut off, or finishes."""
MOST_TWICE = {"slack": 0.0, "discord": 0.0}
"""Telegram has no target, as it cannot be asked whether a message arrived."""
_WORD = re.compile(r"c\d+m\d+")


@dataclass
class Sizes:
    """Number of messages, chats and kills."""

    messages: int = 1000
    chats: int = 20
    kills: int = 60
    signal: str = "kill"
    seed: int = 1


@dataclass
class _Talk:
    """Messages sent in each chat, in order."""

    said: dict[int, list[str]] = field(default_factory=dict)
    set_aside: int = 0
    """Chats whose last run ended with a Continue button, which the bench pressed."""


def answer(asked: ModelRequest) -> Answer:
    """Name the messages since the last answer."""
    new: list[str] = []
    for message in reversed(asked.messages):
        if message["role"] == "assistant":
            break
        if message["role"] == "user":
            new = _WORD.findall(str(message["content"])) + new
    return Turn(f"Heard {' '.join(new)}.", first_byte=MODEL_S)


async def figures(on: str, sizes: Sizes) -> list[Figure]:
    chance = random.Random(sizes.seed)  # noqa: S311 (a bench that can be repeated)
    async with stage(answer, on, pace=False, seats=sizes.chats) as scene:
        talk = _Talk({number: [] for number in range(sizes.chats)})
        await _live(scene, talk, sizes, chance)
        for word in _unanswered(scene, talk):
            seat = scene.seats[_chat_of(word)]
            print(
                f"{word} is not answered; what stands there last: {[each.text for each in seat.chat.bot_messages][-3:]}"
            )
        return _judged(scene, talk, MOST_TWICE.get(on))


async def _live(scene: Stage, talk: _Talk, sizes: Sizes, chance: random.Random) -> None:
    """Run one process after the other, and a last one in which everything is answered."""
    owners = ",".join(f"{scene.place.platform}:{seat.person.id}" for seat in scene.seats)
    shares = _shares(sizes)
    for number, share in enumerate(shares):
        down = round(share * ALL_AT_ONCE) if number else 0
        await _say(scene, talk, down, chance)
        environ = {"PARLEY_OWNERS": owners, "PARLEY_DRAIN_SECONDS": chance.choice(DRAINS)}
        bot = await scene.spawn(environ=environ)
        if 0 < number < len(shares) - 1 and chance.random() < EARLY:
            await _say(scene, talk, share - down, chance, within=chance.random() * LONGEST_START_S)
            await _end(bot, sizes.signal)
            continue
        await scene.listening(bot)
        await _say(scene, talk, share - down, chance, within=chance.random() * LONGEST_LIFE_S)
        if number + 1 < len(shares):
            await _end(bot, sizes.signal)
    with suppress(AssertionError):
        await scene.emulator.wait_for(lambda: _are_answered(scene, talk, but_for=_set_aside(scene)), AT_THE_END_S)
    await _go_on(scene, talk)
    await bot.stop()


def _set_aside(scene: Stage) -> list[int]:
    """Return the chats whose last run was set aside because the process died three times in the same step."""
    return [number for number, seat in enumerate(scene.seats) if seat.chat.bot_messages and _may_go_on(seat)]


def _may_go_on(seat: Seat) -> bool:
    return seat.chat.bot_messages[-1].button(CONTINUE) is not None


async def _go_on(scene: Stage, talk: _Talk) -> None:
    """Press Continue in every chat with a run that was set aside."""
    chats = _set_aside(scene)
    talk.set_aside = len(chats)
    for number in chats:
        await scene.seats[number].chat.presses(scene.seats[number].person, CONTINUE)
    with suppress(AssertionError):
        await scene.emulator.wait_for(lambda: _are_answered(scene, talk), AT_THE_END_S if chats else 0)


def _are_answered(scene: Stage, talk: _Talk, but_for: Sequence[int] = ()) -> bool:
    return all(_chat_of(word) in but_for for word in _unanswered(scene, talk))


def _chat_of(word: str) -> int:
    return int(word[1:].partition("m")[0])


def _shares(sizes: Sizes) -> list[int]:
    """Return the number of messages for each process and the time before it."""
    lives = sizes.kills + 1
    return [sizes.messages // lives + (number < sizes.messages % lives) for number in range(lives)]


async def _say(scene: Stage, talk: _Talk, count: int, chance: random.Random, within: float = 0.0) -> None:
    for _ in range(count):
        number = chance.randrange(len(scene.seats))
        said = talk.said[number]
        said.append(f"c{number}m{len(said)}")
        await scene.seats[number].says(said[-1])
        await asyncio.sleep(within / max(count, 1))


async def _end(bot: Bot, signal: str) -> None:
    if signal == "term":
        await bot.terminate()
    else:
        await bot.kill()


def _answered(scene: Stage) -> list[list[str]]:
    """Return the message names in each chat's answers, from top to bottom."""
    return [
        [word for message in seat.chat.bot_messages if "Heard" in message.text for word in _WORD.findall(message.text)]
        for seat in scene.seats
    ]


def _unanswered(scene: Stage, talk: _Talk) -> list[str]:
    return [
        word for number, words in enumerate(_answered(scene)) for word in talk.said[number] if word not in set(words)
    ]


def _judged(scene: Stage, talk: _Talk, most_twice: float | None) -> list[Figure]:
    asked = {word for request in scene.model.requests for text in request.texts("user") for word in _WORD.findall(text)}
    given_up = _unconfirmed(scene.folder)
    open_words = {word for body in given_up for word in _WORD.findall(body)}
    unanswered = [word for word in _unanswered(scene, talk) if word not in open_words]
    answers = _answered(scene)
    turned = sum(later < earlier for words in answers for earlier, later in _neighbours(words))
    counts = [count for words in answers for count in Counter(words).values()]
    total = sum(map(len, talk.said.values()))
    return [
        Figure("messages", total, ""),
        Figure("lost: never came to the model", len([word for word in unanswered if word not in asked]), "", 0),
        Figure("came to the model, and no answer stands there", len([w for w in unanswered if w in asked]), "", 0),
        Figure("answered out of order", turned, "", 0),
        Figure("answered twice", sum(count == 2 for count in counts), "", most_twice),
        Figure("answered more than twice", sum(count > 2 for count in counts), "", 0),
        Figure("counted apart: set aside after three deaths in one step, and continued", talk.set_aside, ""),
        Figure("counted apart: answers left unconfirmed, and offered", len(given_up), ""),
        Figure("messages to which those were", len(open_words), ""),
    ]


def _unconfirmed(folder: Path) -> list[str]:
    """Return the messages that Parley sent twice without confirmation and then offered instead of repeating."""
    (file,) = folder.rglob("parley.db")
    with closing(sqlite3.connect(f"file:{file}?mode=ro", uri=True)) as database:
        return [row[0] for row in database.execute("SELECT body FROM outbox WHERE unconfirmed > 0")]


def _neighbours(words: list[str]) -> list[tuple[int, int]]:
    """Return adjacent pairs of message numbers, each message counted at its first appearance."""
    numbers = [int(word.partition("m")[2]) for word in dict.fromkeys(words)]
    return list(pairwise(numbers))
