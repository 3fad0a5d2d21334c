"""Files that are made to do harm are contained: one sentence tells of each that cannot be read, and nothing is left."""

import time

import pytest

from gateway.plugins.documents import received
from tests.gateway.test_origin_of_posts import last_prompt
from tests.plugins.documents.conftest import Reads
from tests.plugins.documents.hostile_samples import HOSTILE, SLOW

PATIENCE = 60.0
"""Seconds that a hostile file may take on a busy machine: it is given up after less than half of that."""
FEW_SECONDS = 2.0
"""What a file gets that is read until its time is over; eight seconds of CPU tell no more."""
ROOM = 14_000
"""Characters that a file may add to what the model is told."""


@pytest.mark.parametrize("what", HOSTILE)
async def test_it_is_contained(reads: Reads, what: str, monkeypatch: pytest.MonkeyPatch) -> None:
    bot = await reads("I see.")
    hostile = HOSTILE[what]
    if hostile.told == SLOW:
        monkeypatch.setattr(received, "SECONDS", FEW_SECONDS)
    content = hostile.make()
    began = time.monotonic()

    await bot.hears("look", files={hostile.name: content})

    context = last_prompt(bot).context or ""
    assert hostile.told in context
    assert len(context) < ROOM
    assert "root:" not in context, "no file of this machine is read"
    assert bot.screen[-1].endswith("I see.")
    assert time.monotonic() - began < PATIENCE
    assert [*(bot.home / "scratch").glob("*")] == [], "no copy of it is left"
