"""Helpers of tests about pairing, strangers and roles."""

from channels.base import ChatKey
from channels.memory import MemoryChannel, user
from gateway.permissions.roles import People, Role
from tests.gateway.bot import Bot

NOBODY = People(frozenset(), frozenset())
ANN = ChatKey(platform="memory", account="here", chat="ann")


class Platform(MemoryChannel):
    """A platform on which the bot may write to a user first."""

    async def private_chat(self, person: str) -> ChatKey:
        return self.chat(person)


def role_of(bot: Bot, person: str) -> Role | None:
    return bot.made.people.access.role(bot.channel.chat(person), user(person))


def told(bot: Bot, person: str) -> list[str]:
    return bot.channel.screen_of(bot.channel.chat(person))


async def code_of(bot: Bot) -> str:
    return (await bot.made.people.pairing.code()).text
