"""The clock tool tells the time of places by their common names."""

from datetime import UTC, datetime
from pathlib import Path
from zoneinfo import ZoneInfo

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from agent_core.messages import JsonObject, text_of
from agent_core.tools.clock import CITIES, clock_tool, wait_tool
from agent_core.tools.tool import Tool, ToolContext, ToolEnvironment, ToolFailed
from tests.examples import examples


class StoppedClock:
    """A clock that shows one moment and only records sleeps."""

    def __init__(self, moment: str) -> None:
        self._now = datetime.fromisoformat(moment).replace(tzinfo=UTC).timestamp()
        self.slept: list[float] = []

    def time(self) -> float:
        return self._now

    def monotonic(self) -> float:
        return 0.0

    async def sleep(self, seconds: float) -> None:
        self.slept.append(seconds)


async def run(tool: Tool, arguments: JsonObject) -> str:
    context = ToolContext("1", ToolEnvironment("s", Path("none")))
    return text_of((await tool.execute(tool.validate(arguments), context)).content)


async def tell(zone: str | None, moment: str = "2025-03-04T12:00:00") -> str:
    return await run(
        clock_tool(StoppedClock(moment), lambda: ZoneInfo("Europe/Berlin")), {} if zone is None else {"zone": zone}
    )


async def test_without_a_zone_it_tells_the_time_at_home() -> None:
    assert await tell(None) == "Tuesday, 2025-03-04 13:00:00, Europe/Berlin (UTC+01:00)"
    assert await tell("  ") == await tell(None)


@pytest.mark.parametrize(
    ("moment", "told"),
    [
        ("2025-03-30T00:59:59", "Sunday, 2025-03-30 01:59:59, Europe/Berlin (UTC+01:00)"),
        ("2025-03-30T01:00:00", "Sunday, 2025-03-30 03:00:00, Europe/Berlin (UTC+02:00)"),
        ("2025-10-26T00:30:00", "Sunday, 2025-10-26 02:30:00, Europe/Berlin (UTC+02:00)"),
        ("2025-10-26T01:30:00", "Sunday, 2025-10-26 02:30:00, Europe/Berlin (UTC+01:00)"),
    ],
)
async def test_it_changes_to_summer_time_and_back(moment: str, told: str) -> None:
    assert await tell(None, moment) == told


@pytest.mark.parametrize(
    ("zone", "ending"),
    [
        ("Asia/Tokyo", "21:00:00, Asia/Tokyo (UTC+09:00)"),
        ("tokyo", "21:00:00, Asia/Tokyo (UTC+09:00)"),
        ("New York", "07:00:00, America/New_York (UTC-05:00)"),
        ("america/new_york", "07:00:00, America/New_York (UTC-05:00)"),
        ("San Francisco", "04:00:00, America/Los_Angeles (UTC-08:00)"),
        ("Mumbai", "17:30:00, Asia/Kolkata (UTC+05:30)"),
        ("Asia/Kathmandu", "17:45:00, Asia/Kathmandu (UTC+05:45)"),
        ("北京", "20:00:00, Asia/Shanghai (UTC+08:00)"),
        ("UTC", "12:00:00, UTC (UTC+00:00)"),
        ("utc+5:30", "17:30:00, UTC+05:30 (UTC+05:30)"),
        ("GMT -3", "09:00:00, UTC-03:00 (UTC-03:00)"),
    ],
)
async def test_it_knows_places_by_many_names(zone: str, ending: str) -> None:
    assert (await tell(zone)).endswith(ending)


async def test_the_day_differs_where_the_date_line_is_between() -> None:
    assert (await tell("Pacific/Auckland")).startswith("Wednesday, 2025-03-05")


@pytest.mark.parametrize(("zone", "near"), [("Tokio", "Asia/Tokyo"), ("Europe/Berln", "Europe/Berlin")])
async def test_an_unknown_zone_is_refused_with_what_comes_near(zone: str, near: str) -> None:
    with pytest.raises(ToolFailed, match=zone) as refusal:
        await tell(zone)
    assert near in refusal.value.advice


@settings(max_examples=examples(50), deadline=None)
@given(st.text(max_size=30) | st.sampled_from(["../../etc/passwd", "/etc/localtime", "UTC+99", "\0", "x" * 10_000]))
async def test_no_name_breaks_it(zone: str) -> None:
    try:
        assert "UTC" in await tell(zone)
    except ToolFailed as refusal:
        assert "no time zone" in refusal.fact  # noqa: PT017 - either outcome is fine


async def test_every_city_of_ours_has_a_zone() -> None:
    for city in CITIES:
        assert CITIES[city] in await tell(city)


async def test_home_may_move_while_the_program_runs() -> None:
    home = [ZoneInfo("Europe/Berlin")]
    tool = clock_tool(StoppedClock("2025-03-04T12:00:00"), lambda: home[-1])
    home.append(ZoneInfo("Asia/Shanghai"))
    assert await run(tool, {}) == "Tuesday, 2025-03-04 20:00:00, Asia/Shanghai (UTC+08:00)"


@pytest.mark.parametrize(("asked", "waited"), [(2, 2.0), (1, 1.0), (3600, 10.0)])
async def test_waiting_has_an_end(asked: float, waited: float) -> None:
    clock = StoppedClock("2025-03-04T12:00:00")

    assert (await run(wait_tool(clock), {"seconds": asked})).startswith(f"Waited {waited:g} s. It is ")
    assert clock.slept == [waited]


@pytest.mark.parametrize(("asked", "waited"), [(0.5, 0.5), (0, 0.0), (-1, 0.0)])
async def test_a_wait_of_no_time_says_the_same_each_time(asked: float, waited: float) -> None:  # D-22
    assert await run(wait_tool(StoppedClock("2025-03-04T12:00:00")), {"seconds": asked}) == f"Waited {waited:g} s."
