"""A thousand concurrent chats within the platform's limits: response times, and what is left on the screens."""

import asyncio
import time
from collections.abc import Sequence
from dataclasses import dataclass

from bench.bot import Bot
from bench.crowd import ANSWER
from bench.figures import Figure, median, p95
from bench.stage import Stage, stage
from tests.emulators.model_script import Answer, ModelRequest, Turn
from tests.end_to_end.platforms.platform import Message

SIZE = 1_000
WITHIN = 120.0
LATER = 30.0
"""Seconds after the last answer at which the screens are checked."""
MOST = {"slack": 8.0, "discord": 25.0}
"""Limit for the last answer in seconds; Telegram lets a bot send 30 messages per second."""
QUICK, SLOW = "hello", "take your time"
MODEL_S = {QUICK: 1.0, SLOW: 12.0}
"""A progress message appears before the slow answer, and is by then too old to become the answer itself."""


@dataclass(frozen=True)
class Burst:
    waits: Sequence[float]
    """Seconds until each answer."""
    cpu: float
    own_cpu: float
    """CPU time of this process: the platform, the model and the users."""
    lost: int
    doubled: int
    progress: int
    """Progress messages that were posted."""
    stray: int
    """Progress messages that still claim to be working although the answer was sent."""
    overdue: float
    """Longest time in seconds for which such a message stood beside its answer."""


async def figures(on: str) -> list[Figure]:
    async with stage(_respond, on, seats=SIZE + 1) as scene, scene.bot() as bot:
        *_, first = scene.seats
        await first.says(QUICK)  # opens connections and loads late imports
        await first.answered(ANSWER, 1, 20)
        return [
            *_printed(f"{SIZE} chats", await _measure(scene, bot, QUICK), MOST.get(on)),
            *_printed(f"a model that takes {MODEL_S[SLOW]:g} s", await _measure(scene, bot, SLOW), None),
            Figure("refused calls", len(scene.refused()), ""),
            Figure("calls while told to wait", scene.emulator.calls_in_window, "", 0),
        ]


def _printed(title: str, seen: Burst, most: float | None) -> list[Figure]:
    return [
        Figure(f"{title}: an answer, median", median(seen.waits), "s"),
        Figure("an answer, p95", p95(seen.waits), "s"),
        Figure("the last answer", max(seen.waits), "s", most),
        Figure("CPU that Parley took", seen.cpu, "s"),
        Figure("CPU that the emulators took, beside it", seen.own_cpu, "s"),
        Figure("lost", seen.lost, "", 0),
        Figure("doubled", seen.doubled, "", 0),
        Figure("progress messages that were posted", seen.progress, ""),
        Figure("one of them still at work beside its answer, at most", seen.overdue, "s"),
        Figure(f"of them still at work {LATER:g} s after the last answer", seen.stray, "", 0),
    ]


def _respond(asked: ModelRequest) -> Answer:
    return Turn(ANSWER, first_byte=MODEL_S[SLOW if SLOW in asked.last_text else QUICK])


async def _measure(scene: Stage, bot: Bot, words: str) -> Burst:
    seats = scene.seats[:SIZE]
    before, own_before = bot.cpu, time.process_time()
    stood = [len(seat.chat.bot_messages) for seat in seats]
    answered = [len(seat.answers(ANSWER)) for seat in seats]
    begun = [await seat.says(words) for seat in seats]
    waiting = (seat.answered(ANSWER, count + 1, WITHIN) for seat, count in zip(seats, answered, strict=True))
    await asyncio.gather(*waiting, return_exceptions=True)
    cpu, own_cpu = bot.cpu - before, time.process_time() - own_before
    await asyncio.sleep(LATER)
    answers = [seat.answers(ANSWER)[count:] for seat, count in zip(seats, answered, strict=True)]
    new = [list(seat.chat.bot_messages)[count:] for seat, count in zip(seats, stood, strict=True)]
    return Burst(
        waits=[found[0] - at for found, at in zip(answers, begun, strict=True) if found] or [WITHIN],
        cpu=cpu,
        own_cpu=own_cpu,
        lost=sum(not found for found in answers),
        doubled=sum(len(found) > 1 for found in answers),
        progress=sum(_is_progress(message) for messages in new for message in messages),
        stray=sum(_is_at_work(message) for messages in new for message in messages),
        overdue=max(map(_overdue, new), default=0.0),
    )


def _is_progress(message: Message) -> bool:
    return ANSWER not in message.history[0]


def _is_at_work(message: Message) -> bool:
    return message.button("Stop") is not None or "…" in message.text


def _overdue(messages: Sequence[Message]) -> float:
    """Return the seconds from the answer to the last edit of a chat's progress message."""
    last = [message.edits[-1].at for message in messages if _is_progress(message) and message.edits]
    answers = [message.at for message in messages if not _is_progress(message)]
    return max(0.0, last[0] - answers[0]) if last and answers else 0.0
