"""The platforms, people and chats of the random sequences of rights, and their events."""

import asyncio

from agent_core.clock import new_id
from channels.base import (
    ChatKey,
    CommandInvoked,
    Sender,
)
from channels.memory import NO_PACE, MemoryChannel
from channels.values import Standing
from tests.clock import FakeClock
from tests.plugins.groups.rights_model import COOKS, Model, Place, Told

SEEDS = {"memory:ann": "owner", "memory:bob": "member"}
NAMES = ("ann", "bob", "carl", "zoe")
PLATFORMS = ("memory", "other")
ACCOUNTS = [f"{platform}:{name}" for platform in PLATFORMS for name in NAMES]
GROUPS = [Place("memory", "#team"), Place("memory", "#team", "7"), Place("memory", "#plans"), Place("other", "#team")]
PLACES = [*GROUPS, *(Place(*account.split(":")) for account in ACCOUNTS)]


class Server(MemoryChannel):
    """A platform on which the bot may write to people first; the first one has a role, and tells full members."""

    def __init__(self, name: str) -> None:
        super().__init__(name=name, limits=NO_PACE.model_copy(update={"tells_full_members": name == "memory"}))

    async def private_chat(self, person: str) -> ChatKey:
        return self.chat(person)


class CookServer(Server):
    async def roles(self, chat: ChatKey) -> dict[str, str]:
        return {COOKS: "Cooks"}


class StillClock(FakeClock):
    """Moves only when a sequence says so."""

    async def sleep(self, seconds: float) -> None:
        await asyncio.sleep(0)


def key(at: Place) -> ChatKey:
    return KEYS.get(at) or ChatKey(platform=at.platform, account="here", chat=at.chat, thread=at.thread)


def sender(who: str, told: Told | None) -> Sender:
    standing = Standing(roles=(COOKS,) if told.is_cook else (), is_full_member=told.is_full_member) if told else None
    return Sender(id=who, name=who, standing=standing)


def command(at: Place, who: str, told: Told | None, words: str) -> CommandInvoked:
    name, _, arguments = words.partition(" ")
    return CommandInvoked(
        event_id=new_id(),
        chat=key(at),
        sender=sender(who, told),
        at=1.0,
        message_id=new_id(),
        name=name,
        arguments=arguments,
    )


KEYS: dict[Place, ChatKey] = {}
KEYS.update({at: key(at) for at in PLACES})
SENDERS = {who: sender(who, None) for who in NAMES}


def rights(model: Model) -> dict[tuple[str, Place], str | None]:
    return {(who, at): model.role(at, who) for who in NAMES for at in PLACES}


def owned(model: Model) -> dict[str, str | None]:
    return {account: model.own(account) for account in ACCOUNTS}
