"""The bot of the gateway tests."""

from functools import partial

import pytest

from parley.testing.bot import Bot
from parley.testing.fixtures import StartBot, start_bot
from tests.agent_core.kit import MakeModel
from tests.agent_core.over_a_wire import model_of, pytest_generate_tests

__all__ = ["StartBot", "model_of", "pytest_generate_tests", "start_bot", "wired_bot"]


@pytest.fixture
def wired_bot(model_of: MakeModel, start_bot: StartBot) -> StartBot:
    """`start_bot` over every client, each with its model at the other end of a wire."""

    async def start(*turns: object, **how: object) -> Bot:
        begin: StartBot = partial(start_bot, over=model_of())
        return await begin(*turns, **how)

    return start
