"""A bot that reads documents in this machine's sandbox."""

from collections.abc import Awaitable, Callable
from pathlib import Path

import pytest

from agent_core.messages import ToolResultMessage, text_of
from agent_core.sandbox.command import Launcher
from agent_core.sandbox.probe import NAMES
from gateway.plugins.documents.plugin import Documents
from parley.testing.bot import Bot
from tests.agent_core.sandbox.running import launcher_called
from tests.gateway.conftest import StartBot
from tests.gateway.test_origin_of_posts import last_prompt

Reads = Callable[..., Awaitable[Bot]]
"""Starts a bot that reads documents: the turns of its model, and then its options by name."""


@pytest.fixture
async def launcher(tmp_path: Path) -> Launcher:
    """Return the best launcher of this machine."""
    return await launcher_called(NAMES[0], tmp_path / "scratch")


@pytest.fixture
async def reads(start_bot: StartBot, launcher: Launcher) -> Reads:
    async def start(*turns: object, **how: object) -> Bot:
        return await start_bot(*turns, **{"plugins": (Documents,), "launcher": launcher, **how})

    return start


async def told(reads: Reads, name: str, content: bytes) -> str:
    """Return what the model is told with a message that brings a file."""
    bot = await reads("I see.")
    await bot.hears("what does it say?", files={name: content})
    return last_prompt(bot).context or ""


def results(bot: Bot) -> list[str]:
    """Return what the tools have said to the model."""
    messages = bot.llm.requests[-1].messages
    return [text_of(each.content) for each in messages if isinstance(each, ToolResultMessage)]
