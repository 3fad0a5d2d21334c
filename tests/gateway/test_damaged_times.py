"""One time that no calendar has is shown as a dash, and hides nothing of a command, a screen or a list."""

import asyncio
import random
import shutil
import sqlite3
from contextlib import closing, suppress
from pathlib import Path
from zoneinfo import ZoneInfo

import pytest
from hypothesis import given
from hypothesis import strategies as st

from gateway.admin.times import ago, time_element
from gateway.schedule.times.words import slot_words
from gateway.store.opening import FILE
from gateway.texts.moments import NO_MOMENT, moment_words
from tests.examples import examples
from tests.gateway.admin.desk import admin_world
from tests.gateway.damaging import Cell, cells, used
from tests.gateway.test_damaged_values import starts_answers_and_obeys

PARIS = ZoneInfo("Europe/Paris")
NOW = 1_795_170_240.0
ODD = (1e18, -1e18, 1e300, -1e300, float("inf"), float("-inf"), 1e15, -7e10, 2.0**62)
"""Seconds that are in no calendar."""
SINCE = 1e9
"""Seconds; the values of the store above this are times."""


@pytest.fixture(scope="module")
def ready(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A store that was used in many ways."""
    home = tmp_path_factory.mktemp("ready")
    asyncio.run(used(home))
    return home


def times(home: Path) -> list[Cell]:
    """Return the columns with times, each once."""
    found = [each for each in cells(home) if isinstance(each.value, float) and each.value > SINCE]
    return [*{(each.table, each.column): each for each in found}.values()]


def spoil(home: Path, column: Cell, odd: float) -> None:
    with closing(sqlite3.connect(home / FILE)) as store, store, suppress(sqlite3.IntegrityError):
        store.execute(f"UPDATE {column.table} SET {column.column} = ?", (odd,))  # noqa: S608


@pytest.mark.parametrize("seed", range(examples(30)))
async def test_commands_answer_beside_a_damaged_time(ready: Path, tmp_path: Path, seed: int) -> None:
    home, chance = tmp_path / "home", random.Random(seed)  # noqa: S311
    shutil.copytree(ready, home)
    found = times(home)
    spoil(home, found[seed * 7 % len(found)], chance.choice(ODD))

    await starts_answers_and_obeys(home)


@pytest.mark.parametrize("seed", range(examples(12)))
async def test_screens_are_shown_beside_damaged_times(ready: Path, tmp_path: Path, seed: int) -> None:
    home, chance = tmp_path / "home", random.Random(seed)  # noqa: S311
    shutil.copytree(ready, home)
    for column in times(home):
        spoil(home, column, chance.choice(ODD))

    async with admin_world(home) as world, world.client() as client:
        refused = []
        for screen in world.desk.screens:
            async with client.get(f"/admin/{screen.name}") as answer:
                refused += [screen.name] if answer.status != 200 else []
        assert refused == []


@pytest.mark.parametrize("odd", [*ODD, float("nan")])
def test_a_time_that_no_calendar_has_is_a_dash(odd: float) -> None:
    assert moment_words(odd, PARIS) == NO_MOMENT
    assert time_element(odd, NOW, PARIS, "en") == NO_MOMENT
    assert ago(odd, NOW, PARIS, "zh") == NO_MOMENT
    assert slot_words(odd, PARIS, "en", NOW) == NO_MOMENT


@given(st.floats())
def test_any_number_is_a_moment_or_a_dash(at: float) -> None:
    assert moment_words(at, PARIS)
    assert time_element(at, NOW, PARIS, "en")
    assert slot_words(at, PARIS, "zh", NOW)
