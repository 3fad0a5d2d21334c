"""Messages that Parley has sent on its own initiative."""

from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path

from agent_core.origin import CLEAN
from channels.attachments import Attachment
from channels.base import Button
from gateway.store.job import DeliveryState, Firing, FiringState, Job, Reaction
from tests.gateway.jobs.kit import TimedBot


async def said(bot: TimedBot, job: Job, text: str, *, name: str = "k7m2xp", **how: object) -> Firing:
    """Store a firing of the job whose message has arrived."""
    firing = await noted(bot, job, text, name=name, **how)
    posts = await bot.made.jobs.firing_messages.posts(job, firing)
    await bot.store.firings.end([replace(firing, delivery=DeliveryState.SENT)], posts)
    await bot.made.base.delivery.deliver(firing.chat, posts)
    return firing


async def noted(bot: TimedBot, job: Job, text: str, *, name: str = "k7m2xp", **how: object) -> Firing:
    """Store a firing of the job with a text to send."""
    now = bot.clock.time()
    firing = Firing(
        job.id, f"slot-{name}", name, job.chat, now, CLEAN, FiringState.DONE, began=now, ended=now, text=text
    )
    firing = replace(firing, **how)  # type: ignore[arg-type]
    await bot.store.firings.begin(firing)
    return firing


async def reaction_to(bot: TimedBot, firing: Firing) -> Reaction | None:
    found = await bot.store.firings.by_id(firing.id)
    assert found is not None
    return found.reaction


def labels(bot: TimedBot) -> list[list[str]]:
    """Return the buttons under the newest message."""
    return [[button.label for button in row] for row in _newest(bot)]


def actions(bot: TimedBot) -> list[list[str]]:
    return [[button.action for button in row] for row in _newest(bot)]


def _newest(bot: TimedBot) -> tuple[tuple[Button, ...], ...]:
    return bot.channel.posts[-1][1].buttons


def contents(files: Sequence[Attachment]) -> list[str]:
    return [Path(file.path).read_text() for file in files]
