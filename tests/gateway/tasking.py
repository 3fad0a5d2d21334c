"""Helpers for tests of tasks: a model with several roles, and the states of tasks in the store."""

import sqlite3
from collections.abc import Callable, Mapping, Sequence
from itertools import takewhile
from pathlib import Path

from agent_core.messages import text_of
from agent_core.models.llm import LlmRequest
from agent_core.models.scripted import Call, Calls, Turn
from gateway.store.opening import FILE
from tests.gateway.bot import Bot

IN_BACKGROUND = "It runs in the background."


def begins(*prompts: str, background: bool = True) -> Calls:
    """Return the tool calls with which the chat's agent starts tasks."""
    return Calls(tuple(Call("task", {"prompt": prompt, "background": background}) for prompt in prompts))


class Cast:
    """Model of the chat's agent and of its sub-agents, which are recognised by their prompts; each says its turns in
    order. The chat's agent answers news of a task by `reports`, or by counting."""

    def __init__(self, *chat: Turn, reports: Turn = "", tasks: Mapping[str, Sequence[Turn]]) -> None:
        self.chat = list(chat)
        self.tasks = tasks
        self.reports = reports
        self.told: list[str] = []
        """News of tasks for the chat's agent."""
        self.asked: dict[str, int] = {}
        """Requests to the model by task."""

    @property
    def turns(self) -> list[Turn]:
        return [self._next] * 300

    def _next(self, request: LlmRequest) -> Turn:
        texts = [text_of(message.content) for message in request.messages]
        if (prompt := texts[0]) in self.tasks:
            number = self.asked[prompt] = self.asked.get(prompt, 0) + 1
            return self.tasks[prompt][number - 1]
        news = list(takewhile(lambda text: text.startswith("<notification>"), reversed(texts)))
        if news:
            self.told.extend(reversed(news))
            return self.reports or f"Told {len(self.told)}."
        return self.chat.pop(0)


def rows(home: Path, query: str) -> list[tuple[object, ...]]:
    connection = sqlite3.connect(home / FILE)
    try:
        return connection.execute(query).fetchall()
    finally:
        connection.close()


def states(home: Path) -> list[object]:
    """Return the states of all tasks in the order of their start."""
    return [row[0] for row in rows(home, "SELECT state FROM tasks ORDER BY created, call")]


def ids(home: Path) -> list[str]:
    return [str(row[0]) for row in rows(home, "SELECT id FROM tasks ORDER BY created, call")]


def are(home: Path, *wanted: str) -> Callable[[], bool]:
    """Return a condition: the tasks have these states."""
    return lambda: states(home) == [*wanted]


async def in_background(bot: Bot, answers: int = 1) -> None:
    """Wait until the chat's agent has said so often that it runs, and rests. Progress shows the words earlier."""
    await bot.channel.until(lambda: bot.screen.count(IN_BACKGROUND) == answers)
    await bot.made.settled_in(bot.channel.posts[-1][0].chat)
