"""Messages on their way to a platform, for tests of the delivery."""

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from dataclasses import dataclass
from pathlib import Path

import pytest

from agent_core.origin import CLEAN
from channels.base import ChannelError, ChatKey, OutboundMessage, Posted
from channels.limits import Limits
from channels.memory import MemoryChannel
from gateway.delivery.delivery import Delivery
from gateway.store.rows import Post, PostState
from gateway.store.store import Store
from tests.agent_core.kit import numbered
from tests.clock import FakeClock

ANN = ChatKey(platform="memory", account="here", chat="ann")
BOB = ChatKey(platform="memory", account="here", chat="bob")


@dataclass
class Scene:
    clock: FakeClock
    channel: MemoryChannel
    store: Store
    delivery: Delivery

    async def delivers(self, *posts: Post) -> None:
        await self.store.outbox.add(posts)
        await self.delivery.deliver(posts[0].chat, posts)

    async def states(self, *posts: Post) -> list[PostState]:
        found = [await self.store.outbox.find(post.key) for post in posts]
        return [post.state for post in found if post]

    @property
    def keys(self) -> list[str]:
        return [call.key for call in self.channel.calls if call.kind == "send"]


def answer(part: int = 0, *, chat: ChatKey = ANN, edits: str | None = None, slot: str = "answer") -> Post:
    return Post(f"r-{chat.chat}:{slot}:{part}", "r", chat, OutboundMessage(markdown=f"{slot} {part}"), CLEAN, edits)


def refuse(monkeypatch: pytest.MonkeyPatch, *names: str) -> None:
    """Let the platform refuse each message with a file of one of these names."""
    send = MemoryChannel.send

    async def choosy(channel: MemoryChannel, chat: ChatKey, message: OutboundMessage, key: str) -> Posted:
        if any(file.name in names for file in message.attachments):
            raise ChannelError("it was refused", permanent=True)
        return await send(channel, chat, message, key)

    monkeypatch.setattr(MemoryChannel, "send", choosy)


@asynccontextmanager
async def scene(home: Path, *, keeps_keys: bool = False, burst: int = 1_000) -> AsyncIterator[Scene]:
    clock = FakeClock()
    channel = MemoryChannel(limits=Limits(max_text=4_000, burst=burst), keeps_keys=keeps_keys)
    async with Store.open(home, clock, numbered()) as store:
        yield Scene(clock, channel, store, Delivery([channel], store, clock))
