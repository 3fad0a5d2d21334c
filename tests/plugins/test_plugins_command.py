"""/plugins tells which plugins there are, and lets owners approve what is installed of one of others."""

import re

import pytest
from structlog.testing import capture_logs

from gateway.app.chosen_plugins import own_plugins
from gateway.permissions.approved_plugins import ApprovedPlugins
from gateway.permissions.roles import People
from gateway.records.audit_actions import last_actions
from tests.end_to_end.platforms.catalogue import only
from tests.end_to_end.stage import Stage
from tests.gateway.bot import Bot
from tests.gateway.conftest import StartBot
from tests.gateway.peopled import Platform
from tests.plugins.packages import Packages
from tests.process import REPOSITORY, until

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


@pytest.fixture
def changed(packages: Packages) -> Packages:
    """Packages of which another version is installed than was approved."""
    packages.install(FULL)
    assert packages.chosen(["dice"]).others
    packages.install(FULL, version="1.1")
    return packages


async def begun(start_bot: StartBot, packages: Packages, *names: str, off: tuple[str, ...] = ()) -> Bot:
    return await start_bot(people=OWNED, channel=Platform(), plugins=packages.chosen(names, off))


def about(bot: Bot, name: str) -> str:
    """Return what the last list says of a plugin."""
    before, _, rest = bot.screen[-1].partition(f"- **{name}**")
    assert rest, before
    return rest.partition("\n- **")[0]


async def test_it_tells_what_each_plugin_is_of_and_adds(start_bot: StartBot, packages: Packages) -> None:
    packages.install(FULL)
    bot = await begun(start_bot, packages, "dice")

    await bot.hears("/plugins")

    approved = ApprovedPlugins(packages.home).approved("dice")
    assert approved is not None
    said = about(bot, "dice")
    assert f"(of others, parley-dice 1.0, digest `{approved.code}`): on" in said
    assert "Commands: /roll (reads, for all)" in said
    assert "Tools: roll_die (reads)" in said.replace("\\", "")
    assert "Duties: count rolls" in said
    for kind in own_plugins():
        assert "(comes with Parley): on" in about(bot, kind.name)


async def test_it_tells_what_is_off_or_left_out_and_why(start_bot: StartBot, packages: Packages, ours: str) -> None:
    packages.install("raise OSError('no dice here')")
    bot = await begun(start_bot, packages, "dice", off=(ours,))

    await bot.hears("/plugins")
    assert "(comes with Parley): switched off" in about(bot, ours)
    assert "left out: OSError: no dice here" in about(bot, "dice")

    await bot.hears("/plugins", language="zh")
    assert "（Parley 自带）：已停用" in about(bot, ours)


async def test_one_of_others_that_is_off_is_not_said_to_be_loaded_at_the_next_start(
    start_bot: StartBot, packages: Packages
) -> None:
    packages.install(FULL)
    bot = await begun(start_bot, packages, "dice")
    await bot.stop()
    bot = await begun(start_bot, packages, "dice", off=("dice",))

    await bot.hears("/plugins")

    assert re.search(r"\(of others, parley-dice 1\.0, digest `\w+`\): switched off", about(bot, "dice"))
    assert "next start" not in about(bot, "dice")


async def test_an_owner_approves_the_changed_one_by_a_button_and_it_is_loaded_at_the_next_start(
    start_bot: StartBot, changed: Packages
) -> None:
    bot = await begun(start_bot, changed, "dice")
    await bot.hears("/plugins")
    assert "parley-dice 1.1" in about(bot, "dice")
    assert "changed, waits for approval. Approved was 1.0" in about(bot, "dice")
    assert "Commands" not in about(bot, "dice")

    await bot.channel.presses("Approve dice")
    await bot.app.settled()

    assert "It is loaded at the next start" in bot.screen[-1]
    await bot.hears("/plugins")
    assert "approved, and loaded at the next start" in about(bot, "dice")
    assert changed.chosen(["dice"]).others.keys() == {"dice"}


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


async def test_an_owner_approves_it_by_its_name(start_bot: StartBot, changed: Packages) -> None:
    bot = await begun(start_bot, changed, "dice")

    await bot.hears("/plugins approve dice")

    assert "parley-dice 1.1" in bot.screen[-1]
    assert changed.chosen(["dice"]).others.keys() == {"dice"}


