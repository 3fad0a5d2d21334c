"""What tests of planning share: ids as people type them, and what stands under the newest message."""

import itertools
from collections.abc import Callable

from agent_core.skills.library import SkillLibrary
from agent_core.skills.skill import Origin
from gateway.packages import ROOT
from tests.gateway.jobs.kit import TimedBot


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
