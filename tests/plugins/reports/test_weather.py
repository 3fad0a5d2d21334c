"""The weather of a place: found in the gazetteer, shown before it is set, and told as a table without a model."""

import json

from tests.agent_core.web.site import Answer, Site, sends
from tests.gateway.jobs.asking import labels, press
from tests.gateway.jobs.conftest import StartTimedBot

BERLIN = {"name": "Berlin", "latitude": 52.52, "longitude": 13.41, "country": "Germany", "admin1": "Berlin"}
SMALL = {**BERLIN, "latitude": 44.47, "longitude": -71.18, "country": "United States", "admin1": "New Hampshire"}
DAYS = {
    "time": ["2026-11-23", "2026-11-24", "2026-11-25"],
    "weather_code": [3, 61, None],
    "temperature_2m_max": [7.4, 5.0, None],
    "temperature_2m_min": [1.6, -0.4, None],
    "precipitation_probability_max": [20, 85, None],
    "wind_speed_10m_max": [21.3, 33.0, None],
}
TABLE = """**Weather in Berlin, Germany**

| day | weather | °C | chance of rain | wind |
| --- | --- | --- | --- | --- |
| Mon 23 Nov | ☁️ cloudy | 2 – 7 | 20 % | 21 km/h |
| Tue 24 Nov | 🌧️ rain | -0 – 5 | 85 % | 33 km/h |
| Wed 25 Nov | not known | ? – ? | ? % | ? km/h |

_From Open-Meteo.com_"""


def answers(value: object) -> Answer:
    return sends(json.dumps(value).encode(), "application/json")


def knows(site: Site, *places: object) -> None:
    """Let the gazetteer know these places, and the service their weather."""
    found = {"results": places} if places else {"generationtime_ms": 0.2}
    site.pages |= {"/v1/search": answers(found), "/v1/forecast": answers({"daily": DAYS})}


async def test_it_is_shown_before_it_is_set_and_comes_without_a_model(start_bot: StartTimedBot, site: Site) -> None:
    knows(site, {**BERLIN, "population": 3_426_354}, {**SMALL, "population": 9_367})
    bot = await start_bot()
    await bot.hears("/report weather every day 7:30 Berlin")
    shown = bot.screen[-1]
    assert "> Berlin, Germany (52.52, 13.41)\n" in shown
    assert "- **Report:** weather, made without a model" in shown
    assert "- **Cost:** nothing, no model is asked." in shown
    assert shown.endswith(f"**Now it would say:**\n\n{TABLE}")

    await press(bot, "Confirm")
    bot.at("2026-11-24 07:30")
    await bot.look()
    assert bot.screen[-1] == TABLE
    assert bot.llm.requests == []
    assert [call.method for call in site.calls].count("/v1/search") == 1


async def test_of_several_places_of_a_name_the_person_chooses(start_bot: StartTimedBot, site: Site) -> None:
    state = {"latitude": 1.5, "longitude": 2.5, "country": "United States", "name": "Springfield"}
    one, other = ({**state, "admin1": each, "population": 150_000} for each in ("Missouri", "Illinois"))
    knows(site, one, other)
    bot = await start_bot()
    await bot.hears("/report weather every day 7:30 Springfield")
    assert bot.screen[-1] == "There are several places called Springfield."
    assert labels(bot) == [["Springfield, Missouri"], ["Springfield, Illinois"]]

    shown = await press(bot, "Springfield, Illinois")
    assert "> Springfield, Illinois, United States (1.50, 2.50)" in shown
    assert "every day at 07:30" in bot.screen[-1]


async def test_a_place_that_nobody_knows_is_told(start_bot: StartTimedBot, site: Site) -> None:
    knows(site)
    bot = await start_bot()
    await bot.hears("/report weather Atlantis")
    assert bot.screen == ["I found no place called Atlantis."]


async def test_a_service_that_is_down_is_told_as_the_reason(start_bot: StartTimedBot, site: Site) -> None:
    knows(site, BERLIN)
    bot = await start_bot()
    await bot.hears("/report weather every day 7:30 Berlin")
    await press(bot, "Confirm")
    del site.pages["/v1/forecast"]
    for day in ("2026-11-24 07:30", "2026-11-25 07:30"):
        bot.at(day)
        await bot.look()
    assert "answers 404 Not Found" in bot.screen[-1]
    knows(site, BERLIN)
    site.pages["/v1/forecast"] = answers({"odd": True})
    await bot.hears("/report weather Berlin")
    assert "sent an answer that I cannot read" in bot.screen[-1]


async def test_in_chinese(start_bot: StartTimedBot, site: Site) -> None:
    knows(site, BERLIN)
    bot = await start_bot()
    await bot.hears("/language zh")
    await bot.hears("/report weather 每天7:30 柏林")
    assert "**现在的内容会是：**\n\n**Berlin, Germany 的天气**" in bot.screen[-1]
    assert "| 周一 11月23日 | ☁️ 阴 | 2 – 7 |" in bot.screen[-1]
