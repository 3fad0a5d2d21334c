"""One message at a time: response time without the model's own, time to the first visible sign, and CPU time."""

import asyncio

from bench.bot import Bot
from bench.figures import Figure, median, p95
from bench.place import PLACES
from bench.stage import Stage, stage
from tests.emulators.model_script import Answer, ModelRequest, Turn, calls

SEATS = 20
"""Private chats used in turn, so that no rate limit per chat or per user applies."""
ROUNDS = 3
"""Messages in each chat; a burst may have as many."""
SIGNS = 4
"""Further chats for measuring the first sign; few, as Slack limits reactions per minute."""
THOUGHT_S = 0.2
"""Seconds that the model takes there, as an immediate answer needs no sign before it."""
PAUSE = 0.03
"""Pause in seconds after each message, as work after an answer costs CPU as well."""
ANSWER = "The answer is forty-two, as has been said before by people who had more time to think about it than we do."


def respond(asked: ModelRequest) -> Answer:
    """Call a tool first if the message asks for one."""
    if asked.messages[-1]["role"] == "user" and "tool" in asked.last_text:
        return calls("clock")
    return Turn(ANSWER, first_byte=THOUGHT_S if "think" in asked.last_text else 0.0)


class Run:
    """Measurements of one bot in milliseconds."""

    def __init__(self, scene: Stage, bot: Bot) -> None:
        self._scene = scene
        self._bot = bot
        self._cpu = 0.0
        self._written = 0
        self.added: list[float] = []
        """Response times without the model's own time."""
        self.sign: list[float] = []
        """Times to the first visible sign."""
        self.cpu = 0.0
        """CPU time per message."""
        self.written = 0.0
        """Kilobytes written per message, to files and sockets."""

    def begin(self) -> None:
        self.added, self._cpu, self._written = [], self._bot.cpu, self._bot.written

    def end(self) -> None:
        self.cpu = 1000 * (self._bot.cpu - self._cpu) / len(self.added)
        self.written = (self._bot.written - self._written) / 1000 / len(self.added)

    async def ask(self, number: int, words: str, count: int) -> None:
        """Send the `count`-th message in this chat and wait for the answer."""
        seat, model = self._scene.seats[number], self._scene.model
        busy = model.busy
        said = await seat.says(words)
        await seat.answered(ANSWER, count, 20)
        self.added.append(1000 * (seat.answers(ANSWER)[-1] - said - (model.busy - busy)))
        await asyncio.sleep(PAUSE)

    async def watch(self, number: int) -> None:
        """Send the second message in this chat and measure the first sign before its answer."""
        seat = self._scene.seats[number]
        said = await seat.says("think first")
        await seat.answered(ANSWER, 2, 20)
        self.sign.append(1000 * (seat.signs(said)[0] - said))


async def figures(on: str) -> list[Figure]:
    text, bare_text = await _both(on, "hello")
    tool, bare_tool = await _both(on, "use a tool")
    return [
        Figure("text: added latency, median", median(text.added), "ms", 12, median(bare_text.added)),
        Figure("text: added latency, p95", p95(text.added), "ms", None, p95(bare_text.added)),
        Figure("text: CPU a message", text.cpu, "ms", 8, bare_text.cpu),
        Figure("text: written a message", text.written, "kB", 160, bare_text.written),
        Figure("text: first visible sign, median", median(text.sign), "ms", 10, median(bare_text.sign)),
        Figure("one tool: added latency, median", median(tool.added), "ms", 20, median(bare_tool.added)),
        Figure("one tool: added latency, p95", p95(tool.added), "ms", None, p95(bare_tool.added)),
        Figure("one tool: CPU a message", tool.cpu, "ms", None, bare_tool.cpu),
    ]


async def _both(on: str, words: str) -> tuple[Run, Run]:
    """Measure both bots, alternating messages so that they meet the same load on the machine."""
    async with (
        stage(respond, on, pace=False, seats=SEATS + SIGNS) as scene,
        scene.bot(environ=PLACES[on].hurried) as ours,
        stage(respond, on, pace=False, seats=SEATS + SIGNS) as other,
        other.bot(PLACES[on].bare) as bare,
    ):
        runs = (Run(scene, ours), Run(other, bare))
        for number in range(SEATS, SEATS + SIGNS):  # opens connections and loads late imports
            for run in runs:
                await run.ask(number, words, 1)
                await run.watch(number)
        for run in runs:
            run.begin()
        for count in range(1, ROUNDS + 1):
            for number in range(SEATS):
                for run in runs:
                    await run.ask(number, words, count)
        for run in runs:
            run.end()
        return runs
