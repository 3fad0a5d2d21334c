"""Nodes on emulated platforms: who receives, and what becomes of it when that node ends in one way or another."""

import asyncio
import math
import signal
from collections.abc import AsyncIterator, Awaitable, Callable, Sequence
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from pathlib import Path

import pytest

from parley.testing.emulators.discord_chat import Chat as Team
from parley.testing.emulators.discord_state import Person as Member
from parley.testing.emulators.discord_state import Press
from tests.channels.discord.test_shards import divide, on_each_shard, shards_of
from tests.cpu import Stopwatch
from tests.emulators.model_script import Answer, ModelRequest, ToolUse, Turn, says
from tests.end_to_end.conftest import Kind
from tests.end_to_end.nodes import Nodes, nodes
from tests.end_to_end.platforms.catalogue import only, where
from tests.end_to_end.platforms.discord import Discord
from tests.end_to_end.platforms.emulated import Emulated
from tests.end_to_end.platforms.platform import Chat, Person, Platform
from tests.end_to_end.platforms.telegram import Telegram
from tests.end_to_end.program import Program
from tests.end_to_end.stage import shows
from tests.postgres import UrlOf
from tests.process import until
from tests.tunnel import Tunnel

pytestmark = [pytest.mark.timeout(120), where(lambda facts: facts.emulated)]
SECONDS = 60.0
ON_SIGTERM, ON_KILL = 1.0, 5.0
"""Seconds in which another node takes over what a node has received, on a machine with room."""


async def soonest(most: float, takes_over: Callable[[], Awaitable[float]]) -> float:
    """Return the seconds of the first of three takeovers that is quick enough, or of the quickest: a busy machine may
    stand still in any of them."""
    seconds = math.inf
    for _ in range(3):
        seconds = min(seconds, await takes_over())
        if seconds < most:
            break
    return seconds


QUESTION = Turn(tools=(ToolUse("ask_user", {"question": "Which city?", "choices": ["Tokyo", "Osaka"]}),))


class Echo:
    """A model that repeats what was said, as soon as it may. To "book it" it asks where, and repeats the answer."""

    def __init__(self) -> None:
        self.may_answer = asyncio.Event()
        self.may_answer.set()

    def __call__(self, asked: ModelRequest) -> Answer:
        if asked.last_text.endswith("book it"):
            return QUESTION
        return says(f"You said {asked.last_text.rpartition(chr(10))[2]}.", hold=self.may_answer)


@dataclass
class Talk:
    """A user who says one thing after another, and gets an answer to each, once and in order."""

    person: Person
    chat: Chat
    expected: list[str] = field(default_factory=list)
    model: Echo = field(default_factory=Echo)

    async def says(self, words: str) -> None:
        self.expected.append(f"You said {words}.")
        await self.chat.says(self.person, words)

    async def is_answered(self) -> None:
        await self.chat.until(shows(*self.expected), SECONDS)


@asynccontextmanager
async def talking(
    platform: Platform, folder: Path, url: str, ways: dict[str, str]
) -> AsyncIterator[tuple[Nodes, Talk]]:
    """Start nodes that answer Ann, who has had a first answer."""
    assert isinstance(platform, Emulated)
    platform.lift_limits()
    async with nodes(folder, url, ways, platform) as made:
        person = platform.person("Ann")
        ann = Talk(person, platform.private(person))
        made.script.respond = ann.model
        await made.start()
        await platform.listening()
        await ann.says("hello")
        await ann.is_answered()
        await made.at_rest()
        yield made, ann
    assert platform.emulator.violations == []


async def test_what_a_node_receives_another_one_takes_over_when_it_is_stopped_or_killed(
    platform_kind: Kind, tmp_path: Path, url_of: UrlOf
) -> None:
    url = url_of(tmp_path)
    async with platform_kind() as platform, talking(platform, tmp_path, url, dict.fromkeys("abc", url)) as (made, ann):
        lease = f"receive {platform.facts.name}" if platform.facts.name != "slack" else "duties"

        async def takes_over(how: signal.Signals, code: int) -> float:
            """End the holder during an answer, and start it again once another node has gone on. Returns how long that
            took to take over."""
            first = await made.holder(lease)
            ann.model.may_answer.clear()
            await ann.says("one")  # perhaps it is stored, and not confirmed to the platform yet
            watch = Stopwatch()
            made[first].send(how)
            await made.holder(lease, but=first)
            seconds = watch.seconds
            assert await made[first].ended() == code
            ann.model.may_answer.set()
            await ann.is_answered()
            await made.at_rest()
            await made.start(first)
            return seconds

        assert await soonest(ON_SIGTERM, lambda: takes_over(signal.SIGTERM, 0)) < ON_SIGTERM
        assert await soonest(ON_KILL, lambda: takes_over(signal.SIGKILL, -signal.SIGKILL)) < ON_KILL
        await ann.says("two")
        await ann.is_answered()
        assert "another program is polling" not in made.log


