"""Plugins offer buttons about a run, below its folded progress and on the page's screen of it."""

import re
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import ClassVar

import pytest

from agent_core.models.scripted import calls
from agent_core.tools.tool import Tool, tool
from channels.base import OutboundMessage
from channels.memory import NO_PACE, MemoryChannel
from gateway.app.plugins import PluginFailed
from gateway.commands.command import Command, Invocation, reply
from gateway.permissions.rights import LOOK, Right, always
from gateway.permissions.roles import Role
from gateway.plugin import Plugin
from gateway.runs.run_buttons import RunButton
from gateway.texts.say import Language
from tests.gateway.admin.desk import admin_world
from tests.gateway.admin.test_runs import only_run, shown
from tests.gateway.bot import Bot
from tests.gateway.conftest import StartBot
from tests.process import until


class Stars(Plugin):
    """Gives a run a star."""

    name = "stars"
    run_buttons: ClassVar = (
        RunButton("star", {"en": "Star", "zh": "加星"}, "chat"),
        RunButton("star", {"en": "Star it", "zh": "给它加星"}, "page"),
        RunButton("shine", {"en": "Shine", "zh": "发光"}, "page"),
    )

    async def star(self, given: Invocation) -> OutboundMessage:
        return reply(f"Starred {given.arguments}.")

    def commands(self) -> Sequence[Command]:
        about: Mapping[Language, str] = {"en": "Give a run a star", "zh": "给运行加星"}
        only_owners = always(Right("read", direct=Role.OWNER, group=Role.OWNER))
        return (
            Command("star", about, self.star, rights=always(LOOK)),
            Command("shine", about, self.star, rights=only_owners),
        )


class Stripes(Plugin):
    """Also has a button."""

    name = "stripes"
    run_buttons: ClassVar = (RunButton("stripe", {"en": "Stripe", "zh": "条纹"}, "chat"),)


def looking(channel: MemoryChannel) -> Tool:
    """Return a tool whose call takes until progress is shown."""

    @tool(acts="read", label="Looking")
    async def look() -> str:
        """Look."""
        await until(lambda: bool(channel.screen))
        return "seen"

    return look


async def answered(start_bot: StartBot, monkeypatch: pytest.MonkeyPatch, *plugins: type[Plugin], **how: str) -> Bot:
    """Return a bot that has answered below the folded progress of a run with a tool call."""
    monkeypatch.setattr("gateway.delivery.progress_message.YOUNG", 0.0)
    channel = MemoryChannel(limits=NO_PACE)
    turns = calls(("look", {})), "Seen."
    bot = await start_bot(*turns, channel=channel, tools=(looking(channel),), plugins=plugins)
    await bot.hears("look", **how)
    return bot


def labels(bot: Bot) -> list[list[str]]:
    return [[button.label for button in row] for row in bot.channel.posts[-1][1].buttons]


async def test_a_button_below_the_progress_gives_its_command_with_the_id_of_the_run(
    start_bot: StartBot, monkeypatch: pytest.MonkeyPatch
) -> None:
    bot = await answered(start_bot, monkeypatch, Stars)
    (run,) = await bot.made.base.store.run_records.newest(bot.channel.heard[0].chat, None, 1)

    await bot.channel.presses("Star")
    await bot.app.settled()

    assert bot.screen[-1] == f"Starred {run.run[:16]}."


@pytest.mark.parametrize(
    ("plugins", "language", "shown"),
    [
        ((Stars, Stripes), "en", [["Star", "Stripe"]]),
        ((Stars, Stripes), "zh", [["加星", "条纹"]]),
        ((), "en", []),
    ],
    ids=["of two plugins", "in Chinese", "of none"],
)
async def test_buttons_stand_in_one_row_in_the_language_of_the_person(
    start_bot: StartBot,
    monkeypatch: pytest.MonkeyPatch,
    plugins: Sequence[type[Plugin]],
    language: str,
    shown: list[list[str]],
) -> None:
    bot = await answered(start_bot, monkeypatch, *plugins, language=language)

    assert labels(bot) == shown


async def test_the_page_shows_a_button_to_those_who_may_give_its_command(tmp_path: Path) -> None:
    async with admin_world(tmp_path, "Hi.", "Hello.", plugins=(Stars,)) as world:
        await world.bot.hears("hello", sender="bob")
        run = await only_run(world)

        page = await shown(world, f"runs/{run}")
        assert re.search(rf'value="/star {run}".*?<button class="">Star it</button>', page, re.S)
        assert re.search(rf'value="/shine {run}".*?<button class="">Shine</button>', page, re.S)
        assert "/star" not in await world.seen_by_admin(f"runs/{run}")


@pytest.mark.parametrize(
    ("command", "label", "why"),
    [
        ("star", {"en": "Star"}, "the button of /star has no label in zh"),
        ("star", {"en": "", "zh": "加星"}, "the button of /star has no label in en"),
        ("s" * 50, {"en": "Star", "zh": "加星"}, "has more than 64 bytes"),
    ],
    ids=["a language", "empty", "long"],
)
def test_a_button_that_no_message_can_have_is_refused(command: str, label: Mapping[Language, str], why: str) -> None:
    with pytest.raises(ValueError, match=why):
        RunButton(command, label, "chat")


async def test_ratings_come_in_pairs(start_bot: StartBot) -> None:
    class Lone(Plugin):
        name = "lone"
        run_buttons: ClassVar = (RunButton("star", {"en": "Star", "zh": "加星"}, "answer"),)

    with pytest.raises(PluginFailed, match="lone has not two buttons that rate an answer"):
        await start_bot("Hi.", plugins=(Lone,))
