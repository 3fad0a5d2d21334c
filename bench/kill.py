"""kill -9 during four runs: chats that get an answer after the restart, that get two, and the time it takes."""

from collections.abc import Sequence
from contextlib import suppress

from bench.bot import PARLEY
from bench.figures import Figure
from bench.place import PLACES, confirmed
from bench.stage import Stage, stage
from tests.emulators.model_script import Answer, ModelRequest, Turn, calls

CHATS = 4
GIVE_UP_S = 8.0
LONG = 60.0
ANSWER = "Here is your answer."


class Script:
    """Model that does not finish its answer before the kill and answers at once afterwards."""

    def __init__(self) -> None:
        self.slow = True

    def __call__(self, asked: ModelRequest) -> Answer:
        if asked.messages[-1]["role"] == "user" and "tool" in asked.last_text:
            return calls("clock")
        return Turn(ANSWER, first_byte=LONG if self.slow else 0.0)


async def figures(on: str) -> list[Figure]:
    first, answered, doubled = await _measure(on, PARLEY)
    _, bare_answered, bare_doubled = await _measure(on, PLACES[on].bare)
    return [
        Figure("open messages answered after kill -9", answered, f"of {CHATS}", CHATS, bare_answered, at_least=True),
        Figure("answered twice", doubled, "", 0, bare_doubled),
        Figure("start to the first of those answers", first, "s", 1.5),
    ]


async def _measure(on: str, command: Sequence[str]) -> tuple[float, int, int]:
    """Return seconds from the second start to its first answer, chats answered, and chats answered more than once."""
    script = Script()
    async with stage(script, on, seats=CHATS) as scene:
        async with scene.bot(command) as bot:
            for number, seat in enumerate(scene.seats):
                await seat.says("use a tool" if number % 2 else "hello")
            await scene.model.wait_for(lambda: scene.model.open_requests == CHATS and _tools_done(scene), 20)
            # The messages are confirmed to the platform now, so only the bot's store still knows of them.
            await confirmed(scene.emulator)
            await bot.kill()
        script.slow = False
        assert scene.answers(ANSWER) == [], "the first life was to say nothing"
        async with scene.bot(command) as again:
            with suppress(AssertionError):
                await scene.emulator.wait_for(lambda: len(scene.answers(ANSWER)) >= CHATS, GIVE_UP_S)
            await confirmed(scene.emulator)
        times = sorted(scene.answers(ANSWER))
        first = times[0] - again.started if times else GIVE_UP_S
        counts = [len(seat.answers(ANSWER)) for seat in scene.seats]
        return first, sum(count > 0 for count in counts), sum(count > 1 for count in counts)


def _tools_done(scene: Stage) -> bool:
    return sum(request.messages[-1]["role"] == "tool" for request in scene.model.requests) == CHATS // 2
