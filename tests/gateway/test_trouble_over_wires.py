"""The message that users read when a model fails, for every client and protocol."""

import pytest

from agent_core.models.llm import FailureCause
from agent_core.models.scripted import Failure
from tests.gateway.conftest import StartBot

TRIES = 4
"""Attempts on one model before the run fails."""


@pytest.mark.parametrize(
    ("failure", "told"),
    [
        (Failure(cause=FailureCause.SERVER), "provider is having problems"),
        (Failure(cause=FailureCause.NETWORK, after_words="The capital is"), "cannot be reached"),
    ],
)
async def test_a_line_that_breaks_reads_otherwise_than_a_provider_in_trouble(
    wired_bot: StartBot, failure: Failure, told: str
) -> None:  # C-25
    bot = await wired_bot(*[failure] * TRIES)

    await bot.hears("the capital of Norway?", sender="bob")

    assert told in bot.screen[-1]


async def test_a_wait_that_is_too_long_is_told_and_not_waited_for(wired_bot: StartBot) -> None:  # S4-43
    bot = await wired_bot(Failure(retry_after_s=3_600, cause=FailureCause.RATE_LIMIT))

    await bot.hears("the capital of Norway?", sender="bob")

    assert "try again in 60 minutes" in bot.screen[-1]
    assert len(bot.llm.requests) == 1
