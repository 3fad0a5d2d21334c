"""A Parley that looks after Ann: days go by in steps of half an hour, and a test sees what was looked at and said."""

import sqlite3
from collections.abc import Sequence
from contextlib import closing
from datetime import datetime
from pathlib import Path
from zoneinfo import ZoneInfo

from agent_core.models.scripted import Turn, calls
from channels.base import ChatKey
from channels.memory import MemoryChannel
from gateway.folders import workspace_of
from gateway.heartbeat.checklist import NAME
from gateway.heartbeat.heartbeat_settings import HeartbeatSettings
from gateway.store.job import Firing, Heartbeat, Job
from tests.gateway.bot import NO_PACE, make_bot
from tests.gateway.jobs.kit import ANN, BEGINS, PARIS, Calendar, TimedBot, moment, short_ids

HALF_AN_HOUR = 1800.0
NOTHING = calls(("nothing_to_report", {"why": "all is well"}))
PLANTS = "- [ ] Water the plants\n"


class Beating(TimedBot):
    """Ann's chat, unless another one is named."""

    async def beats(self, chat: ChatKey = ANN) -> Heartbeat:
        found = await self.store.jobs.heartbeat(chat)
        assert found is not None
        return found

    async def its_job(self, chat: ChatKey = ANN) -> Job:
        return await self.job((await self.beats(chat)).job)

    async def outcome(self, chat: ChatKey = ANN) -> str:
        """Why it was silent, or that it was not."""
        return (await self.beats(chat)).last_outcome

    async def looks(self, chat: ChatKey = ANN) -> list[Firing]:
        """All that there were, oldest first."""
        return list(reversed(await self.store.jobs.history((await self.its_job(chat)).id, 1_000)))

    @property
    def ticks(self) -> int:
        """How many moments were taken in as ones to look."""
        with closing(sqlite3.connect(self.home / "parley.db")) as connection:
            query = "SELECT count(*) FROM inbox WHERE event_id LIKE 'sched:%'"
            return int(connection.execute(query).fetchone()[0])

    @property
    def asked(self) -> int:
        """How often the model was."""
        return len(self.llm.requests)

    async def ticks_at(self) -> float:
        """In how many seconds it looks next."""
        job = await self.its_job()
        assert job.next_at is not None
        return job.next_at - self.calendar.now

    def forgets_heartbeats(self) -> None:
        """As where the program was killed before it noted one."""
        with closing(sqlite3.connect(self.home / "parley.db")) as connection, connection:
            connection.execute("DELETE FROM heartbeats")

    def writes(self, text: str, name: str = NAME, chat: ChatKey = ANN) -> None:
        """A file of the chat's workspace."""
        workspace = workspace_of(self.home, chat)
        workspace.mkdir(parents=True, exist_ok=True)
        (workspace / name).write_text(text)

    async def presses(self, button: str, *, sender: str = "ann") -> None:
        await self.channel.presses(button, sender=sender)
        await self.settled()

    async def look(self) -> None:
        """Somebody looks what is due, and all that follows happens."""
        await self.house.wakes.look()
        await self.settled()

    async def goes_by(self, hours: float) -> None:
        """In steps of half an hour, with a look after each."""
        for _ in range(round(hours * 2)):
            self.calendar.advance(HALF_AN_HOUR)
            await self.look()

    async def until(self, local: str, zone: ZoneInfo = PARIS) -> None:
        """The same, until that moment."""
        await self.goes_by((moment(local, zone) - self.calendar.now) / 3600)


def make_beating(home: Path, *turns: Turn, introduces: bool = False, begins: str = BEGINS, **how: object) -> Beating:
    clock = Calendar(begins)
    given = {
        "clock": clock,
        "channel": MemoryChannel(limits=NO_PACE, now=clock.time),
        "new_request_id": short_ids(),
        "heartbeat": HeartbeatSettings() if introduces else None,
        **how,
    }
    bot = make_bot(home, turns, kind=Beating, **given)  # type: ignore[arg-type]
    assert isinstance(bot, Beating)
    return bot


def clocks(looks: Sequence[Firing], zone: ZoneInfo = PARIS) -> list[str]:
    """When they were due."""
    return [f"{datetime.fromtimestamp(look.due, zone):%H:%M}" for look in looks]
