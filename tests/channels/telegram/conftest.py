"""An emulated Telegram, and the real adapter delivering to a list."""

import asyncio
from collections.abc import AsyncIterator, Callable
from contextlib import suppress

import pytest
from pydantic import SecretStr

from channels.base import Accepted, ChatKey, InboundEvent, Menu, MessageReceived
from channels.commands import CommandSpec
from channels.telegram.adapter import TelegramChannel, open_channel
from channels.telegram.config import Config
from parley.testing.emulators.telegram import TelegramEmulator
from parley.testing.emulators.telegram_chat import Chat

COMMANDS = (
    CommandSpec(name="help", description={"en": "What I can do", "zh": "我能做什么"}),
    CommandSpec(name="stop", description={"en": "Stop at once"}),
)


class Inbox:
    """Inbox that keeps events in order and refuses as often as told."""

    def __init__(self, telegram: TelegramEmulator) -> None:
        self.events: list[InboundEvent] = []
        self.refusals = 0
        self._seen: set[str] = set()
        self._telegram = telegram

    async def __call__(self, event: InboundEvent) -> Accepted:
        if self.refusals:
            self.refusals -= 1
            raise OSError("disk full")
        outcome = Accepted.DUPLICATE if event.event_id in self._seen else Accepted.NEW
        if outcome is Accepted.NEW:
            self._seen.add(event.event_id)
            self.events.append(event)
            self._telegram.changes.notify()
        return outcome

    async def until(self, condition: Callable[[list[InboundEvent]], bool], seconds: float = 30.0) -> None:
        await self._telegram.wait_for(lambda: condition(self.events), seconds)

    async def next(self) -> InboundEvent:
        """Remove and return the oldest event, waiting for it."""
        await self.until(bool)
        return self.events.pop(0)


@pytest.fixture
async def telegram() -> AsyncIterator[TelegramEmulator]:
    async with TelegramEmulator() as emulator:
        yield emulator
    assert emulator.violations == []


@pytest.fixture
async def channel(telegram: TelegramEmulator) -> AsyncIterator[TelegramChannel]:
    opened = open_channel(config_for(telegram))
    yield opened
    await opened.close()


@pytest.fixture
async def inbox(telegram: TelegramEmulator, channel: TelegramChannel) -> AsyncIterator[Inbox]:
    """Yield the inbox of the polling channel."""
    heard = Inbox(telegram)
    running = asyncio.create_task(channel.run(heard, Menu(COMMANDS)))
    await telegram.wait_for(lambda: telegram.updates.polling or running.done())
    yield heard
    running.cancel()
    with suppress(asyncio.CancelledError):
        await running


def config_for(telegram: TelegramEmulator) -> Config:
    return Config(bot_token=SecretStr(telegram.token), base_url=telegram.url, poll_seconds=5)


def key_of(telegram: TelegramEmulator, chat: Chat, thread: int | None = None) -> ChatKey:
    return ChatKey(
        platform="telegram", account=str(telegram.bot.id), chat=str(chat.id), thread=str(thread) if thread else None
    )


def said(event: object) -> str:
    assert isinstance(event, MessageReceived)
    return event.text
