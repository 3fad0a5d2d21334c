"""A guest in a group sees only the conversations that they took part in."""

from tests.gateway.conftest import StartBot

GROUP = "team"


async def test_titles_and_ids_of_others_are_not_shown_to_guests(start_bot: StartBot) -> None:
    bot = await start_bot("A salary.", "A tulip.", "A rose.", "Nothing found.")
    await bot.hears("/allow memory:gus guest")
    await bot.hears("@parley the salary of Carl in spring", sender="bob", group=GROUP)
    [secret] = await bot.made.base.store.sessions.of(bot.channel.chat("bob", group=GROUP), 5)
    await bot.hears("/new", group=GROUP)
    await bot.hears("@parley a flower in spring", sender="gus", group=GROUP)

    await bot.hears("/sessions", sender="gus", group=GROUP)
    assert "flower" in bot.screen[-1]
    assert "salary" not in bot.screen[-1]
    assert secret.id[:6] not in str(bot.screen[-1])

    await bot.hears(f"/resume {secret.id[:6]}", sender="gus", group=GROUP)
    assert "salary" not in bot.screen[-1]

    await bot.hears("/sessions", sender="bob", group=GROUP)
    assert "salary" in bot.screen[-1]


async def test_a_guest_does_not_leave_a_group_by_a_conversation_of_another_group(start_bot: StartBot) -> None:
    bot = await start_bot("One.", "Two.")
    await bot.hears("/allow memory:gus guest")
    await bot.hears("@parley in spring here", sender="gus", group="birds")
    await bot.hears("@parley in spring there", sender="bob", group=GROUP)

    await bot.hears("/sessions", sender="gus", group=GROUP)

    assert "in spring" not in bot.screen[-1]
