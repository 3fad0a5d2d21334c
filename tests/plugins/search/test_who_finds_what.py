"""Guests, linked accounts, admins and the forgotten: whose words a search finds for whom."""

from pathlib import Path

import pytest

from channels.base import Sender
from gateway.admin.desk import CommandRefused
from tests.gateway.admin.desk import admin_world
from tests.gateway.conftest import StartBot
from tests.gateway.jobs.test_rights_of_jobs import admin
from tests.gateway.test_forget import WORD, erases, talked
from tests.gateway.test_links import linked

GROUP = "team"


async def test_guests_find_only_what_was_said_in_conversations_of_theirs(start_bot: StartBot) -> None:
    bot = await start_bot("A salary.", "A tulip.")
    await bot.hears("/allow memory:gus guest")
    await bot.hears("@parley the salary of Carl in spring", sender="bob", group=GROUP)
    await bot.hears("/new", group=GROUP)
    await bot.hears("@parley a flower in spring", sender="gus", group=GROUP)

    await bot.hears("/search spring", sender="gus", group=GROUP)
    assert "flower" in bot.screen[-1]
    assert "salary" not in bot.screen[-1]

    await bot.hears("/search spring", sender="bob", group=GROUP)
    assert "salary" in bot.screen[-1]


async def test_a_guest_finds_nothing_of_a_group_by_a_conversation_in_another(start_bot: StartBot) -> None:
    bot = await start_bot("One.", "Two.")
    await bot.hears("/allow memory:gus guest")
    await bot.hears("@parley in spring here", sender="gus", group="birds")
    await bot.hears("@parley in spring there", sender="bob", group=GROUP)

    await bot.hears("/search spring", sender="gus", group=GROUP)

    assert "in spring" not in bot.screen[-1]


async def test_two_members_who_are_one_person_find_each_others_direct_chats(start_bot: StartBot) -> None:
    bot = await start_bot("A cactus needs little.")
    await bot.hears("how much water for the cactus?", sender="bob")
    assert (await linked(bot, "bob", "carl")).startswith("Linked: `memory:bob`, `memory:carl`")

    await bot.hears("/search cactus", sender="carl")

    assert "how much water for the cactus?" in bot.screen[-1]


async def test_on_the_page_owners_search_the_chats_of_others_and_admins_no_owners_chat(tmp_path: Path) -> None:
    async with admin_world(tmp_path, "Your secret is safe.", "Mine too.") as world:
        await world.bot.hears("my secret is plum", sender="bob")
        await world.bot.hears("and mine is pear")
        ann, bob = world.bot.channel.chat("ann"), world.bot.channel.chat("bob")

        owner = Sender(id="local", name="You")
        assert "my secret is plum" in str(await world.desk.run(owner, bob, "/search plum", ()))
        with pytest.raises(CommandRefused, match="page_not_your_chat"):
            await world.desk.run(await admin(world), ann, "/search pear", ())


async def test_what_was_erased_is_found_no_more(start_bot: StartBot) -> None:
    bot = await talked(start_bot)
    await erases(bot)

    await bot.hears(f"/search {WORD}", sender="bob")

    assert bot.screen[-1].startswith("No message has all of these words")
