"""Owners and admins see the last actions, in direct chats alone; admins read no words of others."""

from pathlib import Path

from agent_core.models.scripted import calls
from agent_core.tools.tool import tool
from gateway.records.audit_actions import last_actions
from tests.gateway.admin.desk import admin_world
from tests.gateway.conftest import StartBot
from tests.gateway.jobs.test_rights_of_jobs import LOCAL
from tests.process import until


@tool()
async def look(what: str) -> str:
    """Look at something."""
    return what


async def test_only_admins_may_and_only_in_a_direct_chat(start_bot: StartBot) -> None:
    bot = await start_bot()

    await bot.hears("/audit", sender="bob")
    assert bot.screen[-1] == "Only owners and admins can do this."
    await bot.hears("/audit", group="birds")
    assert bot.screen[-1].startswith("Other people can read this chat.")


async def test_an_admin_sees_in_the_audit_what_others_did_and_none_of_their_words(tmp_path: Path) -> None:
    looks = calls(("look", {"what": "merger"}))
    async with admin_world(tmp_path, looks, "Yes.", looks, "Yes.", tools=(look,)) as world:
        bot = world.bot
        await bot.hears("/role memory:carl admin")
        await bot.hears("look")
        await world.desk.run(LOCAL, bot.channel.chat("bob"), "/remind in 3 hours the merger", ())
        await until(lambda: len(last_actions(tmp_path, 9)) >= 3)
        await bot.hears("/audit", sender="carl")
        assert "look" in bot.screen[-1]
        assert "memory:ann" in bot.screen[-1]
        assert "admin" in bot.screen[-1], "changes of roles are his to know"
        assert "merger" not in bot.screen[-1]
        await bot.hears("look", sender="carl")
        await until(lambda: len(last_actions(tmp_path, 9)) >= 4)
        await bot.hears("/audit", sender="carl")
        assert bot.screen[-1].count("merger") == 1, "his own"
        await bot.hears("/audit")
        assert bot.screen[-1].count("merger") == 3
