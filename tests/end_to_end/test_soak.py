"""After kills at seeded random moments, nothing is lost or sent twice, and every chat is in order."""

import asyncio
import json
import random
from collections import Counter
from pathlib import Path

import pytest

from tests.end_to_end.crowd import NUMBER, Crowd
from tests.end_to_end.platforms.catalogue import where
from tests.end_to_end.stage import Stage
from tests.end_to_end.tables import stored

PEOPLE = 8
SPELLS = 2
MESSAGES = 20
"""Messages in each round."""
KILLS = 2
"""Kills in each round, because a run killed three times in the same request is set aside."""
SHORTEST_LIFE, LONGEST_LIFE = 0.1, 0.6
pytestmark = [where(lambda facts: facts.emulated), pytest.mark.timeout(240)]


def unsettled(home: Path) -> list[str]:
    """Return the texts that a killed Parley had started to send and not yet recorded as sent.

    Where a platform has no key that tells whether they arrived, the next process sends them again.
    """
    bodies = stored(home, "SELECT body FROM outbox WHERE state IN ('pending', 'sending')")
    return [json.loads(body)["markdown"] for (body,) in bodies]


async def test_killed_at_random_nothing_is_lost_or_doubled_and_every_chat_keeps_its_order(own_stage: Stage) -> None:
    stage, chance = own_stage, random.Random(20_261_121)  # noqa: S311
    crowd = Crowd(stage, PEOPLE, chance)
    excused: Counter[str] = Counter()
    stage.net.lift_limits()
    await stage.start()

    async def talk() -> None:
        async for _ in crowd.talks(MESSAGES, longest_pause=0.2):
            pass

    await crowd.greets()
    for _ in range(SPELLS):
        talking = asyncio.create_task(talk())
        for _ in range(KILLS):
            await asyncio.sleep(chance.uniform(SHORTEST_LIFE, LONGEST_LIFE))
            await stage.program.kill()
            if not stage.platform.facts.knows_resends:
                left = unsettled(stage.program.home)
                excused.update("".join(f"[{number}]" for number in NUMBER.findall(text)) for text in left)
            await stage.start()
        await talking
        await crowd.is_answered(excused)

    assert sum(len(numbers) for numbers in crowd.said.values()) == PEOPLE + SPELLS * MESSAGES
