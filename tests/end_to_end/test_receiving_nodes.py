"""Nodes on emulated platforms: who receives, and what becomes of it when that node ends in one way or another."""

import asyncio
import signal
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import cast

import pytest

from tests.emulators.model_script import Answer, ModelRequest, says
from tests.emulators.telegram import TelegramEmulator
from tests.end_to_end.nodes import Nodes, nodes
from tests.end_to_end.platforms.platform import Chat, Person
from tests.postgres import UrlOf

pytestmark = pytest.mark.timeout(120)
SECONDS = 60.0
ON_SIGTERM, ON_KILL = 1.0, 5.0
"""Seconds in which another node takes over what a node has received."""


@dataclass
class Talk:
    """A user who says one thing after another, and gets an answer to each, once and in order."""

    person: Person
    chat: Chat
    expected: list[str] = field(default_factory=list)

    async def says(self, words: str) -> None:
        self.expected.append(f"You said {words}.")
        await self.chat.says(self.person, words)

    async def is_answered(self) -> None:
        await self.chat.until(lambda chat: chat.screen == self.expected, SECONDS)


def echo(asked: ModelRequest) -> Answer:
    return says(f"You said {asked.last_text.rpartition(chr(10))[2]}.")


@pytest.fixture
async def telegram() -> AsyncIterator[TelegramEmulator]:
    async with TelegramEmulator(flood=False) as emulator:
        yield emulator
    assert emulator.violations == []


@asynccontextmanager
async def on_telegram(
    telegram: TelegramEmulator, folder: Path, url: str, *names: str
) -> AsyncIterator[tuple[Nodes, Talk]]:
    """Start nodes that answer Ann on Telegram."""
    ann = telegram.person("Ann")
    settings = {
        "TELEGRAM_BOT_TOKEN": telegram.token,
        "TELEGRAM_BASE_URL": telegram.url,
        "PARLEY_OWNERS": f"telegram:{ann.id}",
    }
    async with nodes(folder, url, settings, names) as made:
        made.script.respond = echo
        await made.start()
        yield made, Talk(ann, cast("Chat", telegram.private(ann)))


async def test_the_poller_of_telegram_changes_hands_without_loss_when_its_node_is_stopped_or_killed(
    telegram: TelegramEmulator, tmp_path: Path, url_of: UrlOf
) -> None:
    now = asyncio.get_running_loop().time
    async with on_telegram(telegram, tmp_path, url_of(tmp_path), "a", "b", "c") as (made, ann):
        await ann.says("one")
        await ann.is_answered()
        first = await made.holder("receive telegram")

        await ann.says("two")  # perhaps it is stored, and not confirmed to Telegram yet
        began = now()
        made[first].send(signal.SIGTERM)
        second = await made.holder("receive telegram", but=first)
        assert now() - began < ON_SIGTERM
        assert await made[first].ended() == 0
        await ann.is_answered()

        await ann.says("three")
        began = now()
        await made[second].kill()
        await made.holder("receive telegram", but=second)
        assert now() - began < ON_KILL
        await ann.is_answered()
        await ann.says("four")
        await ann.is_answered()
        assert telegram.double_polls == 0
        assert "another program is polling" not in made.log


async def test_a_poller_that_was_frozen_polls_no_more_when_it_wakes(
    telegram: TelegramEmulator, tmp_path: Path, url_of: UrlOf
) -> None:
    async with on_telegram(telegram, tmp_path, url_of(tmp_path), "a", "b") as (made, ann):
        await ann.says("one")
        await ann.is_answered()
        first = await made.holder("receive telegram")

        made[first].freeze()
        made.take_for_dead(first)  # as the others do half a minute later
        await made.holder("receive telegram", but=first)
        telegram.double_polls = 0  # the frozen one has a poll open
        await ann.says("two")
        await ann.is_answered()
        made[first].send(signal.SIGCONT)
        await made.joined(first)

        await ann.says("three")
        await ann.is_answered()
        assert telegram.double_polls == 0
