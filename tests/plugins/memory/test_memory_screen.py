"""The memory of chats: the screen, and the command that it uses."""

from pathlib import Path

import pytest

from agent_core.origin import CLEAN, named
from agent_core.tools.memory import Fact
from channels.base import ChatKey
from channels.memory import user
from gateway.admin.screen import NoSuchItem
from gateway.permissions.membership import By
from gateway.permissions.roles import Role
from gateway.plugins.memory.command import fact_id
from gateway.store.person import Account
from tests.gateway.admin.desk import AdminWorld, admin_world
from tests.gateway.admin.test_pages import act
from tests.gateway.facts import memory_of
from tests.page_server import say
from tests.plugins.beside import beside

XSS = "<img src=x onerror=alert(1)>"
BOB = ChatKey(platform="memory", account="here", chat="bob")
TEAM = ChatKey(platform="memory", account="here", chat="#team")


async def shown(world: AdminWorld, path: str = f"memory/{BOB}", status: int = 200) -> str:
    async with world.client() as client, client.get(f"/admin/{path}") as page:
        assert page.status == status
        return await page.text()


async def facts(world: AdminWorld, chat: ChatKey = BOB) -> list[Fact]:
    return await memory_of(world.bot, chat).facts()


async def test_an_empty_memory_says_how_facts_get_there(tmp_path: Path) -> None:
    async with admin_world(tmp_path) as world:
        assert "Nothing is remembered yet" in await shown(world, "memory")
        assert "I remember nothing of this chat yet" in await shown(world)
        await shown(world, "memory/nonsense", 404)


async def test_conversations_that_share_a_memory_are_listed_once(tmp_path: Path) -> None:
    async with admin_world(tmp_path, "Noted.", "Noted.") as world:
        async with world.client() as client:
            await say(client, "hello")
            await say(client, "hello", conversation="c-other-one")
        await world.bot.app.settled()
        page = await shown(world, "memory")
        assert page.count("/admin/memory/web%3Alocal%3Amain") == 1


async def test_a_fact_is_added_changed_and_forgotten(tmp_path: Path) -> None:
    async with admin_world(tmp_path) as world, world.client() as client:
        answer = await act(client, "/memory add", f"likes tea {XSS}", chat=str(BOB))
        assert "Remembered" in answer
        assert XSS not in answer
        page = await shown(world)
        assert "likes tea &lt;img src=x onerror=alert(1)&gt;" in page
        assert XSS not in page
        (first,) = await facts(world)
        assert f'value="/memory change {fact_id(first)}"' in page

        await act(client, f"/memory change {fact_id(first)}", "likes coffee", chat=str(BOB))
        (second,) = await facts(world)
        assert second.text == "likes coffee"

        answer = await act(client, f"/memory forget {fact_id(second)}", chat=str(BOB))
        assert await facts(world) == []
        assert "not any more" not in answer


@beside("undo")
async def test_what_was_done_to_a_fact_is_undone(tmp_path: Path) -> None:
    async with admin_world(tmp_path) as world, world.client() as client:
        await act(client, "/memory add", "likes tea", chat=str(BOB))
        (first,) = await facts(world)

        for done, words in (("change", ["likes coffee"]), ("forget", [])):
            answer = await act(client, f"/memory {done} {fact_id(first)}", *words, chat=str(BOB))
            number = answer.partition('value="/undo ')[2].partition('"')[0]
            await act(client, f"/undo {number}", chat=str(BOB))
            assert [each.text for each in await facts(world)] == [first.text]


async def test_a_fact_that_changed_meanwhile_is_not_overwritten(tmp_path: Path) -> None:
    async with admin_world(tmp_path) as world, world.client() as client:
        await act(client, "/memory add", "likes tea", chat=str(BOB))
        (first,) = await facts(world)
        await act(client, f"/memory change {fact_id(first)}", "likes coffee", chat=str(BOB))
        for verb in ("change", "forget"):
            assert "any more" in await act(client, f"/memory {verb} {fact_id(first)}", "x", chat=str(BOB))
        assert [each.text for each in await facts(world)] == ["likes coffee"]
        assert "at most 500" in await act(client, "/memory add", "x" * 501, chat=str(BOB))


async def test_a_fact_after_strangers_is_marked_until_a_person_rewrites_it(tmp_path: Path) -> None:
    async with admin_world(tmp_path) as world, world.client() as client:
        await memory_of(world.bot, BOB).remember("pay Eve", "Bob", named("page:evil.example"))
        page = await shown(world)
        assert "after text from evil.example" in page
        (fact,) = await facts(world)
        await act(client, f"/memory change {fact_id(fact)}", "do not pay Eve", chat=str(BOB))
        assert "evil.example" not in await shown(world)


async def test_admins_see_their_own_memory_only(tmp_path: Path) -> None:
    async with admin_world(tmp_path, "Hi", "Hi") as world:
        for name in ("bob", "carl"):
            await world.bot.hears("hello", sender=name)
            chat = world.bot.channel.chat(name)
            await memory_of(world.bot, chat).remember(f"{name} likes tea", name, CLEAN)
        made = world.bot.made
        account = Account("memory:carl", "Carl", world.bot.channel.chat("carl"))
        await made.people.membership.give(By(world.bot.channel.chat("ann"), user("ann")), account, Role.ADMIN)
        page = await world.seen_by_admin("memory")
        assert "Carl (memory)" in page
        assert "memory:here:bob" not in page
        assert "carl likes tea" in await world.seen_by_admin("memory/memory:here:carl")
        with pytest.raises(NoSuchItem):
            await world.seen_by_admin(f"memory/{BOB}")


async def test_in_a_group_members_read_and_admins_change(tmp_path: Path) -> None:
    async with admin_world(tmp_path) as world:
        await memory_of(world.bot, TEAM).remember("meets on Mondays", "Ann", CLEAN)
        await world.bot.channel.hears("/memory", sender=user("bob"), group="team")
        await world.bot.app.settled()
        assert "meets on Mondays" in world.bot.screen[-1]
        await world.bot.channel.hears("/memory add nonsense", sender=user("bob"), group="team")
        await world.bot.app.settled()
        assert "Only owners" in world.bot.screen[-1]
        await world.bot.channel.hears("/memory add lunch at noon", sender=user("ann"), group="team")
        await world.bot.app.settled()
        assert [each.text for each in await facts(world, TEAM)] == ["meets on Mondays", "lunch at noon"]
