"""The common rate limit of all calls to Discord, measured on a clock that advances only by sleeping."""

import asyncio

import pytest

from channels.discord.client import CALLS, OPTIONAL_CALLS, RateLimit

ALLOWED = 50
"""Calls that Discord allows in a second."""


class Clock:
    def __init__(self) -> None:
        self.time = 1_000.0

    def now(self) -> float:
        return self.time

    async def sleep(self, seconds: float) -> None:
        self.time += seconds
        await asyncio.sleep(0)


async def made(answers: int, signs: int) -> tuple[list[float], list[float]]:
    """Send answers at once, each after so many typing signs.

    Returns the times of the answers and the times of all calls.
    """
    clock = Clock()
    pace = RateLimit(clock.now, clock.sleep)
    answered: list[float] = []
    calls: list[float] = []
    for _ in range(answers):
        calls += [clock.time for _ in range(signs) if pace.take()]
        await pace.wait()
        answered.append(clock.time)
        calls.append(clock.time)
    return answered, calls


@pytest.mark.parametrize("signs", [1, 4, 180])
async def test_no_answer_of_a_crowd_waits_for_a_sign(signs: int) -> None:
    alone, _ = await made(200, signs=0)
    among, calls = await made(200, signs=signs)

    assert max(late - early for early, late in zip(alone, among, strict=True)) <= 0.05
    assert len(calls) > len(among)
    assert max(sum(at <= each < at + 1 for each in calls) for at in calls) <= CALLS + OPTIONAL_CALLS < ALLOWED


async def test_a_sign_steps_back_where_an_answer_would_have_to_wait() -> None:
    clock = Clock()
    pace = RateLimit(clock.now, clock.sleep)
    assert [pace.take() for _ in range(OPTIONAL_CALLS + 1)] == [True] * OPTIONAL_CALLS + [False]
    clock.time += 1
    for _ in range(CALLS):
        await pace.wait()

    assert not pace.take()
    clock.time += 1
    assert pace.take()
