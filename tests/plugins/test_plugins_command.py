"""/plugins tells which plugins there are, what each adds, and what has failed."""

import re

import pytest
from structlog.testing import capture_logs

from channels.memory import NO_PACE
from gateway.app.chosen_plugins import own_plugins
from gateway.permissions.approved_plugins import ApprovedPlugins
from gateway.permissions.roles import People
from tests.gateway.bot import Bot
from tests.gateway.conftest import StartBot
from tests.gateway.peopled import Platform
from tests.plugins.packages import Packages
from tests.process import until

OWNED = People(owners=frozenset({"memory:ann"}), allow=frozenset({"memory:bob"}))

FULL = """
class P(Plugin):
    name = "dice"
    tool_names = frozenset({"roll_die"})

    async def roll(self, given):
        return reply("4")

    def commands(self):
        return [Command("roll", {"en": "Roll", "zh": "掷骰子"}, self.roll, rights=always(LOOK))]

    def tools(self):
        @tool(label="Rolling", labels={"zh": "掷骰子"})
        async def roll_die() -> str:
            "Roll a die."
            return "4"
        return [roll_die]

    def duties(self, running):
        async def count():
            pass
        return {"count rolls": count}
"""


ROOMY = NO_PACE.model_copy(update={"max_text": 40_000})
"""The limits of a platform that shows the list of all plugins in one message, however many there are."""


async def begun(start_bot: StartBot, packages: Packages, *names: str, off: tuple[str, ...] = ()) -> Bot:
    """Return a bot whose owner was told of all plugins that are left out."""
    plugins = packages.chosen(names, off)
    bot = await start_bot(people=OWNED, channel=Platform(limits=ROOMY), plugins=plugins)
    await bot.channel.until(lambda: len(bot.screen) >= len(plugins.left_out))
    return bot


def about(bot: Bot, name: str) -> str:
    """Return what the last list says of a plugin, in whatever part of it."""
    said = "\n".join(bot.screen)
    _, _, rest = said.rpartition(f"- **{name}**")
    assert rest, said
    return rest.partition("\n- **")[0]


async def test_it_tells_what_each_plugin_is_of_and_adds(start_bot: StartBot, packages: Packages) -> None:
    packages.install(FULL)
    bot = await begun(start_bot, packages, "dice")

    await bot.hears("/plugins more")

    approved = ApprovedPlugins(packages.home).approved("dice")
    assert approved is not None
    said = about(bot, "dice")
    assert f"(of others, parley-dice 1.0, digest `{approved.code}`): on" in said
    assert "Commands: /roll (reads, for all)" in said
    assert "Tools: roll_die (reads)" in said.replace("\\", "")
    assert "Duties: count rolls" in said
    for kind in own_plugins():
        assert "(comes with Parley): on" in about(bot, kind.name)


async def test_it_names_those_that_are_on_in_a_line_and_tells_the_rest_at_more(
    start_bot: StartBot, packages: Packages
) -> None:
    packages.install(FULL)
    bot = await begun(start_bot, packages, "dice")

    await bot.hears("/plugins", language="zh")
    assert "- 已启用：" in bot.screen[-1]
    await bot.hears("/plugins")
    [_, line] = bot.screen[-1].splitlines()
    assert line.startswith("- On: ")
    assert set(line.removeprefix("- On: ").split(", ")) == {"dice", *(kind.name for kind in own_plugins())}

    await bot.channel.presses("More")
    await bot.app.settled()
    assert "- On: " not in bot.screen[1]
    assert "Commands: /roll" in about(bot, "dice")


async def test_a_line_ends_with_the_last_failure_in_short(start_bot: StartBot, packages: Packages) -> None:
    packages.install(FULL.replace('return reply("4")', 'raise ValueError(given.arguments + " is no die" * 20)'))
    bot = await begun(start_bot, packages, "dice")
    await bot.hears("/roll 1")
    await bot.hears("/roll 2")

    await bot.hears("/plugins")

    failed = r"- \*\*dice\*\*: on\. Failed 2 times, last [\d: -]+, in /roll: 2 is no die[a-z ]{,90} \.\.\."
    assert [line for line in bot.screen[-1].splitlines() if re.fullmatch(failed, line)]


async def test_admins_may_see_more_of_all_and_nothing_of_one_by_its_name(
    start_bot: StartBot, packages: Packages
) -> None:
    packages.install(FULL)
    bot = await begun(start_bot, packages, "dice")
    await bot.hears("/role memory:bob admin")

    await bot.hears("/plugins more", sender="bob")
    assert "Commands: /roll" in about(bot, "dice")

    await bot.hears("/plugins dice more", sender="bob")
    assert bot.screen[-1] == "Only owners can do this."


async def test_it_tells_what_is_off_or_left_out_and_why(start_bot: StartBot, packages: Packages, ours: str) -> None:
    packages.install("raise OSError('no dice here')")
    bot = await begun(start_bot, packages, "dice", off=(ours,))

    await bot.hears("/plugins more")
    assert "(comes with Parley): switched off" in about(bot, ours)
    assert "left out: OSError: no dice here" in about(bot, "dice")
    assert "What to do: `parley plugin check dice` tells it." in about(bot, "dice")

    await bot.hears("/plugins 更多", language="zh")
    assert "（Parley 自带）：已停用" in about(bot, ours)


async def test_one_of_others_that_is_off_is_not_said_to_be_loaded_at_the_next_start(
    start_bot: StartBot, packages: Packages
) -> None:
    packages.install(FULL)
    bot = await begun(start_bot, packages, "dice")
    await bot.stop()
    bot = await begun(start_bot, packages, "dice", off=("dice",))

    await bot.hears("/plugins dice")

    assert re.search(r"\(of others, parley-dice 1\.0, digest `\w+`\): switched off", about(bot, "dice"))
    assert "next start" not in about(bot, "dice")


