"""The screen of the log: its last lines for owners, and the last actions of the audit file."""

import asyncio
import re
from datetime import datetime
from pathlib import Path
from zoneinfo import ZoneInfo

from gateway.admin.screen import Group, NoSuchItem, View, Visit
from gateway.records.audit_actions import Action, last_actions
from gateway.records.recent_log import LEVELS, RecentLog
from gateway.security.secrets import Secrets

MOST_ACTIONS = 30
MOST_LINES = 200
_WRITTEN = re.compile(r"\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d(?:\.\d{1,6})?Z")
"""The time at the beginning of a line."""
LONGEST_NUMBER = 15
"""Digits."""


class LogScreen:
    """Shows the last lines of the log to owners, and the last actions of the audit file."""

    name = "log"
    group = Group.SYSTEM
    icon = "scroll-text"

    def __init__(self, recent: RecentLog, home: Path, secrets: Secrets) -> None:
        self._recent = recent
        self._home = home
        self._secrets = secrets

    async def view(self, visit: Visit) -> View:
        """Return the lines that the query asks for. Raises NoSuchItem."""
        facts = {
            **await self.news(visit),
            "level": visit.query.get("level", "info"),
            "levels": LEVELS[:4],
            "wanted": visit.query.get("q", ""),
            "actions": await asyncio.to_thread(self._actions),
            "moment": lambda text: datetime.fromisoformat(text).timestamp(),
        }
        return View("log.html", facts)

    async def news(self, visit: Visit) -> dict[str, object]:
        """Return the lines after a number, at most 200 at once, so that a flood is skipped. Raises NoSuchItem."""
        level, after = visit.query.get("level", "info"), visit.query.get("after", "0")
        if level not in LEVELS or not (after.isascii() and after.isdigit() and len(after) <= LONGEST_NUMBER):
            raise NoSuchItem
        if not visit.is_owner:
            return {"lines": [], "last": int(after)}
        words = visit.query.get("q", "").strip()
        found = self._recent.lines(after=int(after), least=level, words=words, most=MOST_LINES)
        lines = [{"level": each.level, "text": _local(self._secrets.mask(each.text), visit.zone)} for each in found]
        return {"lines": lines, "last": found[-1].number if found else int(after)}

    def _actions(self) -> list[Action]:
        """Return the last actions. Blocks."""
        try:
            return last_actions(self._home, MOST_ACTIONS)
        except OSError:
            return []


def _local(text: str, zone: ZoneInfo | None) -> str:
    """Return a line of the log with its time, which is written in UTC, in a zone."""

    def told(found: re.Match[str]) -> str:
        return f"{datetime.fromisoformat(found[0]).astimezone(zone):%Y-%m-%d %H:%M:%S}"

    return text if zone is None else _WRITTEN.sub(told, text, count=1)