async def test_only_what_people_were_shown_is_approved_by_its_name(start_bot: StartBot, changed: Packages) -> None:
    bot = await begun(start_bot, changed, "dice")
    changed.install(FULL, version="1.2")

    await bot.hears("/plugins approve dice")
    assert "parley-dice 1.2" in bot.screen[-1]
    assert "waits for approval" in bot.screen[-1]
    assert changed.chosen(["dice"]).changed == {"dice"}

    await bot.hears("/plugins approve dice")
    assert "It is loaded at the next start" in bot.screen[-1]
    assert changed.chosen(["dice"]).others.keys() == {"dice"}


async def test_an_upgrade_beside_a_running_parley_needs_one_start(start_bot: StartBot, packages: Packages) -> None:
    packages.install(FULL)
    bot = await begun(start_bot, packages, "dice")
    packages.install(FULL, version="1.1")

    await bot.hears("/plugins")
    assert "parley-dice 1.0" in about(bot, "dice")
    assert "Installed now: of others, parley-dice 1.1" in about(bot, "dice")
    assert "It waits for approval" in about(bot, "dice")

    await bot.channel.presses("Approve dice")
    await bot.app.settled()
    await bot.hears("/roll")
    assert bot.screen[-1] == "4", "the former one goes on"
    await bot.hears("/plugins")
    assert "It is approved, and loaded at the next start" in about(bot, "dice")
    assert packages.chosen(["dice"]).others.keys() == {"dice"}


async def test_the_first_approval_and_the_refusal_of_a_start_are_in_the_list_of_actions(
    start_bot: StartBot, packages: Packages
) -> None:
    packages.install(FULL)
    bot = await begun(start_bot, packages, "dice")
    await bot.stop()
    packages.install(FULL, version="1.1")
    bot = await begun(start_bot, packages, "dice")
    await until(lambda: len(last_actions(bot.home, 2)) == 2)

    refused, approved = last_actions(bot.home, 2)

    assert (approved.what, approved.status, approved.person) == ("plugins approve dice", "changed", "Parley")
    assert approved.details.startswith("parley-dice 1.0, ")
    assert approved.details.endswith("; PARLEY_PLUGINS names it first")
    assert (refused.what, refused.status, refused.decided_by) == ("plugins load dice", "denied", "rule")
    assert refused.details.startswith("found parley-dice 1.1, digest ")


async def test_it_tells_of_one_that_is_installed_and_not_named_without_importing_it(
    start_bot: StartBot, packages: Packages
) -> None:
    packages.install(f"open({str(packages.home / 'imported')!r}, 'w').close()\n{FULL}")
    bot = await begun(start_bot, packages)

    await bot.hears("/plugins dice")

    assert "(of others): installed, but not loaded: PARLEY_PLUGINS does not name it." in about(bot, "dice")
    assert not (packages.home / "imported").exists()


async def test_the_approval_is_in_the_list_of_actions(start_bot: StartBot, changed: Packages) -> None:
    bot = await begun(start_bot, changed, "dice")
    await bot.hears("/plugins approve dice")
    await until(lambda: last_actions(bot.made.base.home, 1))  # the file is written a little later

    await bot.hears("/audit")

    assert "**plugins approve dice** parley-dice 1.1, " in bot.screen[-1].replace("\\", "")


async def test_it_tells_the_last_failure_of_each_command_duty_and_moment(
    start_bot: StartBot, packages: Packages
) -> None:
    packages.install(
        FULL.replace('return reply("4")', 'raise ValueError("the die is broken")').replace(
            "            pass", '            raise OSError("it cannot count")'
        )
        + """
    def admitted(self, event):
        if "drop" in getattr(event, "text", ""):
            raise RuntimeError("it fell")
"""
    )
    bot = await begun(start_bot, packages, "dice")

    async def is_told(said: str) -> None:
        await bot.hears("/plugins")
        assert said in about(bot, "dice"), about(bot, "dice")

    await until(lambda: bool(bot.made.base.system.plugins.failures.of("dice")))
    await is_told("in count rolls: OSError: it cannot count")
    await bot.hears("/roll")
    await is_told("in /roll: the die is broken")
    await bot.hears("drop")
    await is_told("in admitted: RuntimeError: it fell")
    await bot.hears("/roll")
    await is_told("in /roll: the die is broken")
    assert re.search(r"Failed 2 times, last [\d: -]+, in /roll", about(bot, "dice"))
    await is_told("in admitted: RuntimeError: it fell")
    await is_told("in count rolls: OSError: it cannot count")


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


