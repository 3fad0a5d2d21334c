"""Random kills while users write, also between two process starts: lost, reordered, missing and repeated answers.

The sizes come from the command line: `python -m bench kills --messages 200 --kills 12 --signal term --on slack`.
"""

import asyncio
import random
import re
import sqlite3
from contextlib import closing
from dataclasses import dataclass
from pathlib import Path

from bench import programs
from bench import teams as teams_of
from bench.bot import Bot
from bench.figures import Figure
from bench.mixed import Mixed
from bench.programs import call_for, called
from bench.stage import Stage, stage
from bench.talk import WORD, GivenUp, Talk, own_words
from bench.teams import SAID, Teams
from parley.testing.emulators.slack import SlackEmulator
from tests.emulators.model_script import Answer, ModelRequest, Turn

NAMED = re.compile(f"{WORD.pattern}|{SAID.pattern}|p\\d+n\\d+")
"""The words by which messages are told apart."""
CHATS_A_TEAM = 4
IN_TEAMS = 0.2
"""Share of the messages that are said in groups."""
MODEL_S = 0.2
LONGEST_LIFE_S = 2.0
AT_THE_END_S = 120.0
EARLY = 0.25
"""Share of processes that are killed during start-up, while they resume the work of the previous one."""
LONGEST_START_S = 2.0
ALL_AT_ONCE = 0.3
"""Share of the messages that are sent while nothing is running."""
DRAINS = "0", "20"
"""Drain seconds after SIGTERM, chosen at random for each process: it is cut off, or finishes."""
MOST_TWICE = {"slack": 0.0, "discord": 0.0}
"""Telegram has no target, as it cannot be asked whether a message arrived."""
UNCONFIRMED = "SELECT body FROM outbox WHERE unconfirmed > 0"


@dataclass
class Sizes:
    """Numbers of messages, chats, kills and other disturbances."""

    messages: int = 1000
    chats: int = 20
    kills: int = 60
    signal: str = "kill"
    seed: int = 1
    freezes: int = 0
    restarts: int = 0
    """Of the database."""
    nodes: int = 1


def answer(asked: ModelRequest) -> Answer:
    """Name the messages since the last answer, once the programs are run for which they ask."""
    new: list[str] = []
    for message in reversed(asked.messages):
        if message["role"] == "assistant" and not message.get("tool_calls"):
            break
        if message["role"] == "user":
            new = NAMED.findall(own_words(str(message["content"]))) + new
    wanted = [word for word in new if word.startswith("p") and word not in called(asked)]
    if wanted and "run_command" in asked.tools:
        return call_for(wanted[0])
    return Turn(f"Heard {' '.join(new)}.", first_byte=MODEL_S)


async def figures(on: str, sizes: Sizes) -> list[Figure]:
    chance = random.Random(sizes.seed)  # noqa: S311 (a bench that can be repeated)
    async with stage(answer, on, pace=False, seats=sizes.chats) as scene:
        talk = Mixed(scene.seats, chance)
        teams = await Teams.gather(scene, scene.seats[: sizes.chats // CHATS_A_TEAM], chance)
        presses = asyncio.create_task(talk.programs.approve())
        try:
            await _live(scene, talk, teams, sizes, chance)
        finally:
            presses.cancel()
        most_twice = MOST_TWICE.get(on)
        figures = talk.figures(scene.model, _unconfirmed(scene.folder), most_twice)
        if isinstance(scene.emulator, SlackEmulator):
            figures = [*figures, Figure("streams left open or broken", len(scene.emulator.stuck_streams), "", 0)]
        return [*figures, *talk.outcomes(scene.folder), *teams.figures(scene, most_twice)]


async def _live(scene: Stage, talk: Talk, teams: Teams, sizes: Sizes, chance: random.Random) -> None:
    """Run one process after the other, and a last one in which everything is answered."""
    settings = {**programs.SETTINGS, **teams_of.SETTINGS, **_people(scene, teams)}
    given = shares(sizes.messages, sizes.kills + 1)
    for number, share in enumerate(given):
        down = round(share * ALL_AT_ONCE) if number else 0
        await _say(talk, teams, down)
        bot = await scene.spawn(environ={**settings, "PARLEY_DRAIN_SECONDS": chance.choice(DRAINS)})
        if 0 < number < len(given) - 1 and chance.random() < EARLY:
            await _say(talk, teams, share - down, within=chance.random() * LONGEST_START_S)
            await _end(bot, sizes.signal)
            continue
        await scene.listening(bot)
        if not number:
            await _give_budgets(scene)
        await _say(talk, teams, share - down, within=chance.random() * LONGEST_LIFE_S)
        if number + 1 < len(given):
            await _end(bot, sizes.signal)
    await talk.end(AT_THE_END_S)
    await teams.end(scene, AT_THE_END_S)
    await bot.stop()


def _people(scene: Stage, teams: Teams) -> dict[str, str]:
    """Return the settings that make everybody with a private chat an owner, and the others of the groups members."""
    owners = [f"{scene.place.platform}:{seat.person.id}" for seat in scene.seats]
    members = [f"{scene.place.platform}:{person.id}" for person in teams.members]
    return {"PARLEY_OWNERS": ",".join(owners), "PARLEY_ALLOW": ",".join([*owners, *members])}


async def _say(talk: Talk, teams: Teams, count: int, within: float = 0.0) -> None:
    in_teams = round(count * IN_TEAMS)
    await asyncio.gather(talk.say(count - in_teams, within), teams.say(in_teams, within))


async def _give_budgets(scene: Stage) -> None:
    """Let all owners give themselves a budget, as the usual one has no room for a single call."""
    for seat in scene.seats:
        await seat.says(teams_of.ENOUGH)
    for seat in scene.seats:
        await seat.answered("The budget is set", 1, AT_THE_END_S)


def shares(messages: int, parts: int) -> list[int]:
    """Divide messages into parts of about the same size."""
    return [messages // parts + (number < messages % parts) for number in range(parts)]


async def _end(bot: Bot, signal: str) -> None:
    if signal == "term":
        await bot.terminate()
    else:
        await bot.kill()


def _unconfirmed(folder: Path) -> GivenUp:
    (file,) = folder.rglob("parley.db")
    with closing(sqlite3.connect(f"file:{file}?mode=ro", uri=True)) as database:
        return GivenUp([row[0] for row in database.execute(UNCONFIRMED)])
