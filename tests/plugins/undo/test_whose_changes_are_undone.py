"""People undo what was changed for them; only owners undo what was changed for others."""

from agent_core.models.scripted import calls
from agent_core.tools.catalogue import file_tools
from tests.gateway.conftest import StartBot

WRITES = calls(("write_file", {"path": "tea.txt", "content": "bob likes tea"}))


async def test_a_guest_undoes_nothing(start_bot: StartBot) -> None:
    bot = await start_bot()
    await bot.hears("/role memory:gus guest")
    for group in (None, "team"):
        await bot.hears("/undo 1", sender="gus", group=group)
        assert "nly " in bot.screen[-1], group


async def test_an_admin_undoes_no_change_of_others(start_bot: StartBot) -> None:
    bot = await start_bot(WRITES, "Done.", tools=file_tools())
    await bot.hears("/role memory:carl admin")
    await bot.hears("write it down", sender="ann", group="room")
    for line in ("/undo 1", "/undo 1 anyway", "/undo"):
        await bot.hears(line, sender="carl", group="room")
        assert not bot.screen[-1].startswith("Undone"), line
    await bot.hears("/undo list", sender="carl", group="room")
    assert "tea" not in bot.screen[-1]
    await bot.hears("/undo 1", group="room")
    assert bot.screen[-1].startswith("Undone")
