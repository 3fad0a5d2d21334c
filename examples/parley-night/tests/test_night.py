"""Calls at night, in a Parley in memory."""

from datetime import datetime
from zoneinfo import ZoneInfo

import pytest
from parley_night.plugin import NightPlugin, is_night

from parley import Acts, Tool, tool
from parley.testing import OffsetClock, StartBot, calls

REFUSED = "It is night"


def at(hour: int) -> OffsetClock:
    """Return a clock that begins at this hour in Paris, where bots of tests are."""
    return OffsetClock.at(datetime(2026, 11, 23, hour, 30, tzinfo=ZoneInfo("Europe/Paris")).timestamp())


def acting(acts: Acts, made: list[str]) -> Tool:
    """Return a tool that notes its calls."""

    @tool(acts=acts)
    async def work(what: str) -> str:
        """Do some work."""
        made.append(what)
        return "done"

    return work


@pytest.mark.parametrize(
    ("hour", "acts", "is_refused"), [(23, "net", True), (3, "exec", True), (23, "read", False), (12, "net", False)]
)
async def test_at_night_calls_that_reach_out_are_refused(
    start_bot: StartBot, hour: int, acts: Acts, *, is_refused: bool
) -> None:
    made: list[str] = []
    turns = (calls(("work", {"what": "a letter"})), "That is all.")
    bot = await start_bot(*turns, tools=(acting(acts, made),), plugins=(NightPlugin,), clock=at(hour))

    await bot.hears("write to Bob")

    assert made == ([] if is_refused else ["a letter"])
    assert (REFUSED in str(bot.llm.requests[-1].messages)) == is_refused
    assert bot.screen[-1] == "That is all."


@pytest.mark.parametrize(
    ("hours", "night"), [("22-7", [0, 1, 2, 3, 4, 5, 6, 22, 23]), ("1-5", [1, 2, 3, 4]), ("0-0", []), ("23-0", [23])]
)
def test_the_night_may_pass_midnight(hours: str, night: list[int]) -> None:
    assert [hour for hour in range(24) if is_night(hour, hours)] == night
