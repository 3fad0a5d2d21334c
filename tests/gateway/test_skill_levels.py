"""Skills that a channel, a workspace or the whole installation keeps loaded."""

import shutil
from pathlib import Path

from gateway.texts.say import say
from tests.gateway.conftest import StartBot
from tests.gateway.test_skill_commands import folder, library, prompt, write_skill

__all__ = ["folder"]


async def test_a_skill_is_loaded_for_a_whole_workspace_and_a_chat_makes_an_exception(
    start_bot: StartBot, folder: Path
) -> None:  # D-13
    bot = await start_bot(*["Yes."] * 8, skills=library(folder))
    await bot.hears("hello", sender="bob")
    assert "CHARTS" not in prompt(bot)

    await bot.hears("/skill load chart workspace")
    assert bot.screen[-1] == "**chart** is loaded in this whole workspace, until it is unloaded by command."
    await bot.hears("hello", sender="bob")
    assert "CHARTS" in prompt(bot)
    await bot.hears("hello", group="team", thread="one")
    assert "CHARTS" in prompt(bot)

    await bot.hears("/skill unload chart", group="team", thread="one")
    await bot.hears("hello", group="team", thread="one")
    assert "CHARTS" not in prompt(bot)
    await bot.restart()
    await bot.hears("hello", group="team", thread="one")
    assert "CHARTS" not in prompt(bot)
    await bot.hears("hello", sender="bob")
    assert "CHARTS" in prompt(bot)

    await bot.hears("/skill unload chart workspace")
    assert bot.screen[-1] == "**chart** is unloaded in this whole workspace."
    await bot.hears("hello", sender="bob")
    assert "CHARTS" not in prompt(bot)


async def test_what_a_chat_loaded_itself_stays_when_a_wider_level_ends(start_bot: StartBot, folder: Path) -> None:
    bot = await start_bot(*["Yes."] * 3, skills=library(folder))
    await bot.hears("/skill load chart everywhere")
    await bot.hears("/skill load chart")
    await bot.hears("/skill unload chart everywhere")

    await bot.hears("hello")

    assert "CHARTS" in prompt(bot)


async def test_levels_are_for_admins_and_for_shared_skills(start_bot: StartBot, folder: Path) -> None:
    bot = await start_bot(skills=library(folder))

    await bot.hears("/skill load chart everywhere", sender="bob")
    assert bot.screen[-1] == say("skill_not_yours", "en")
    await bot.hears("/skill load nothing everywhere")
    assert bot.screen[-1].startswith("There is no skill nothing here.")
    await bot.hears("/skill unload chart channel")
    assert bot.screen[-1] == "**chart** was not loaded in this channel and its threads by command."


async def test_a_level_never_loads_a_skill_that_was_written_in_a_chat(start_bot: StartBot, folder: Path) -> None:
    bot = await start_bot("Hello.", skills=library(folder))
    await bot.hears("/skill load chart everywhere")
    shutil.rmtree(folder / "chart")
    own = bot.made.files.workspaces.folder(bot.channel.chat()) / "skills"
    write_skill(own, "chart", body="EVIL")

    await bot.restart()
    await bot.hears("hello")

    assert "EVIL" not in prompt(bot)
