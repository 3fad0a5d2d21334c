"""The palette's answers: what is found by which words, and what is not found by whom."""

from pathlib import Path

from aiohttp import ClientSession

from channels.web.visitor import Visitor
from gateway.admin.screen import Visit
from gateway.permissions.roles import Role
from tests.gateway.admin.desk import AdminWorld, admin_world

SECRET = "sk-live-0123456789abcdef"  # noqa: S105


async def found(client: ClientSession, words: str, language: str = "en") -> list[tuple[str, str, str]]:
    async with client.get("/admin/api/find", params={"q": words}, headers={"Accept-Language": language}) as answer:
        assert answer.status == 200
        return [(each["kind"], each["title"], each["link"]) for each in (await answer.json())["found"]]


async def test_everything_is_found_by_its_words_in_both_languages(tmp_path: Path) -> None:
    async with admin_world(tmp_path) as world, world.client() as client:
        conversations = world.bot.made.base.store.conversations
        conversations.heard(Visitor().chat("c-plums-and-pears"), "How dear are plums?", 1.0)
        await world.bot.hears("/allow memory:zoe")
        assert ("Screen", "Models", "/admin/models") in await found(client, "models")
        assert ("页面", "模型", "/admin/models") in await found(client, "模型", "zh-CN")
        assert ("Person", "memory:zoe", "/admin/people?q=memory%3Azoe") in await found(client, "zoe")
        assert ("Setting", "Nightly backups that are kept", "/admin/settings?q=backups") in await found(
            client, "backup"
        )
        assert ("设置", "时区", "/admin/settings?q=timezone") in await found(client, "时区", "zh-CN")
        assert ("Command", "/status", "/?text=/status%20") in await found(client, "/status")
        assert any(kind == "Chat" and link == "/#c-plums-and-pears" for kind, _, link in await found(client, "plums"))
        assert {kind for kind, _, _ in await found(client, "")} == {"Screen"}
        assert await found(client, "zz9") == []


async def test_a_secret_that_became_known_later_is_masked(tmp_path: Path) -> None:
    async with admin_world(tmp_path) as world, world.client() as client:
        world.bot.made.base.store.conversations.heard(Visitor().chat("c-plums-and-pears"), f"key {SECRET}", 1.0)
        await world.bot.hears("/allow memory:zoe")
        assert SECRET in str(await found(client, "key"))
        world.bot.made.base.secrets.add(SECRET)
        assert "Chat" in str(await found(client, "key"))
        assert SECRET not in str(await found(client, "key"))


async def test_an_admin_finds_no_conversation_of_others(tmp_path: Path) -> None:
    async with admin_world(tmp_path) as world:
        conversations = world.bot.made.base.store.conversations
        conversations.heard(Visitor().chat("c-plums-and-pears"), "How dear are plums?", 1.0)
        assert "plums?" not in await _as_admin(world, "dear")


async def _as_admin(world: AdminWorld, words: str) -> str:
    await world.seen_by_admin("overview")
    visitor = Visitor("memory:carl", "Carl")
    visit = Visit(visitor, visitor.sender("You"), Role.ADMIN, "en", "", {"q": words}, "")
    return str(await world.desk.feeds["find"](visit))
