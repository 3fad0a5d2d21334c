"""Plugins are made in order, and what two of them add does not clash."""

import asyncio
from collections.abc import Mapping, Sequence
from typing import ClassVar

import pytest

from agent_core.models.scripted import calls
from agent_core.tools.tool import Tool, tool
from channels.base import OutboundMessage
from channels.commands import Suggestion, Typed
from channels.memory import user
from gateway.app.chosen_plugins import own_plugins
from gateway.commands.command import Command, Invocation, Unfinished, reply
from gateway.permissions.rights import LOOK, always
from gateway.permissions.roles import Role
from gateway.plugin import Core, Duty, Plugin, Running
from gateway.texts.say import Language, say
from tests.gateway.conftest import StartBot
from tests.process import REPOSITORY


class Dice(Plugin):
    """Rolls a die that always shows four."""

    name = "dice"
    texts: ClassVar = {"dice_rolled": {"en": "You rolled a {eyes}.", "zh": "您掷出了 {eyes}。"}}

    async def roll(self, given: Invocation) -> OutboundMessage:
        return reply(say("dice_rolled", given.language, eyes=4))

    async def sides(self, typing: Unfinished) -> Sequence[Suggestion]:
        return [Suggestion(value=sides, label="") for sides in ("6", "20") if typing.option == "sides"]

    def commands(self) -> Sequence[Command]:
        return (
            Command(
                "roll",
                {"en": "Roll a die", "zh": "掷骰子"},
                self.roll,
                rights=always(LOOK),
                arguments="[SIDES]",
                main=True,
                after="help",
                suggest=self.sides,
            ),
        )


def listing(after: dict[str, str]) -> type[Plugin]:
    """Return a plugin with commands by name, each behind another one."""

    async def nothing(given: Invocation) -> OutboundMessage:
        return reply(given.arguments)

    class Lists(Plugin):
        name = "lists"

        def commands(self) -> Sequence[Command]:
            about: dict[Language, str] = {"en": "Do nothing", "zh": "不做事"}
            return [Command(name, about, nothing, rights=always(LOOK), after=behind) for name, behind in after.items()]

    return Lists


class Draws(Plugin):
    """Has a tool of the model."""

    name = "draws"
    tool_names = frozenset({"draw_card"})

    def tools(self) -> Sequence[Tool]:
        @tool(label="Drawing from {pack}", labels={"zh": "抽取：{pack}"})
        async def draw_card(pack: str) -> str:
            """Draw a card."""
            return f"the queen of {pack}"

        return (draw_card,)


class Unnamed(Draws):
    """Has a tool that it does not name."""

    tool_names = frozenset()


class Cheats(Draws):
    """Has a tool of another plugin."""

    name = "cheats"


class Loaded(Dice):
    """Also rolls a die, under another name."""

    name = "loaded"
    texts: ClassVar = {}
    needs = frozenset({"dice"})


class Reworded(Dice):
    """Says something else under the same key."""

    name = "reworded"
    texts: ClassVar = {"dice_rolled": {"en": "A {eyes}!", "zh": "{eyes}！"}}


class Hungry(Plugin):
    """Needs what is not there."""

    name = "hungry"
    needs = frozenset({"bread", "dice"})


class Hen(Plugin):
    name = "hen"
    needs = frozenset({"egg"})


class Egg(Plugin):
    name = "egg"
    needs = frozenset({"hen"})


async def test_a_command_of_a_plugin_is_listed_where_it_asks_to_be_and_answers_in_the_persons_language(
    start_bot: StartBot,
) -> None:
    bot = await start_bot(plugins=(Dice,))

    await bot.hears("/roll")
    await bot.hears("/roll", language="zh")

    assert bot.screen == ["You rolled a 4.", "您掷出了 4。"]
    names = [spec.name for spec in bot.made.commands.table.specs]
    assert names.index("roll") == names.index("help") + 1


async def test_a_main_command_of_a_plugin_is_among_those_that_help_lists_alone(start_bot: StartBot) -> None:
    bot = await start_bot(plugins=(Dice, listing({"nothing": "roll"})))

    await bot.hears("/help")

    listed = [line.split()[1] for line in bot.screen[0].splitlines() if line.startswith("- /")]
    assert listed[:2] == ["/roll", "/status"]
    assert "/nothing" not in listed


