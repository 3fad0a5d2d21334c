"""Rules of a group, as its commands set them."""

from gateway.permissions.groups import SPEAKERS, TOOLS
from gateway.store.chat_settings import places
from tests.gateway.bot import Bot

EXEC = f"{TOOLS}exec"
"""The name of the limit of programs."""


async def rule(bot: Bot, name: str, value: str | None, group: str = "team") -> None:
    """Set a rule for a group with its threads, as its owner does."""
    chat = bot.channel.chat(group=group)
    *_, channel, _, _ = places(chat)
    await bot.made.people.group_rules.set(chat, "ann", channel, name, value)


async def admit(bot: Bot, group: str = "team", rights: str = "guest") -> None:
    """Let everybody speak in a group."""
    await rule(bot, SPEAKERS, f"everybody {rights}", group)


def limits(bot: Bot, group: str = "team") -> dict[str, str]:
    """Return the limits of tools in a group."""
    found = bot.made.people.groups.rules.limits(bot.channel.chat(group=group))
    return {str(of): str(word) for of, word in found.items()}
