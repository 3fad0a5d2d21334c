"""The bot of the gateway tests."""

import asyncio
from functools import partial

import pytest

from gateway.delivery.progress_message import ProgressMessage
from parley.testing.bot import Bot
from parley.testing.fixtures import StartBot, start_bot
from tests.agent_core.kit import MakeModel
from tests.agent_core.over_a_wire import model_of, pytest_generate_tests

__all__ = ["StartBot", "model_of", "no_progress", "pytest_generate_tests", "start_bot", "wired_bot"]


@pytest.fixture
def wired_bot(model_of: MakeModel, start_bot: StartBot) -> StartBot:
    """`start_bot` over every client, each with its model at the other end of a wire."""

    async def start(*turns: object, **how: object) -> Bot:
        begin: StartBot = partial(start_bot, over=model_of())
        return await begin(*turns, **how)

    return start


@pytest.fixture
def no_progress(monkeypatch: pytest.MonkeyPatch) -> None:
    """No run shows progress, however long a busy machine takes for it: each message on the screen is an answer, a
    reply or a notice, and a fault of the platform hits the first of these."""

    async def never(_: ProgressMessage) -> None:
        await asyncio.Event().wait()

    monkeypatch.setattr(ProgressMessage, "_until_due", never)
