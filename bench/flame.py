"""Draws bench/hello.svg, the flame graph of a "hello" on the emulated Telegram: `python -m bench flame`.

The width of a function is its CPU time over many messages in a warm chat, with that of what it calls, which is on top.
"""

import asyncio
import json
import os
import signal
import sys
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from xml.sax.saxutils import escape

from bench.modules import REPOSITORY
from bench.stage import stage
from bench.traced import Stack
from tests.emulators.model_script import Answer, ModelRequest, says

PICTURE = REPOSITORY / "bench" / "hello.svg"
ANSWER = "Hello, and what can I do for you?"
WARM_UP, MESSAGES = 3, 100
WITHIN = 20.0
QUIET_S = 0.1
"""Seconds after an answer in which the work on a message ends."""
TRACED = (sys.executable, "-P", "-m", "bench.traced")

WIDTH, ROW, MARGIN = 1200, 18, 10
NARROWEST = 2.0
"""Pixels below which a function is not drawn."""
LETTER = 6.7
"""Pixels."""
COLOURS = {"gateway/plugins/": "#c8b6ff", "gateway/": "#ffc97f", "agent_core/": "#9fd8a4", "channels/": "#9cc9f5"}
LIBRARIES = "#dddddd"
STYLE = "text { font: 11px ui-monospace, monospace; } rect { stroke: white; stroke-width: 0.5; }"


@dataclass
class Box:
    """A function within those that have called it."""

    spent: int = 0
    """Nanoseconds, with those of the functions that it called."""
    called: dict[str, "Box"] = field(default_factory=dict)

    def add(self, stack: Stack, spent: int) -> None:
        self.spent += spent
        if stack:
            self.called.setdefault(stack[0], Box()).add(stack[1:], spent)

    def rows(self, least: float) -> int:
        """Return the height of what takes at least so many nanoseconds, in rows."""
        return 1 + max((each.rows(least) for each in self.called.values() if each.spent >= least), default=0)


async def hellos() -> Mapping[Stack, int]:
    """Send messages one after another in a warm chat. Return the nanoseconds of each stack."""
    async with stage(_answer, "telegram", pace=False, seats=1) as scene:
        file, (seat,) = scene.folder / "traced.json", scene.seats
        async with scene.bot((*TRACED, str(file))) as bot:
            for count in range(1, WARM_UP + MESSAGES + 1):
                if count == WARM_UP + 1:
                    os.kill(bot.pid, signal.SIGUSR1)
                await seat.says("hello")
                await seat.answered(ANSWER, count, WITHIN)
                await asyncio.sleep(QUIET_S)
            os.kill(bot.pid, signal.SIGUSR2)
            async with asyncio.timeout(WITHIN):
                while not file.exists():  # noqa: ASYNC110 - another process writes it
                    await asyncio.sleep(0.05)
            return {tuple(stack): spent for stack, spent in json.loads(file.read_text("utf-8"))}


async def _answer(_: ModelRequest) -> Answer:
    return says(ANSWER)


def of_plugins(spent: Mapping[Stack, int]) -> Mapping[str, int]:
    """Return the nanoseconds of each plugin that was called."""
    found: dict[str, int] = {}
    for stack, each in spent.items():
        for plugin in {name.split("/")[2] for name in stack if name.startswith("gateway/plugins/")}:
            found[plugin] = found.get(plugin, 0) + each
    return found


def draw(spent: Mapping[Stack, int], messages: int) -> str:
    """Return the picture."""
    whole = Box()
    for stack, each in spent.items():
        whole.add(stack, each)
    scale = (WIDTH - 2 * MARGIN) / whole.spent
    height = whole.rows(NARROWEST / scale) * ROW + 2 * MARGIN
    title = f"a hello: {whole.spent / messages / 1e6:.1f} ms of CPU, slowed down by the tracer"
    boxes = "\n".join(_boxes(title, whole, MARGIN, height - MARGIN - ROW, scale))
    return (
        f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {WIDTH} {height}" width="{WIDTH}" height="{height}">\n'
        f'<style>{STYLE}</style>\n<rect width="100%" height="100%" fill="white"/>\n{boxes}\n</svg>\n'
    )


def _boxes(name: str, box: Box, x: float, y: int, scale: float) -> Iterator[str]:
    width = box.spent * scale
    if width < NARROWEST:
        return
    colour = next((colour for folder, colour in COLOURS.items() if name.startswith(folder)), LIBRARIES)
    words = f'<text x="{x + 3:.1f}" y="{y + 13}">{escape(_fitting(name, width))}</text>'
    hint = f"<title>{escape(name)}: {100 * width / (WIDTH - 2 * MARGIN):.1f} %</title>"
    yield f'<g>{hint}<rect x="{x:.1f}" y="{y}" width="{width:.1f}" height="{ROW}" fill="{colour}"/>{words}</g>'
    for called, each in sorted(box.called.items(), key=lambda item: -item[1].spent):
        yield from _boxes(called, each, x, y - ROW, scale)
        x += each.spent * scale


def _fitting(name: str, width: float) -> str:
    """Return what fits of a name: all of it, the function alone, or the beginning of that."""
    letters = int((width - 6) / LETTER)
    if len(name) <= letters:
        return name
    function = name.rpartition(": ")[2]
    return function if len(function) <= letters else function[: max(letters - 1, 0)] + "…" * (letters > 2)


def main() -> None:
    spent = asyncio.run(hellos())
    PICTURE.write_text(draw(spent, MESSAGES), "utf-8")
    whole = sum(spent.values())
    for plugin, each in sorted(of_plugins(spent).items(), key=lambda item: -item[1]):
        print(f"plugin {plugin}: {100 * each / whole:.2f} %")