async def test_it_tells_of_the_named_ones_alone(start_bot: StartBot, packages: Packages, ours: str) -> None:
    packages.install(FULL)
    bot = await begun(start_bot, packages, "dice")

    await bot.hears("/plugins dice")
    assert "Commands: /roll (reads, for all)" in about(bot, "dice")
    assert f"**{ours}**" not in bot.screen[-1]

    await bot.hears(f"/plugins dice {ours}")
    assert about(bot, "dice")
    assert about(bot, ours)


async def test_an_unknown_name_is_answered_with_those_there_are(
    start_bot: StartBot, packages: Packages, ours: str
) -> None:
    packages.install(FULL)
    bot = await begun(start_bot, packages, "dice")

    await bot.hears("/plugins dcie")

    assert "There is no plugin dcie. There are: " in bot.screen[-1]
    assert "dice" in bot.screen[-1]
    assert ours in bot.screen[-1]


async def test_it_tells_of_one_that_is_installed_and_not_named_without_importing_it(
    start_bot: StartBot, packages: Packages
) -> None:
    packages.install(f"open({str(packages.home / 'imported')!r}, 'w').close()\n{FULL}")
    bot = await begun(start_bot, packages)

    await bot.hears("/plugins dice")

    assert "(of others): installed, but not loaded: PARLEY_PLUGINS does not name it." in about(bot, "dice")
    assert not (packages.home / "imported").exists()


async def test_it_tells_the_last_failure_of_each_command_duty_and_moment(
    start_bot: StartBot, packages: Packages
) -> None:
    packages.install(
        FULL.replace('return reply("4")', 'raise ValueError("the die is broken")').replace(
            "            pass", '            raise OSError("it cannot count")'
        )
        + """
    def moved(self, item, place):
        if "drop" in getattr(item.event, "text", ""):
            raise RuntimeError("it fell")
"""
    )
    bot = await begun(start_bot, packages, "dice")

    async def is_told(said: str) -> None:
        await bot.hears("/plugins dice")
        assert said in about(bot, "dice"), about(bot, "dice")

    await until(lambda: bool(bot.made.base.system.plugins.failures.of("dice")))
    await is_told("in count rolls: OSError: it cannot count")
    await bot.hears("/roll")
    await is_told("in /roll: the die is broken")
    await bot.hears("drop")
    await is_told("in moved: RuntimeError: it fell")
    await bot.hears("/roll")
    await is_told("in /roll: the die is broken")
    assert re.search(r"Failed 2 times, last [\d: -]+, in /roll", about(bot, "dice"))
    await is_told("in moved: RuntimeError: it fell")
    await is_told("in count rolls: OSError: it cannot count")
    await is_told("`PARLEY_PLUGINS_OFF=dice` switches the plugin off")


@pytest.mark.parametrize(
    ("change", "said"),
    [("1 / 0", "ZeroDivisionError: division by zero"), ("5", "TypeError: its change returned int, which is no reply")],
)
async def test_it_tells_the_last_failure_of_the_change_of_a_settling(
    start_bot: StartBot, packages: Packages, change: str, said: str
) -> None:
    settles = f"from gateway.chat.replies import Settling\n        return Settling(lambda _: {change})"
    packages.install(FULL.replace('return reply("4")', settles))
    bot = await begun(start_bot, packages, "dice")

    await bot.hears("/roll")
    await bot.hears("/plugins dice")

    assert f"in /roll: {said}" in about(bot, "dice")


async def test_others_than_owners_are_told_to_tell_one_of_a_failure(start_bot: StartBot, packages: Packages) -> None:
    packages.install(FULL.replace('return reply("4")', "return 4"))
    bot = await start_bot(plugins=packages.chosen(["dice"]))

    with capture_logs() as logs:
        await bot.hears("/roll", sender="bob")

    assert bot.screen == ["The plugin dice failed and could not do that. The log says why: please tell an owner."]
    [failed] = [each for each in logs if each["event"] == "a plugin failed"]
    assert (failed["plugin"], failed["command"]) == ("dice", "/roll")


TAKES_PART = """
class P(Plugin):
    name = "dice"

    async def before_call(self, call):
        return None

    async def hold(self, chat):
        return None

    def ended(self, run, how, tx):
        return ()

    def owed(self):
        return {"dice_told": self.tell}

    async def tell(self, item):
        return []

    async def hear(self, item, run, sound, language):
        return None

    async def read(self, item, run, file, room, language):
        return None

    def reacted(self, event):
        pass

    def moved(self, item, place):
        pass

    def erased(self, forgotten, connection):
        pass
"""


async def test_it_tells_what_a_plugin_may_refuse_hold_and_do_after_an_answer(
    start_bot: StartBot, packages: Packages
) -> None:
    packages.install(TAKES_PART)
    bot = await begun(start_bot, packages, "dice")

    await bot.hears("/plugins dice")

    said = about(bot, "dice").replace("\\", "")
    assert (
        "Takes part: may refuse tool calls or have people asked, may let the next answer in a chat wait, "
        "hears recordings, reads files that are sent, is told of reactions to messages, "
        "is told where messages wait, "
        "is told when an answer ends, erases its data of people on request"
    ) in said
    assert "Follows answers: dice_told" in said
    await bot.hears("/plugins dice", language="zh")
    assert "可拒绝工具调用或要求询问用户" in about(bot, "dice")
