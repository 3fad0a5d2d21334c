"""A chat's agent has others do things, in its answer or in the background; what comes of it is told, once."""

import asyncio
import sqlite3
from collections.abc import Callable
from pathlib import Path

from agent_core.llm import LlmRequest
from agent_core.messages import text_of
from agent_core.scripted import Call, Calls, Turn, Waits
from gateway.store.store import FILE
from tests.gateway.bot import Bot
from tests.gateway.conftest import StartBot

RUNS_IN_BACKGROUND = "It runs in the background."


def begins(*prompts: str, background: bool = True) -> Calls:
    return Calls(tuple(Call("task", {"prompt": prompt, "background": background}) for prompt in prompts))


class Cast:
    """A model that is several: the chat's agent has its turns one after another, and so has each task, by its prompt;
    what the chat is told of a task is answered by `reports`."""

    def __init__(self, *chat: Turn, reports: Turn = "", **tasks: list[Turn]) -> None:
        self.chat = list(chat)
        self.tasks = tasks
        self.reports = reports
        self.told: list[str] = []
        """What the chat's agent was told of tasks."""
        self.heard: dict[str, int] = {}
        """How often the model of each task was asked."""

    def turns(self) -> list[Turn]:
        return [self._next] * 200

    def _next(self, request: LlmRequest) -> Turn:
        first = text_of(request.messages[0].content)
        last = text_of(request.messages[-1].content)
        if first in self.tasks:
            number = self.heard[first] = self.heard.get(first, 0) + 1
            return self.tasks[first][number - 1]
        if last.startswith("<notification>"):
            self.told.append(last)
            return self.reports or f"Told {len(self.told)}."
        return self.chat.pop(0)


def tasks_in(home: Path) -> list[tuple[str, str]]:
    connection = sqlite3.connect(home / FILE)
    try:
        return connection.execute("SELECT state, report FROM tasks ORDER BY created, id").fetchall()
    finally:
        connection.close()


def rows(home: Path, query: str) -> list[tuple[object, ...]]:
    connection = sqlite3.connect(home / FILE)
    try:
        return connection.execute(query).fetchall()
    finally:
        connection.close()


def over(bot: Bot) -> Callable[[], bool]:
    return lambda: not {state for state, _ in tasks_in(bot.home)} & {"pending", "running"}


async def test_a_task_in_the_background_leaves_the_chat_free_and_is_told_when_it_ends(start_bot: StartBot) -> None:
    digging = Waits(asyncio.Event(), "42 files.")
    cast = Cast(begins("count"), RUNS_IN_BACKGROUND, "Sunny.", reports="There are 42.", count=[digging])
    bot = await start_bot(*cast.turns())

    await bot.channel.hears("count the files in the background")
    await bot.channel.until(lambda: bot.screen == [RUNS_IN_BACKGROUND])
    await bot.channel.hears("and the weather?")
    await bot.channel.until(lambda: bot.screen == [RUNS_IN_BACKGROUND, "Sunny."])
    digging.event.set()
    await bot.house.handler.settled()

    assert bot.screen == [RUNS_IN_BACKGROUND, "Sunny.", "There are 42."]
    [told] = cast.told
    assert "42 files." in told
    assert tasks_in(bot.home) == [("completed", "42 files.")]