async def test_the_model_calls_the_tool_of_a_plugin(start_bot: StartBot) -> None:
    bot = await start_bot(calls(("draw_card", {"pack": "hearts"})), "It is the queen.", plugins=(Draws,))

    await bot.hears("draw a card")

    assert "the queen of hearts" in str(bot.llm.requests[-1].messages)
    assert bot.screen[-1] == "It is the queen."


async def test_values_are_offered_for_the_argument_of_a_plugins_command(start_bot: StartBot) -> None:
    bot = await start_bot(plugins=(Dice,))
    session = bot.made.chats.sessions.of(bot.channel.chat("ann"))

    found = await bot.made.commands.table.suggest(session, user("ann"), Typed(command="roll", option="sides", text="2"))

    assert [each.value for each in found] == ["20"]


async def test_a_duty_runs_beside_the_chats_and_knows_all_commands(start_bot: StartBot) -> None:
    told = asyncio.get_running_loop().create_future()

    class Notes(Dice):
        def duties(self, running: Running) -> Mapping[str, Duty]:
            async def note() -> None:
                told.set_result([command.name for command in running.commands.offered(Role.GUEST)])

            return {"note": note}

    bot = await start_bot(plugins=(Notes,))
    beside = asyncio.create_task(bot.made.serving.duties.run())
    try:
        async with asyncio.timeout(30):
            offered = await told
    finally:
        beside.cancel()
        await asyncio.wait([beside])

    assert "roll" in offered
    assert "audit" not in offered


@pytest.mark.parametrize(
    ("after", "order"),
    [
        ({"a": "help", "b": "help"}, ["help", "a", "b", "status"]),
        ({"a": "b", "b": "help"}, ["help", "b", "a", "status"]),
        ({"a": "hlep", "b": ""}, ["help", "status", "a", "b"]),
    ],
    ids=["both behind one", "behind one that comes later", "behind one that is not there"],
)
async def test_commands_are_listed_behind_those_that_they_name(
    start_bot: StartBot, after: dict[str, str], order: list[str]
) -> None:
    bot = await start_bot(plugins=(listing(after),))

    names = [spec.name for spec in bot.made.commands.table.specs]
    assert [name for name in names if name in order] == order


async def test_commands_behind_each_other_are_named(start_bot: StartBot) -> None:
    with pytest.raises(ValueError, match="listed behind each other: a, b"):
        await start_bot(plugins=(listing({"a": "b", "b": "a"}),))


async def test_plugins_are_made_after_those_that_they_need(start_bot: StartBot) -> None:
    made: list[str] = []

    class First(Plugin):
        name = "z"

        def __init__(self, core: Core) -> None:
            super().__init__(core)
            made.append(self.name)

    class Second(First):
        name = "a"
        needs = frozenset({"z"})

    await start_bot(plugins=(Second, First))

    assert made == ["z", "a"]


@pytest.mark.parametrize(
    ("plugins", "why"),
    [
        ((Dice, Dice), ""),
        ((Dice, type("Other", (Plugin,), {"name": "dice"})), "two plugins have the name dice"),
        ((Dice, Loaded), "two commands have the name /roll"),
        ((Dice, Reworded), "two texts have the key 'dice_rolled'"),
        ((Hungry,), "the plugin hungry needs bread, dice, which is not there"),
        ((Hen, Egg), "plugins need each other: .*hen.*egg"),
        ((Draws, Cheats), "two plugins have a tool draw_card"),
        ((Unnamed,), "the plugin draws has a tool draw_card, which its tool_names do not name"),
    ],
    ids=["the same twice", "name", "command", "text", "missing", "circle", "tool", "unnamed tool"],
)
async def test_plugins_that_do_not_fit_together_are_named(
    start_bot: StartBot, plugins: tuple[type[Plugin], ...], why: str
) -> None:
    if not why:
        await start_bot(plugins=plugins)
        return
    with pytest.raises(ValueError, match=why):
        await start_bot(plugins=plugins)


def test_each_of_ours_has_a_readme_and_tests_of_its_own() -> None:
    for plugin in own_plugins():
        folder = REPOSITORY / "gateway" / "plugins" / plugin.name
        assert (folder / "README.md").is_file()
        assert list((REPOSITORY / "tests" / "plugins" / plugin.name).glob("test_*.py"))
