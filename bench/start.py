"""How long until Parley listens, and what it weighs while nothing happens."""

import asyncio
import filecmp
from collections.abc import Mapping, Sequence
from pathlib import Path

from bench.figures import Figure, median
from bench.stage import BARE, PARLEY, stage
from tests.emulators.model_script import Answer, ModelRequest, says
from tests.process import REPOSITORY

TIMES = 3
SETTLE_S = 1.5
PAGE = {"PARLEY_WEB": "on", "PARLEY_WEB_PORT": "0"}


def respond(asked: ModelRequest) -> Answer:
    return says("Good morning.")


async def figures() -> list[Figure]:
    polls, sizes = await _measure(PARLEY, {})
    bare_polls, bare_sizes = await _measure(BARE, {})
    page_polls, page_sizes = await _measure(PARLEY, PAGE)
    found = [
        Figure("start to first poll", median(polls), "s", 0.8, median(bare_polls)),
        Figure("idle memory", median(sizes), "MB", 90, median(bare_sizes)),
        Figure("start to first poll, with the page", median(page_polls), "s", 0.8, median(bare_polls)),
        Figure("idle memory, with the page", median(page_sizes), "MB", 90, median(bare_sizes)),
    ]
    if _is_prepared():
        found.append(Figure("later ./run to first accepted message", await _later_run(), "s", 2))
    return found


async def _measure(command: Sequence[str], environ: Mapping[str, str]) -> tuple[list[float], list[float]]:
    """Seconds to the first poll, and MB."""
    polls, sizes = [], []
    async with stage(respond) as scene:
        for _ in range(TIMES):
            async with scene.bot(command, environ=environ) as bot:
                poll = await scene.first_call("getUpdates", bot.started)
                polls.append(poll.at - bot.started)
                await asyncio.sleep(SETTLE_S)
                sizes.append(bot.rss)
    return polls, sizes


async def _later_run() -> float:
    """Seconds until what was said before the start is confirmed to Telegram, which is after it is on disk."""
    spans = []
    async with stage(respond, seats=TIMES) as scene:
        for seat in scene.seats:
            await seat.says("hello")
            async with scene.bot(("run",), program=str(REPOSITORY / "run")) as bot:
                await scene.telegram.wait_for(lambda: scene.telegram.updates.unconfirmed == 0, 20)
                polls = [call for call in scene.telegram.calls_of("getUpdates") if call.at >= bot.started]
                confirmed = next(call for call in polls if str(call.params.get("offset", "0")) not in ("0", ""))
                spans.append(confirmed.at - bot.started)
    return median(spans)


def _is_prepared() -> bool:
    """Whether `./run` has its environment; otherwise it would build one, which is another figure."""
    locks = [Path("requirements.lock"), Path("requirements-dev.lock")]
    pairs = [(REPOSITORY / lock, REPOSITORY / ".venv" / lock) for lock in locks]
    return any(copy.exists() and filecmp.cmp(lock, copy, shallow=False) for lock, copy in pairs)
