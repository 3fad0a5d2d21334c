"""What tests of planning share: ids as people type them, and what stands under the newest message."""

import itertools
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager
from dataclasses import dataclass
from pathlib import Path
from zoneinfo import ZoneInfo

from agent_core.clock import new_id
from agent_core.models.scripted import SCRIPTED_MODEL
from agent_core.skills.library import SkillLibrary
from agent_core.skills.skill import Origin
from channels.base import ChatKey
from channels.memory import MemoryChannel
from gateway.access import Access
from gateway.delivery import Delivery
from gateway.jobs.jobs import Jobs
from gateway.jobs.outlook import Costs
from gateway.packages import ROOT
from gateway.store.store import Store
from tests.gateway.bot import NO_PACE, PEOPLE
from tests.gateway.jobs.kit import PARIS, Calendar, TimedBot


def typed_ids() -> Callable[[], str]:
    """`ab0001`, `ab0002`: of characters that nobody misreads."""
    numbers = itertools.count(1)
    return lambda: f"ab{next(numbers):04}"


def shipped_skills() -> SkillLibrary:
    return SkillLibrary([(ROOT / "skills", Origin.SHIPPED)], environ={})


def labels(bot: TimedBot, number: int = -1) -> list[list[str]]:
    """Of the buttons under a message, the newest one unless told."""
    return [[button.label for button in row] for row in bot.channel.posts[number][1].buttons]


async def press(bot: TimedBot, button: str, *, sender: str = "ann") -> str:
    """Somebody presses the newest button of that name; what the newest message reads then."""
    await bot.channel.presses(button, sender=sender)
    await bot.settled()
    return bot.screen[-1]


@dataclass(frozen=True)
class Office:
    """The jobs of a house without the rest of it; ann owns it, and it is Monday, 08:00."""

    jobs: Jobs
    store: Store
    delivery: Delivery
    channel: MemoryChannel
    calendar: Calendar
    changes: list[float]
    """When whoever wakes us was told that there may be something sooner."""


@asynccontextmanager
async def open_office(home: Path, zone: ZoneInfo = PARIS) -> AsyncIterator[Office]:
    calendar, channel, changes = Calendar(), MemoryChannel(limits=NO_PACE), list[float]()

    async def zone_of(_: ChatKey) -> ZoneInfo:
        return zone

    async with Store.open(home, calendar, new_id) as store:
        delivery = Delivery([channel], store, calendar)
        jobs = Jobs(
            store=store,
            delivery=delivery,
            access=Access(PEOPLE, [channel], (), calendar, lambda _: None),
            clock=calendar,
            costs=Costs(SCRIPTED_MODEL, ()),
            skills=shipped_skills(),
            zone_of=zone_of,
            new_id=typed_ids(),
            changed=lambda: changes.append(calendar.time()),
            stop=lambda _: None,
        )
        yield Office(jobs, store, delivery, channel, calendar, changes)
