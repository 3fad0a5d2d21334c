"""An emulated Slack, and the real adapter delivering to a list."""

import asyncio
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager, suppress

import pytest
from pydantic import SecretStr

from channels.base import Accepted, ChatKey, InboundEvent, Menu, MessageReceived, NotTakenIn
from channels.commands import CommandSpec
from channels.slack.adapter import SlackChannel, open_channel
from channels.slack.config import Config
from parley.testing.emulators.slack import SlackEmulator
from parley.testing.emulators.slack_chat import Chat
from tests.channels.slack.streaming import Scene
from tests.emulators.patience import PATIENCE, patient

__all__ = ["patient"]

COMMANDS = (
    CommandSpec(name="help", description={"en": "What I can do", "zh": "我能做什么"}),
    CommandSpec(name="stop", description={"en": "Stop at once"}),
)


class Inbox:
    """Inbox that keeps events in order and refuses as often as told."""

    def __init__(self, slack: SlackEmulator) -> None:
        self.events: list[InboundEvent] = []
        self.offered = 0
        self.refusals = 0
        self._seen: set[str] = set()
        self._slack = slack

    async def __call__(self, event: InboundEvent) -> Accepted:
        self.offered += 1
        if self.refusals:
            self.refusals -= 1
            self._slack.changes.notify()
            raise NotTakenIn("disk full")
        outcome = Accepted.DUPLICATE if event.event_id in self._seen else Accepted.NEW
        if outcome is Accepted.NEW:
            self._seen.add(event.event_id)
            self.events.append(event)
        self._slack.changes.notify()
        return outcome

    async def until(self, condition: Callable[[list[InboundEvent]], bool], seconds: float = 30.0) -> None:
        await self._slack.wait_for(lambda: condition(self.events), seconds)

    async def next(self) -> InboundEvent:
        """Remove and return the oldest event, waiting for it."""
        await self.until(bool)
        return self.events.pop(0)

    async def message(self) -> MessageReceived:
        event = await self.next()
        assert isinstance(event, MessageReceived)
        return event


@pytest.fixture
async def slack(patient: None) -> AsyncIterator[SlackEmulator]:
    async with SlackEmulator() as emulator:
        emulator.ack_timeout = PATIENCE
        yield emulator
    assert emulator.violations == []


@pytest.fixture
async def channel(slack: SlackEmulator) -> AsyncIterator[SlackChannel]:
    opened = open_channel(config_for(slack))
    yield opened
    await opened.close()


@pytest.fixture
async def another(slack: SlackEmulator) -> AsyncIterator[SlackChannel]:
    """Yield a channel as after a restart, without the first one's knowledge."""
    opened = open_channel(config_for(slack))
    yield opened
    await opened.close()


@pytest.fixture
async def inbox(slack: SlackEmulator, channel: SlackChannel) -> AsyncIterator[Inbox]:
    """Yield the inbox of the channel, listening over web sockets."""
    async with listening(slack, channel) as heard:
        yield heard


@asynccontextmanager
async def listening(slack: SlackEmulator, channel: SlackChannel) -> AsyncIterator[Inbox]:
    """Let a channel listen over web sockets, and yield its inbox."""
    heard = Inbox(slack)
    running = asyncio.create_task(channel.run(heard, Menu(COMMANDS)))
    await slack.wait_for(lambda: slack.connected or running.done())
    yield heard
    running.cancel()
    with suppress(asyncio.CancelledError):
        await running


def config_for(slack: SlackEmulator) -> Config:
    return Config(bot_token=SecretStr(slack.bot_token), app_token=SecretStr(slack.app_token), base_url=slack.api_url)


def key_of(slack: SlackEmulator, chat: Chat, thread: str | None = None) -> ChatKey:
    return ChatKey(platform="slack", account=slack.team_id, chat=chat.id, thread=thread)


@pytest.fixture
async def scene(slack: SlackEmulator, channel: SlackChannel) -> Scene:
    ann = slack.person("Ann")
    chat = slack.group("general", [ann])
    return Scene(slack, channel, chat, await chat.says(ann, "@parley_bot count"))
