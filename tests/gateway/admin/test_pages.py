"""The admin pages: who may see them, what a change is, and that every screen is complete."""

import hashlib
from contextlib import suppress
from pathlib import Path

import pytest
from aiohttp import ClientSession

from channels.base import ChatKey, Sender
from channels.memory import user
from channels.web.visitor import Visitor
from gateway.admin.desk import CommandRefused
from gateway.admin.pages import FILES, STATIC
from gateway.admin.screen import View, Visit
from gateway.permissions.membership import By
from gateway.permissions.roles import Role
from gateway.records.audit_actions import last_actions
from gateway.store.person import Account
from tests.gateway.admin.desk import AdminWorld, admin_world


async def act(client: ClientSession, command: str, *arguments: str, chat: str = "") -> str:
    """Submit a form, and return the part of the page that answers."""
    fields = [("command", command), ("chat", chat), *(("arguments", each) for each in arguments)]
    async with client.post("/admin/act", data=fields) as answer:
        assert answer.status == 200, await answer.text()
        return await answer.text()


async def audited(world: AdminWorld) -> list[str]:
    """Return what the audit file says was changed."""
    await world.bot.made.base.audit.close()
    return [f"{each.person} {each.what}" for each in last_actions(world.bot.home, 100)]


async def test_every_screen_is_shown_in_both_languages(tmp_path: Path) -> None:
    async with admin_world(tmp_path) as world, world.client() as client:
        async with client.get("/admin/") as first:
            assert first.status == 200
            names = [part.partition('"')[0] for part in (await first.text()).split('href="/admin/')[1:]]
        for name in names:
            if name.startswith("static/"):
                continue
            for language in ("en", "zh"):
                async with client.get(f"/admin/{name}", headers={"Accept-Language": language}) as page:
                    assert page.status == 200, name
                    text = await page.text()
                    assert f'<html lang="{language}">' in text
                    assert " style=" not in text, "the content security policy forbids inline styles"
                    assert "<script>" not in text
                    assert " on" + "click=" not in text


async def test_a_change_is_a_command_with_the_rights_and_the_audit_of_one(tmp_path: Path) -> None:
    async with admin_world(tmp_path) as world, world.client() as client:
        assert "memory:zoe" in await act(client, "/allow", "memory:zoe", "guest")
        person = world.bot.made.people.roles.person("memory:zoe")
        assert person is not None
        assert person.role == "guest"
        assert person.by == "web:local"
        await act(client, "/tz", "Asia/Tokyo")
        assert await audited(world) == ["web:local /tz", "web:local role memory:zoe"]  # each once


async def test_what_only_the_chat_can_answer_is_refused_and_not_recorded_as_done(tmp_path: Path) -> None:
    async with admin_world(tmp_path, "Hello!") as world, world.client() as client:
        await world.bot.channel.hears("hello", sender=user("ann"))
        await world.bot.app.settled()

        assert "Write this in the chat itself" in await act(client, "/retry", chat=str(world.bot.channel.chat("ann")))

        assert await audited(world) == []


async def test_a_command_for_another_chat_is_given_there(tmp_path: Path) -> None:
    async with admin_world(tmp_path, "Hello!") as world, world.client() as client:
        await world.bot.channel.hears("hello", sender=user("ann"))
        await world.bot.app.settled()
        chat, zones = world.bot.channel.chat("ann"), world.bot.made.people.zones
        assert "Asia/Tokyo" in await act(client, "/tz", "Asia/Tokyo", chat=str(chat))
        assert str(zones.of(chat)) == "Asia/Tokyo"
        assert str(zones.of(world.bot.channel.chat("bob"))) == "Europe/Paris"


@pytest.mark.parametrize(
    ("command", "chat", "answer"),
    [
        ("hello", "", "no such action"),
        ("/no_such_command", "", "no such action"),
        ("/status", "telegram:1:2", "not connected"),
        ("/status", "nonsense", "no such page"),
        (f"/rename {'x' * 30_000}", "", "too long"),
    ],
)
async def test_what_is_no_action_gets_a_sentence(tmp_path: Path, command: str, chat: str, answer: str) -> None:
    async with admin_world(tmp_path) as world, world.client() as client:
        assert answer in await act(client, command, chat=chat)


async def test_the_pages_are_not_there_before_the_gateway_runs_and_for_strangers(tmp_path: Path) -> None:
    async with admin_world(tmp_path) as world:
        async with ClientSession(world.server.url) as stranger, stranger.get("/admin/people") as refused:
            assert refused.status == 403
        async with world.client() as client, client.get("/admin/no-such-screen") as missing:
            assert missing.status == 404
            shown = await missing.text()
            assert "There is no such page" in shown
            assert '<a href="/">' in shown, "there is a way back"


@pytest.mark.parametrize(("language", "words"), [("en", "This screen failed."), ("zh-CN", "这个页面出错了。")])
async def test_a_screen_that_fails_says_so_and_all_others_go_on(tmp_path: Path, language: str, words: str) -> None:
    async def fails(_: Visit) -> View:
        raise ValueError("no such luck")

    async with admin_world(tmp_path) as world, world.client() as client:
        client.headers["Accept-Language"] = language
        for screen in world.desk.screens:
            with pytest.MonkeyPatch.context() as patch:
                patch.setattr(screen, "view", fails, raising=True)
                async with client.get(f"/admin/{screen.name}") as answer:
                    text = await answer.text()
            assert answer.status == 500
            assert words in text
            assert "no such luck" not in text
            assert all(f'href="/admin/{each.name}"' in text for each in world.desk.screens)


def test_vendored_files_are_the_released_ones() -> None:
    """Their versions, licences and hashes are in VENDORED.md."""
    said = (STATIC / "VENDORED.md").read_text("utf-8")
    icons = [f"icons/{each.name}" for each in (STATIC / "icons").glob("*.svg")]
    assert icons
    for name in (*FILES, *icons):
        if ".min." in name or name in icons:
            assert hashlib.sha256((STATIC / name).read_bytes()).hexdigest() in said, name


async def test_an_admin_learns_nothing_from_chats_of_others_by_commands(tmp_path: Path) -> None:
    async with admin_world(tmp_path, "Your secret is safe.") as world:
        await world.bot.hears("my secret is plum", sender="bob")
        made, carl = world.bot.made, Sender(id="memory:carl", name="Carl")
        owner = By(ChatKey(platform="web", account="local", chat="main"), Sender(id="local", name="You"))
        await made.people.membership.give(owner, Account("memory:carl"), Role.ADMIN)
        others = (world.bot.channel.chat("bob"), owner.chat, Visitor("memory:bob").chat("other"))
        for chat in others:
            for name in [command.name for command in made.commands.table.commands]:
                for words in ("", " pear", " list", " add every day at 9 pear", " on"):
                    with suppress(CommandRefused):
                        assert "plum" not in str(await world.desk.run(carl, chat, f"/{name}{words}", ()))
            assert await made.jobs.jobs.shown(chat) == []
        assert await world.desk.run(carl, Visitor("memory:carl").chat(), "/whoami", ()) is not None
        assert "plum" in str(await world.desk.run(owner.sender, others[0], "/sessions", ()))
