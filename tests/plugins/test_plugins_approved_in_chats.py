"""Owners approve in a chat what is installed of a plugin of others, and it is loaded at the next start."""

import pytest

from gateway.records.audit_actions import Action, last_actions
from tests.end_to_end.platforms.catalogue import only
from tests.end_to_end.stage import Stage
from tests.gateway.conftest import StartBot
from tests.plugins.packages import Packages
from tests.plugins.test_plugins_command import FULL, about, begun
from tests.process import REPOSITORY, until


@pytest.fixture
def changed(packages: Packages) -> Packages:
    """Packages of which another version is installed than was approved."""
    packages.install(FULL)
    assert packages.chosen(["dice"]).others
    packages.install(FULL, version="1.1")
    return packages


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
    await bot.hears("/plugins dice")
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


async def test_the_approval_is_in_the_list_of_actions(start_bot: StartBot, changed: Packages) -> None:
    bot = await begun(start_bot, changed, "dice")
    await bot.hears("/plugins approve dice")

    def approvals() -> list[Action]:
        return [each for each in last_actions(bot.home, 2) if each.what == "plugins approve dice"]

    await until(lambda: bool(approvals()))  # the file is written a little later
    [action] = approvals()
    assert (action.status, action.person) == ("changed", "memory:ann")
    assert action.details.startswith("parley-dice 1.1, ")


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
    own_stage.net.lift_limits()
    ann, chat = own_stage.private("Ann")
    program.set("PARLEY_OWNERS", f"{own_stage.platform.facts.name}:{ann.id}")
    await own_stage.start()
    await chat.says(ann, "/roll")
    await chat.until(lambda seen: seen.screen[-1] == "4")
    await program.kill()

    packages.install(FULL.replace('reply("4")', 'reply("5")'), version="1.1")
    await own_stage.start()
    await chat.until(lambda seen: "Approve it only if you trust this version" in seen.screen[-1])  # said at the start
    await chat.says(ann, "/roll")
    await chat.until(lambda seen: "waits for your approval" in seen.screen[-1])
    await chat.says(ann, "/plugins approve dice")
    await chat.until(lambda seen: "It is loaded at the next start" in seen.screen[-1])
    await chat.says(ann, "/roll")
    await chat.until(lambda seen: "is approved, and loaded at the next start" in seen.screen[-1])
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
