"""The heading of an export, and the formats."""

from zoneinfo import ZoneInfo

from msgspec import Struct

from gateway.texts.moments import DAY, moment_words

FORMS = ("md", "json", "html")


class Heading(Struct, frozen=True):
    chat: str
    """As text."""
    ai_name: str
    zone: ZoneInfo
    now: float

    @property
    def line(self) -> str:
        return f"Exported on {self.moment(self.now)}. Times are those of {self.zone.key}."

    def moment(self, at: float) -> str:
        return moment_words(at, self.zone)

    def day(self, at: float) -> str:
        return moment_words(at, self.zone, DAY)
