"""A Parley with a heartbeat for Ann: time moves in steps of half an hour, and tests see the checks and messages."""

import sqlite3
from collections.abc import Sequence
from contextlib import closing
from datetime import datetime
from pathlib import Path
from zoneinfo import ZoneInfo

from agent_core.models.scripted import Turn, calls
from channels.base import ChatKey
from channels.memory import NO_PACE, MemoryChannel
from gateway.permissions.workspaces import workspace_of
from gateway.schedule.heartbeat.checklist import NAME
from gateway.store.job import Firing, Heartbeat, Job
from tests.gateway.bot import BotOptions
from tests.gateway.jobs.kit import ANN, BEGINS, PARIS, Calendar, TimedBot, moment, short_ids

HALF_AN_HOUR = 1800.0
NOTHING = calls(("nothing_to_report", {"why": "all is well"}))
PLANTS = "- [ ] Water the plants\n"


class Beating(TimedBot):
    """Bot for tests of the heartbeat, in Ann's chat unless another one is named."""

    async def beats(self, chat: ChatKey = ANN) -> Heartbeat:
        found = await self.store.heartbeats.find(chat)
        assert found is not None
        return found

    async def its_job(self, chat: ChatKey = ANN) -> Job:
        return await self.job((await self.beats(chat)).job)

    async def outcome(self, chat: ChatKey = ANN) -> str:
        """Return the outcome of the last check."""
        return (await self.beats(chat)).last_outcome

    async def looks(self, chat: ChatKey = ANN) -> list[Firing]:
        """Return all checks, oldest first."""
        return list(reversed(await self.store.firings.history((await self.its_job(chat)).id, 1_000)))

    @property
    def ticks(self) -> int:
        """Number of times at which a check was due and accepted."""
        with closing(sqlite3.connect(self.home / "parley.db")) as connection:
            query = "SELECT count(*) FROM inbox WHERE event_id LIKE 'sched:%'"
            return int(connection.execute(query).fetchone()[0])

    @property
    def asked(self) -> int:
        """Number of requests to the model."""
        return len(self.llm.requests)

    async def ticks_at(self) -> float:
        """Return the seconds until the next check."""
        job = await self.its_job()
        assert job.next_at is not None
        return job.next_at - self.calendar.now

    def writes(self, text: str, name: str = NAME, chat: ChatKey = ANN) -> None:
        """Write a file of the chat's workspace."""
        workspace = workspace_of(self.home, chat)
        workspace.mkdir(parents=True, exist_ok=True)
        (workspace / name).write_text(text)

    async def presses(self, button: str, *, sender: str = "ann") -> None:
        await self.channel.presses(button, sender=sender)
        await self.settled()

    async def look(self) -> None:
        """Check what is due and wait for the effects."""
        await self.made.serving.scheduler.tick()
        await self.settled()

    async def goes_by(self, hours: float) -> None:
        """Let time pass in steps of half an hour, with a check after each."""
        for _ in range(round(hours * 2)):
            self.calendar.advance(HALF_AN_HOUR)
            await self.look()

    async def until(self, local: str, zone: ZoneInfo = PARIS) -> None:
        """Let time pass until that moment."""
        await self.goes_by((moment(local, zone) - self.calendar.now) / 3600)


def make_beating(home: Path, *turns: Turn, offers: bool = False, begins: str = BEGINS, **how: object) -> Beating:
    clock = Calendar(begins)
    given = {
        "clock": clock,
        "channel": MemoryChannel(limits=NO_PACE, now=clock.time),
        "new_request_id": short_ids(),
        "offers_heartbeat": offers,
        **how,
    }
    return Beating(home, turns, BotOptions(**given))  # type: ignore[arg-type]


def clocks(looks: Sequence[Firing], zone: ZoneInfo = PARIS) -> list[str]:
    """Return the times at which checks were due."""
    return [f"{datetime.fromtimestamp(look.due, zone):%H:%M}" for look in looks]
