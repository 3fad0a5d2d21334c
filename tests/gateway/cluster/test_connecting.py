"""A platform or a model that is connected on one of several nodes."""

import json
from collections.abc import AsyncIterator
from pathlib import Path
from typing import cast

import pytest

from channels.capabilities import KnowsConnection
from gateway.app.other_nodes import OtherNodes
from gateway.cluster.leases import connecting_of, held
from gateway.connect.steps import YES, Confirm, Done, Form, Listen
from parley.testing.emulators.telegram import TelegramEmulator
from tests import connecting
from tests.connecting import Platform
from tests.end_to_end.platforms.platform import Chat, Person
from tests.gateway.bot import Bot
from tests.gateway.cluster.nodes import Nodes
from tests.gateway.connect.guiding import Guided, guided, settings_in
from tests.postgres import UrlOf, rows
from tests.process import SILENT, until


@pytest.fixture
async def telegram() -> AsyncIterator[Platform]:
    async with connecting.telegram() as opened:
        yield opened


@pytest.fixture
async def nodes(tmp_path: Path, url_of: UrlOf) -> AsyncIterator[Nodes]:
    found = Nodes(tmp_path, url_of(tmp_path))
    async with found.life:
        yield found


def receives(bot: Bot) -> bool:
    channel = bot.made.base.channels.on("telegram")
    return isinstance(channel, KnowsConnection) and channel.is_connected


async def meets(there: Guided, person: Person, chat: Chat) -> None:
    """Let the guide meet the owner, and go on to its end."""
    number = there.guide.number
    await chat.says(person, "hello")
    assert isinstance(await there.after(number), Confirm)
    assert isinstance(await there.answer(YES), Done)


async def test_a_platform_that_one_node_connects_is_connected_on_all_and_none_listens_during_a_guide(
    nodes: Nodes, telegram: Platform
) -> None:
    environ, emulator = telegram.environ, cast("TelegramEmulator", telegram.emulator)
    one = await nodes.start("Not said.", loaded=settings_in(nodes.home, environ))
    other = await nodes.start("It is me.", loaded=settings_in(nodes.home, environ))
    ann = telegram.emulator.person("Ann", language="en")
    chat = telegram.emulator.private(ann)

    async with guided(nodes.home, "telegram", environ, program=one.made.serving.connections) as there:
        await there.next()
        assert isinstance(await there.answer(Form.packed([telegram.tokens["TELEGRAM_BOT_TOKEN"]])), Listen)
        await meets(there, ann, chat)
    await until(lambda: receives(one))
    await until(lambda: other.made.base.channels.on("telegram") is not None)
    await until(lambda: "telegram" in str(other.made.agents.live.files.channels))
    await until(lambda: _noted(nodes) == [True, True])
    settings = [json.loads(str(row[0])) for row in rows(nodes.url, "SELECT settings FROM nodes")]
    assert settings[0] == settings[1]

    async with guided(nodes.home, "telegram", environ, program=other.made.serving.connections) as there:
        assert isinstance(await there.next(), Confirm)  # it is set up, and shall be connected anew
        await there.answer(YES)
        assert isinstance(await there.answer(Form.packed([telegram.tokens["TELEGRAM_BOT_TOKEN"]])), Listen)
        await until(lambda: not receives(one))
        emulator.double_polls = 0
        await meets(there, ann, chat)
    await until(lambda: receives(one) or receives(other))
    await one.stop()
    await until(lambda: receives(other))
    await chat.says(ann, "who is there?")
    await chat.until(lambda chat: chat.screen[-1] == "It is me.")
    assert emulator.double_polls == 0


async def test_a_guide_of_which_the_news_was_lost_is_followed_once_news_comes_again(
    nodes: Nodes, telegram: Platform
) -> None:
    one, other = [await nodes.start(loaded=settings_in(nodes.home, telegram.environ)) for _ in range(2)]
    token = telegram.tokens["TELEGRAM_BOT_TOKEN"]

    async with held(one.made.base.leases, connecting_of("telegram")):
        await other.made.serving.connections.follow("")
        (nodes.home / ".env").write_text(f"TELEGRAM_BOT_TOKEN={token}\n")
        await other.made.agents.live.adopt("channels")  # as after a guide for another platform
        assert other.made.base.channels.on("telegram") is None
    await until(lambda: receives(other))

    async with held(one.made.base.leases, connecting_of("telegram")):
        await other.made.serving.connections.follow("")
        await until(lambda: not receives(other))
    await until(lambda: receives(other))


def _noted(nodes: Nodes) -> list[bool]:
    """Return whether each node has noted that it has the token."""
    return ["telegram.bot_token" in str(row[0]) for row in rows(nodes.url, "SELECT settings FROM nodes")]


async def test_a_model_that_one_node_connects_answers_on_all(nodes: Nodes) -> None:
    one, other = [await nodes.start(loaded=settings_in(nodes.home, {})) for _ in range(2)]
    (nodes.home / ".env").write_text("".join(f"{name}={value}\n" for name, value in SILENT.items()))

    assert await one.made.serving.connections.use_model()

    await until(lambda: other.made.base.current.now.model == "silent")
    await until(lambda: other.made.base.models.now.default.model.id == "silent")


async def test_a_platform_that_is_connected_where_no_node_runs_is_connected_on_the_nodes(
    nodes: Nodes, telegram: Platform
) -> None:
    environ = {**telegram.environ, "PARLEY_DATABASE_URL": nodes.url}
    emulator = cast("TelegramEmulator", telegram.emulator)
    assert await OtherNodes.found(settings_in(nodes.home, environ)) is None, "no node lives"
    bots = [await nodes.start("It is me.", loaded=settings_in(nodes.home, environ)) for _ in range(2)]
    ann = telegram.emulator.person("Ann", language="en")
    chat = telegram.emulator.private(ann)

    for asks_first in (False, True):  # the second time a node listens already
        others = await OtherNodes.found(settings_in(nodes.home, environ))
        assert others is not None
        async with guided(nodes.home, "telegram", environ, program=others) as there:
            if asks_first:
                assert isinstance(await there.next(), Confirm)
                await there.answer(YES)
            assert isinstance(await there.answer(Form.packed([telegram.tokens["TELEGRAM_BOT_TOKEN"]])), Listen)
            await until(lambda: not any(map(receives, bots)))
            emulator.double_polls = 0
            await meets(there, ann, chat)
        await until(lambda: any(map(receives, bots)))
    await chat.says(ann, "who is there?")

    await chat.until(lambda chat: chat.screen[-1] == "It is me.")
    assert "Write to me whenever you like" in chat.screen[0]
    assert emulator.double_polls == 0
    assert len(rows(nodes.url, "SELECT 1 FROM nodes WHERE NOT fenced")) == 2


async def test_a_model_that_is_connected_where_no_node_runs_answers_on_the_nodes(nodes: Nodes) -> None:
    environ = {"PARLEY_DATABASE_URL": nodes.url}
    bots = [await nodes.start(loaded=settings_in(nodes.home, environ)) for _ in range(2)]
    others = await OtherNodes.found(settings_in(nodes.home, environ))
    assert others is not None
    (nodes.home / ".env").write_text("".join(f"{name}={value}\n" for name, value in SILENT.items()))

    assert await others.use_model()

    assert [bot.made.base.current.now.model for bot in bots] == ["silent", "silent"]
    assert all(bot.made.base.models.now.default.model.id == "silent" for bot in bots)