async def test_a_button_for_other_files_approves_nothing(start_bot: StartBot, changed: Packages) -> None:
    bot = await begun(start_bot, changed, "dice")

    await bot.hears("/plugins approve dice 0123456789ab")

    assert "waits for approval" in bot.screen[-1]
    assert changed.chosen(["dice"]).changed == {"dice"}


@pytest.mark.parametrize("name", ["dice", "nothing", "*"])
async def test_what_does_not_wait_cannot_be_approved(start_bot: StartBot, packages: Packages, name: str) -> None:
    packages.install(FULL)
    bot = await begun(start_bot, packages, "dice")

    await bot.hears(f"/plugins approve {name}")

    assert "waits for approval. /plugins lists all." in bot.screen[-1]


@only("telegram", "slack", "discord")
async def test_an_upgrade_is_approved_in_a_chat_and_answers_after_the_next_start(
    own_stage: Stage, packages: Packages
) -> None:
    packages.install(FULL)
    program = own_stage.program
    program.forked = False
    program.set("PYTHONPATH", f"{REPOSITORY}:{packages.folder}")
    program.set("PARLEY_PLUGINS", "dice")
    ann, chat = own_stage.private("Ann")
    program.set("PARLEY_OWNERS", f"{own_stage.platform.facts.name}:{ann.id}")
    await own_stage.start()
    await chat.says(ann, "/roll")
    await chat.until(lambda seen: seen.screen[-1] == "4")
    await program.kill()

    packages.install(FULL.replace('reply("4")', 'reply("5")'), version="1.1")
    await own_stage.start()
    await chat.says(ann, "/roll")
    await chat.until(lambda seen: "Unknown command" in seen.screen[-1])
    await chat.says(ann, "/plugins approve dice")
    await chat.until(lambda seen: "It is loaded at the next start" in seen.screen[-1])
    await chat.says(ann, "/roll")
    await chat.until(lambda seen: "Unknown command" in seen.screen[-1])
    await program.kill()

    await own_stage.start()
    await chat.says(ann, "/roll")
    await chat.until(lambda seen: seen.screen[-1] == "5")


async def test_others_than_owners_approve_nothing(start_bot: StartBot, changed: Packages) -> None:
    bot = await begun(start_bot, changed, "dice")

    await bot.hears("/plugins approve dice", sender="bob")
    assert bot.screen[-1] == "Only owners can do this."
    await bot.hears("/plugins", sender="bob")
    assert "dice" not in bot.screen[-1]

    await bot.hears("/role bob admin")
    await bot.hears("/plugins approve dice", sender="bob")
    assert bot.screen[-1] == "Only owners can do this."
    assert changed.chosen(["dice"]).changed == {"dice"}


async def test_an_approval_that_cannot_be_kept_is_told(start_bot: StartBot, changed: Packages) -> None:
    bot = await begun(start_bot, changed, "dice")
    (changed.home / "plugins.json").unlink()
    (changed.home / "plugins.json").mkdir()

    await bot.hears("/plugins approve dice")

    assert "could not be written to Parley's folder" in bot.screen[-1]


@pytest.mark.parametrize(
    ("language", "words"), [("en", "is not what was approved"), ("zh", "已安装的内容与批准的不同")]
)
async def test_owners_are_told_of_a_changed_one_in_their_language(
    start_bot: StartBot, changed: Packages, language: str, words: str
) -> None:
    bot = await begun(start_bot, changed, "dice")
    await bot.hears("/status", language=language)

    await bot.restart()

    await until(lambda: any(words in line and "parley-dice 1.1" in line for line in bot.screen))
