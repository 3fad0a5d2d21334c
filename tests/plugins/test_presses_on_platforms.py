"""People vote in a plugin's poll on every platform, also around a kill."""

import asyncio
from functools import partial
from pathlib import Path

import pytest

from tests.end_to_end.platforms.catalogue import where
from tests.end_to_end.platforms.platform import Chat, Person
from tests.end_to_end.stage import Stage, newest
from tests.end_to_end.tables import stored
from tests.plugins.packages import Packages
from tests.process import REPOSITORY, until

VOTES = "SELECT choice, times FROM poll_votes"
HEARD = """SELECT 1 FROM inbox WHERE payload LIKE '%"type":"button"%'"""
POLL = (Path(__file__).parent / "poll.py").read_text()

pytestmark = pytest.mark.timeout(120)


async def with_poll(stage: Stage, packages: Packages) -> tuple[Person, Chat]:
    """Start Parley with the poll installed, and with Ann as its owner."""
    packages.install(POLL, name="poll", points={"poll": "parley_poll:Poll"})
    program = stage.program
    program.forked = False
    program.set("PYTHONPATH", f"{REPOSITORY}:{packages.folder}")
    program.set("PARLEY_PLUGINS", "poll")
    if not stage.platform.facts.emulated:  # whoever is at this machine owns it
        await stage.start()
        return stage.private("Ann")
    stage.net.lift_limits()
    ann, chat = stage.private("Ann")
    program.set("PARLEY_OWNERS", f"{stage.platform.facts.name}:{ann.id}")
    await stage.start()
    return ann, chat


def _shows(words: str, chat: Chat) -> bool:
    return words in newest(chat).shown


async def test_a_vote_is_shown_where_the_poll_was(own_stage: Stage, packages: Packages) -> None:
    ann, chat = await with_poll(own_stage, packages)
    await chat.says(ann, "/poll Drink?")
    await chat.until(lambda seen: newest(seen).button("Tea") is not None)

    await chat.presses(ann, "Tea")
    await chat.until(lambda seen: "Drink? Tea 1, Coffee 0" in seen.screen[-1])
    await chat.presses(ann, "Coffee")
    await chat.until(lambda seen: "Drink? Tea 0, Coffee 1" in seen.screen[-1])

    await chat.presses(ann, "Close")
    await chat.until(lambda seen: newest(seen).button("Tea") is None)


@where(lambda facts: facts.name in {"telegram", "slack", "discord"})
async def test_a_vote_around_a_kill_counts_once(own_stage: Stage, packages: Packages) -> None:
    ann, chat = await with_poll(own_stage, packages)
    for number, moment in enumerate((0.0, 0.02, 0.08), start=1):
        await chat.says(ann, f"/poll Drink {number}?")
        await chat.until(partial(_shows, f"Drink {number}?"))
        await until(lambda: not stored(own_stage.program.home, "SELECT 1 FROM outbox WHERE state != 'sent'"))

        press = await chat.presses(ann, "Tea")
        await asyncio.sleep(moment)
        await own_stage.program.kill()
        await own_stage.start()
        await own_stage.heard()
        if not (press.answered or len(stored(own_stage.program.home, HEARD)) == number):
            await chat.presses(ann, "Tea")  # nobody has heard it, and the platform has told so

        await chat.until(partial(_shows, f"Drink {number}? Tea 1, Coffee 0"))
        assert stored(own_stage.program.home, VOTES) == [(0, 1)] * number
