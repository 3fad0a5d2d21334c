"""The heading of an export, and the formats."""

from datetime import datetime
from zoneinfo import ZoneInfo

from msgspec import Struct

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
        return f"{self._local(at):%Y-%m-%d %H:%M}"

    def day(self, at: float) -> str:
        return f"{self._local(at):%Y-%m-%d}"

    def _local(self, at: float) -> datetime:
        return datetime.fromtimestamp(at, self.zone)
