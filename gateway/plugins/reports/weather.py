"""The weather of a place, from Open-Meteo, which needs no account."""

import re
from datetime import date
from urllib.parse import urlencode

from pydantic import BaseModel, TypeAdapter

from agent_core.origin import named
from agent_core.sources import page
from agent_core.tools.web.fetch import AnswerRefused
from channels.text import literal
from gateway.plugin import Core
from gateway.plugins.reports.web import read_json, refused
from gateway.schedule.jobs.report_kinds import MadeReport, ReportOrder, ReportRefused
from gateway.texts.say import Language, say

PLACES = "https://geocoding-api.open-meteo.com/v1/search"
FORECAST = "https://api.open-meteo.com/v1/forecast"
DAYS = 3
MOST_PLACES = 20
MOST_CHOICES = 5
LARGER = 4
"""A place is meant without a question if it has so many times the people of the next one of its name."""
_AT = re.compile(r"\((-?\d{1,2}\.\d{1,4}), (-?\d{1,3}\.\d{1,4})\)\s*$")
_SKIES = (
    (0, "reports_sky_clear"),
    (2, "reports_sky_fair"),
    (3, "reports_sky_cloudy"),
    (48, "reports_sky_fog"),
    (57, "reports_sky_drizzle"),
    (67, "reports_sky_rain"),
    (77, "reports_sky_snow"),
    (82, "reports_sky_showers"),
    (86, "reports_sky_snow"),
    (99, "reports_sky_storm"),
)
"""The highest code of the WMO for each kind of weather."""
_WEEKDAYS = "一二三四五六日"


class Place(BaseModel):
    """A place of the gazetteer."""

    name: str
    latitude: float
    longitude: float
    country: str = ""
    admin1: str = ""
    population: int | None = None

    @property
    def whole_name(self) -> str:
        return ", ".join(dict.fromkeys(filter(None, (self.name, self.admin1, self.country))))

    @property
    def subject(self) -> str:
        """The name with the coordinates, by which it is found without the gazetteer."""
        return f"{self.whole_name} ({self.latitude:.2f}, {self.longitude:.2f})"


class _Places(BaseModel):
    results: list[Place] = []


class _Daily(BaseModel):
    time: list[date]
    weather_code: list[int | None]
    temperature_2m_max: list[float | None]
    temperature_2m_min: list[float | None]
    precipitation_probability_max: list[float | None]
    wind_speed_10m_max: list[float | None]


class _Forecast(BaseModel):
    daily: _Daily


class Weather:
    """The report of the weather."""

    def __init__(self, core: Core) -> None:
        self._core = core

    async def make(self, order: ReportOrder) -> MadeReport:
        """Make the report. Raises ReportRefused."""
        found = _AT.search(order.subject)
        if found:
            name, latitude, longitude = order.subject[: found.start()].strip(), float(found[1]), float(found[2])
            place = Place(name=name, latitude=latitude, longitude=longitude)
        else:
            place = await self._place(order)
        query = urlencode(
            {
                "latitude": place.latitude,
                "longitude": place.longitude,
                "daily": ",".join(each for each in _Daily.model_fields if each != "time"),
                "timezone": "auto",
                "forecast_days": DAYS,
            }
        )
        language = order.language
        try:
            forecast = await read_json(self._core, f"{FORECAST}?{query}", TypeAdapter(_Forecast), language)
        except AnswerRefused as error:
            raise refused(error, language) from error
        text = _text(place, forecast.daily, language)
        return MadeReport(text, named(page(FORECAST)), order.subject if found else place.subject)

    async def _place(self, order: ReportOrder) -> Place:
        """Return the place that a name means. Raises ReportRefused if there is none, or several."""
        language = order.language
        name, *of = (part.strip() for part in re.split(r"[,，]", order.subject))
        query = urlencode({"name": name, "count": MOST_PLACES, "language": language})
        try:
            found = await read_json(self._core, f"{PLACES}?{query}", TypeAdapter(_Places), language)
        except AnswerRefused as error:
            raise refused(error, language) from error
        wanted = {part.casefold() for part in of if part}
        places = [each for each in found.results if wanted <= {each.admin1.casefold(), each.country.casefold()}]
        if not places:
            raise ReportRefused(say("reports_no_place", language, name=literal(order.subject)))
        first, *others = sorted(places, key=lambda each: -(each.population or 0))
        rivals = [each for each in others if each.whole_name != first.whole_name]
        if any((each.population or 0) * LARGER >= (first.population or 0) for each in rivals):
            choices = list(dict.fromkeys(map(_shorter, (first, *rivals))))[:MOST_CHOICES]
            raise ReportRefused(say("reports_many_places", language, name=literal(order.subject)), choices)
        return first


def _shorter(place: Place) -> str:
    """Return a name that tells a place from others, and fits on a button."""
    return f"{place.name}, {place.admin1 or place.country}"


def _text(place: Place, daily: _Daily, language: Language) -> str:
    rows = [
        f"| {day_words(day, language)} | {_sky(code, language)} | {_number(low)} – {_number(high)} | {_number(rain)} %"
        f" | {_number(wind)} km/h |"
        for day, code, high, low, rain, wind in zip(
            daily.time,
            daily.weather_code,
            daily.temperature_2m_max,
            daily.temperature_2m_min,
            daily.precipitation_probability_max,
            daily.wind_speed_10m_max,
            strict=False,
        )
    ]
    title = say("reports_weather", language, place=literal(place.whole_name))
    head = say("reports_weather_head", language)
    return "\n".join(
        [title, "", head, "| --- | --- | --- | --- | --- |", *rows, "", say("reports_weather_from", language)]
    )


def day_words(day: date, language: Language) -> str:
    """Return a day as in `Mon 30 Nov`."""
    if language == "zh":
        return f"周{_WEEKDAYS[day.weekday()]} {day.month}月{day.day}日"
    return f"{day:%a} {day.day} {day:%b}"


def _sky(code: int | None, language: Language) -> str:
    key = next((key for most, key in _SKIES if code is not None and code <= most), "reports_sky_unknown")
    return say(key, language)


def _number(value: float | None) -> str:
    return "?" if value is None else f"{value:.0f}"