@only("telegram")
async def test_a_poller_that_was_frozen_polls_no_more_when_it_wakes(tmp_path: Path, url_of: UrlOf) -> None:
    url = url_of(tmp_path)
    async with Telegram() as platform, talking(platform, tmp_path, url, dict.fromkeys("ab", url)) as (made, ann):
        first = await made.holder("receive telegram")

        made[first].freeze()
        made.take_for_dead(first)  # as the others do half a minute later
        await made.holder("receive telegram", but=first)
        await ann.says("one")
        await ann.is_answered()
        platform.telegram.double_polls = 0  # the frozen one had a poll open
        made[first].send(signal.SIGCONT)
        await made.joined(first)

        await ann.says("two")
        await ann.is_answered()
        assert platform.telegram.double_polls == 0


async def test_a_node_without_the_database_neither_polls_nor_sends_until_it_is_back(
    tmp_path: Path, url_of: UrlOf
) -> None:
    url = url_of(tmp_path)
    async with Telegram() as platform, Tunnel.to(url) as one, Tunnel.to(url) as other:
        ways = {"a": one, "b": other}
        addresses = {name: way.url for name, way in ways.items()}
        async with talking(platform, tmp_path, url, addresses) as (made, ann):
            first = await made.holder("receive telegram")

            ways[first].cut()
            await made.holder("receive telegram", but=first)
            await ann.says("one")
            await ann.is_answered()
            await until(lambda: "lease lost" in made[first].console)
            platform.telegram.double_polls = 0  # on a busy machine, it may have noticed late that it is cut off
            ways[first].mend()
            await made.joined(first)
            await ann.says("two")
            await ann.is_answered()

            assert platform.telegram.double_polls == 0


async def say_in(teams: Sequence[Team], ann: Member, words: str) -> None:
    for team in teams:
        await team.says(ann, words)


async def commands_and_presses_until_ended(
    node: Program, teams: Sequence[Team], asked: Sequence[Team], ann: Member
) -> tuple[int, list[Press]]:
    """Give some commands in the teams, and answer the questions of the others by buttons, until a node has ended.

    Returns the number of commands, and the presses.
    """
    commands, presses = 0, list[Press]()
    while node.is_running or commands < 5:
        await teams[commands % len(teams)].says(ann, "/stop")
        if commands % 2 == 0 and len(presses) < len(asked):
            presses.append(await asked[len(presses)].presses(ann, "Osaka"))
        commands += 1
        await asyncio.sleep(0.05)
    return commands, presses


async def a_takes_the_shards_of_b(made: Nodes) -> float:
    """Start and kill one of two nodes. Returns how long the other one took to take over."""
    await made.start("b")
    await made.share("receive discord", {"a": 2, "b": 2})
    watch = Stopwatch()
    await made["b"].kill()
    await made.share("receive discord", {"a": 4})
    return watch.seconds


@only("discord")
async def test_nodes_share_the_shards_of_a_bot_and_no_command_and_no_press_is_lost_when_one_is_stopped(
    tmp_path: Path, url_of: UrlOf
) -> None:
    url = url_of(tmp_path)
    async with Discord() as platform, nodes(tmp_path, url, dict.fromkeys("ab", url), platform) as made:
        discord, ann = platform.discord, platform.discord.person("Ann")
        platform.lift_limits()
        divide(discord, 4)
        for name in made.programs:
            made[name].set("PARLEY_DRAIN_SECONDS", "30")  # in which it waits until others are connected
        teams = on_each_shard(discord, 4, [ann])
        asked = [team for _ in range(2) for team in on_each_shard(discord, 4, [ann])]
        made.script.respond = Echo()
        await made.start()
        await made.share("receive discord", {"a": 2, "b": 2})
        await discord.wait_for(lambda: shards_of(discord) == [(shard, 4) for shard in range(4)])
        await say_in(asked, ann, "@parley_bot book it")
        await discord.wait_for(lambda: all("Which city?" in "".join(team.screen) for team in asked), SECONDS)

        made["a"].send(signal.SIGTERM)
        commands, presses = await commands_and_presses_until_ended(made["a"], teams, asked, ann)
        await discord.wait_for(lambda: sum(len(team.bot_messages) for team in teams) == commands, SECONDS)
        await discord.wait_for(lambda: all(press.answered for press in presses), SECONDS)
        await discord.wait_for(
            lambda: all("chose: Osaka" in team.screen[-1] for team in asked[: len(presses)]), SECONDS
        )
        assert made.shares("receive discord") == {"b": 4}

        await made.start("a")
        await made.share("receive discord", {"a": 2, "b": 2})
        await made["b"].kill()
        await made.share("receive discord", {"a": 4})
        assert await soonest(ON_KILL, lambda: a_takes_the_shards_of_b(made)) < ON_KILL
        await discord.wait_for(lambda: shards_of(discord) == [(shard, 4) for shard in range(4)])
        await say_in(teams, ann, "@parley_bot hello")
        await discord.wait_for(lambda: all("You said" in team.screen[-1] for team in teams), SECONDS)
    assert discord.violations == []
