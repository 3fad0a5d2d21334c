"""Helpers for tests of planning: ids as users type them, and the buttons under the newest message."""

import itertools
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager
from dataclasses import dataclass
from pathlib import Path
from zoneinfo import ZoneInfo

from agent_core.clock import new_id
from agent_core.models.llm import ModelInfo
from agent_core.models.scripted import SCRIPTED_MODEL
from agent_core.skills.library import SkillLibrary
from agent_core.skills.skill import Origin
from channels.base import ChatKey
from channels.memory import NO_PACE, MemoryChannel
from gateway.delivery.delivery import Delivery
from gateway.permissions.access import Access
from gateway.permissions.policy import Policy
from gateway.permissions.roles import Roles
from gateway.permissions.rules import Rules
from gateway.schedule.jobs.job_rights import JobRights
from gateway.schedule.jobs.jobs import Jobs
from gateway.schedule.jobs.preview import Costs
from gateway.security.packages import ROOT
from gateway.settings.limits import QuotaSettings
from gateway.store.store import Store
from tests.gateway.bot import PEOPLE
from tests.gateway.jobs.kit import PARIS, Calendar, TimedBot


def typed_ids() -> Callable[[], str]:
    """Return ids `ab0001`, `ab0002`, ... without characters that are easily confused."""
    numbers = itertools.count(1)
    return lambda: f"ab{next(numbers):04}"


def shipped_skills() -> SkillLibrary:
    return SkillLibrary([(ROOT / "skills", Origin.SHIPPED)], environ={})


def labels(bot: TimedBot, number: int = -1) -> list[list[str]]:
    """Return the labels of the buttons under a message, by default the newest."""
    return [[button.label for button in row] for row in bot.channel.posts[number][1].buttons]


async def press(bot: TimedBot, button: str, *, sender: str = "ann") -> str:
    """Press the newest button of that name; return the text of the newest message afterwards."""
    await bot.channel.presses(button, sender=sender)
    await bot.settled()
    return bot.screen[-1]


@dataclass(frozen=True)
class Office:
    """The jobs of a gateway without its other parts; ann is the owner, and it is Monday, 08:00."""

    jobs: Jobs
    store: Store
    delivery: Delivery
    channel: MemoryChannel
    calendar: Calendar
    changes: list[float]
    """Times at which the scheduler was told of a possibly earlier job."""


@asynccontextmanager
async def open_office(home: Path, zone: ZoneInfo = PARIS) -> AsyncIterator[Office]:
    calendar, channel, changes = Calendar(), MemoryChannel(limits=NO_PACE), list[float]()

    async def scripted(chat: ChatKey, person: str) -> ModelInfo:
        return SCRIPTED_MODEL

    def zone_of(chat: ChatKey, person: str | None = None) -> ZoneInfo:
        return zone

    async with Store.open(home, calendar, new_id) as store:
        delivery = Delivery([channel], store, calendar)
        jobs = Jobs(
            store=store,
            delivery=delivery,
            rights=JobRights(store, Rules(Policy(), Access(Roles(PEOPLE), [channel], (), calendar)), QuotaSettings),
            clock=calendar,
            costs=Costs(scripted, ()),
            skills=shipped_skills(),
            zone_of=zone_of,
            new_id=typed_ids(),
            changed=lambda: changes.append(calendar.time()),
            stop=lambda _: None,
        )
        yield Office(jobs, store, delivery, channel, calendar, changes)
