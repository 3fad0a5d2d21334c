"""A Parley that is killed goes on with every provider, and none refuses what it sends after that."""

import asyncio
from collections.abc import AsyncIterator, Awaitable, Callable, Iterable
from dataclasses import dataclass, field
from pathlib import Path

import pytest

from tests.emulators.dialects.dialect import Dialect
from tests.emulators.dialects.exchange import Exchange
from tests.emulators.dialects.table import DIALECTS
from tests.emulators.model_script import Held, Pause, ToolUse, Turn, says
from tests.end_to_end.platforms.platform import Chat, Person
from tests.end_to_end.platforms.telegram import Telegram
from tests.end_to_end.program import Program
from tests.end_to_end.script import Script
from tests.end_to_end.stage import has
from tests.process import SILENT

pytestmark = pytest.mark.timeout(400)
SECONDS = 120.0
"""For all chats at once, some of which wait until litellm is imported."""
LATE = "it took more than 30 s"
"""Logged of a plugin whose note comes too late, as while a busy machine imports what all providers need."""


@dataclass
class Talk:
    """A person's chat with the model of one provider."""

    dialect: Dialect
    person: Person
    chat: Chat
    script: Script = field(default_factory=Script)
    held: Held = field(default_factory=Held)

    def calculates(self, expression: str) -> Turn:
        return Turn(tools=(ToolUse("calculator", {"expression": expression}),), thinking=f"I need {expression}.")

    async def asks(self, text: str) -> None:
        await self.chat.says(self.person, text)

    async def reads(self, words: str) -> None:
        await self.chat.until(has(words), SECONDS)


class World:
    """Parley on Telegram, where each person talks to the model of another provider."""

    def __init__(self, folder: Path, telegram: Telegram) -> None:
        self.telegram = telegram
        self.scripts = {dialect.name: Script() for dialect in DIALECTS}
        self.exchange = Exchange(lambda dialect: self.scripts[dialect.name])
        self.program = Program(folder, {**SILENT, "PARLEY_THINKING": "low"})
        self.talks: list[Talk] = []

    def settle(self) -> None:
        self.program.forked = True
        self.telegram.settle(self.program)
        for name, value in self.exchange.settings.items():
            self.program.set(name, value)
        for dialect in DIALECTS:
            person = self.telegram.person(dialect.name)
            self.talks.append(Talk(dialect, person, self.telegram.private(person), self.scripts[dialect.name]))

    async def start(self) -> None:
        self.telegram.lift_limits()
        await self.telegram.launch()
        await self.telegram.listening()

    async def everyone(self, does: Callable[[Talk], Awaitable[object]]) -> None:
        async with asyncio.TaskGroup() as all_of_them:
            for talk in self.talks:
                all_of_them.create_task(_awaited(does(talk)))

    async def killed_while_all_wait(self) -> None:
        """Kill Parley while the answers of all models are held back, and start it again."""
        async with asyncio.timeout(SECONDS):
            await self.everyone(lambda talk: talk.held.reached.wait())
        await self.program.kill()
        await self.start()


async def _awaited(doing: Awaitable[object]) -> None:
    await doing


@pytest.fixture
async def world(tmp_path: Path) -> AsyncIterator[World]:
    async with Telegram() as telegram:
        world = World(tmp_path, telegram)
        async with world.exchange:
            world.settle()
            try:
                yield world
            finally:
                await world.program.kill()


async def test_a_run_that_is_killed_between_two_calls_and_in_an_answer_goes_on_with_every_provider(
    world: World,
) -> None:
    await world.start()
    await world.everyone(lambda talk: talk.asks(f"/model {talk.dialect.setting}"))
    await world.everyone(lambda talk: talk.reads("from the next answer on"))

    for talk in world.talks:
        second = talk.calculates("3 * 4")
        held = Turn(tools=second.tools, thinking=second.thinking, hold=talk.held)
        talk.script.then(talk.calculates("1 + 2"), held, second, says("It is 3, then 12.", thinking="Now I know."))
    await world.everyone(lambda talk: talk.asks("what is 1 + 2, and then 3 * 4?"))
    await world.killed_while_all_wait()
    await world.everyone(lambda talk: talk.reads("It is 3, then 12."))

    for talk in world.talks:
        talk.held = Held()
        slow = Turn("Twelve is a dozen, as people have it.", thinking="A dozen.", pause=Pause(3, talk.held))
        talk.script.then(slow, says("A dozen.", thinking="Once more."), says("Gladly.", thinking="They are polite."))
    await world.everyone(lambda talk: talk.asks("how do people call that?"))
    await world.killed_while_all_wait()
    await world.everyone(lambda talk: talk.reads("A dozen."))
    await world.everyone(lambda talk: talk.asks("thank you"))
    await world.everyone(lambda talk: talk.reads("Gladly."))

    assert world.exchange.refused == []
    assert _left_over(world.talks) == {}
    assert [line for line in world.program.console.splitlines() if "Traceback" in line and LATE not in line] == []


def _left_over(talks: Iterable[Talk]) -> dict[str, object]:
    """Return what the models would still have said, or were asked without an answer."""
    left = {talk.dialect.name: [*talk.script.answers, *talk.script.missed] for talk in talks}
    return {name: found for name, found in left.items() if found}
