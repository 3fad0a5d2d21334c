"""Time until Parley listens, and its memory while idle."""

import asyncio
import filecmp
import time
from collections.abc import Mapping, Sequence
from pathlib import Path

from bench.bot import PARLEY
from bench.figures import Figure, median
from bench.place import PLACES, confirmed
from bench.stage import stage
from tests.emulators.model_script import Answer, ModelRequest, says
from tests.process import REPOSITORY

TIMES = 3
SETTLE_S = 1.5
PAGE = {"PARLEY_WEB": "on", "PARLEY_WEB_PORT": "0"}
RUN = (str(REPOSITORY / "run"),)


def respond(asked: ModelRequest) -> Answer:
    return says("Good morning.")


async def figures(on: str) -> list[Figure]:
    spans, sizes = await _measure(on, PARLEY, {})
    bare_spans, bare_sizes = await _measure(on, PLACES[on].bare, {})
    page_spans, page_sizes = await _measure(on, PARLEY, PAGE)
    listens = f"start to {PLACES[on].listens}"
    found = [
        Figure(listens, median(spans), "s", 0.8, median(bare_spans)),
        Figure("idle memory", median(sizes), "MB", 90, median(bare_sizes)),
        Figure(f"{listens}, with the page", median(page_spans), "s", 0.8, median(bare_spans)),
        Figure("idle memory, with the page", median(page_sizes), "MB", 90, median(bare_sizes)),
    ]
    if PLACES[on].keeps and _is_prepared():
        found.append(Figure("later ./run to first accepted message", await _later_run(on), "s", 2))
    return found


async def _measure(on: str, command: Sequence[str], environ: Mapping[str, str]) -> tuple[list[float], list[float]]:
    """Return the seconds until it listens, and its memory in MB."""
    spans, sizes = [], []
    async with stage(respond, on) as scene:
        for _ in range(TIMES):
            async with scene.bot(command, environ) as bot:
                spans.append(bot.listened - bot.started)
                await asyncio.sleep(SETTLE_S)
                sizes.append(bot.rss)
    return spans, sizes


async def _later_run(on: str) -> float:
    """Return the seconds until a message sent before the start is confirmed, which is after it was stored."""
    spans = []
    async with stage(respond, on, seats=TIMES) as scene:
        for seat in scene.seats:
            await seat.says("hello")
            async with scene.bot(RUN) as bot:
                await confirmed(scene.emulator)
                spans.append(time.monotonic() - bot.started)
    return median(spans)


def _is_prepared() -> bool:
    """Return True if `./run` has its environment; building one would be a different figure."""
    locks = [Path("requirements.lock"), Path("requirements-dev.lock")]
    pairs = [(REPOSITORY / lock, REPOSITORY / ".venv" / lock) for lock in locks]
    return any(copy.exists() and filecmp.cmp(lock, copy, shallow=False) for lock, copy in pairs)
