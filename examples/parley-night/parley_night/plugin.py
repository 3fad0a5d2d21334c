"""The plugin night: what it adds to Parley."""

from datetime import datetime
from typing import Annotated

from pydantic import Field

from parley import About, Objection, Plugin, PluginSettings, Proposal

LEAVES = frozenset({"net", "exec", "admin"})
"""What a call must not do at night: send something away, run a program, or change schedules, skills or settings."""

TEXTS = {
    "night_refuses": {
        "en": "It is night, in which nothing leaves this machine and no program runs.",
        "zh": "现在是夜间，此时不向外发送内容，也不运行程序。",
    }
}


class NightSettings(PluginSettings):
    """The hours that are night."""

    hours: Annotated[
        str,
        Field(pattern=r"^([01]?\d|2[0-3])-([01]?\d|2[0-3])$"),
        About(en="Hours of the night, such as 22-7.", zh="夜间时段，例如 22-7。"),
    ] = "22-7"


class NightPlugin(Plugin):
    """Refuses calls at night."""

    name = "night"
    settings = NightSettings
    texts = TEXTS

    async def before_call(self, call: Proposal) -> Objection | None:
        """Object to what a call could do at night."""
        if call.tool.acts not in LEAVES:
            return None
        now = datetime.fromtimestamp(self.core.clock.time(), self.core.settings.zone)
        return Objection("night_refuses") if is_night(now.hour, self.core.settings.of(NightSettings).hours) else None


def is_night(hour: int, hours: str) -> bool:
    """Return True for an hour from the first to the one before the last, over midnight if the last is smaller."""
    first, last = map(int, hours.split("-"))
    return first <= hour < last if first <= last else hour >= first or hour < last
