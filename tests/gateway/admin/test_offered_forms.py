"""The admin pages offer a visitor no form that would be refused."""

import re
from dataclasses import replace
from html import unescape
from pathlib import Path

from channels.base import ChatKey, Sender
from channels.web.visitor import Visitor
from gateway.admin.screen import Visit
from gateway.permissions.membership import By
from gateway.permissions.roles import Role
from gateway.store.job import Heartbeat
from gateway.store.person import Account
from tests.gateway.admin.desk import AdminWorld, admin_world
from tests.gateway.admin.test_schedules import NINE
from tests.gateway.test_skill_install import shared

_FORM = re.compile(r'<form class="act" hx-post="/admin/act".*?</form>', re.DOTALL)
_FIELD = re.compile(r'name="(command|chat)" value="([^"]*)"')
_CHOICES = re.compile(r'<select name="(command|chat)"[^>]*>(.*?)</select>', re.DOTALL)
_VALUE = re.compile(r'<option(?: value="([^"]*)")?[^>]*>([^<]*)')
CARL = Visitor("memory:carl", "Carl")


def chosen(form: str, name: str) -> list[str]:
    """Return the values that a field of a form can have."""
    found = [value for field, value in _FIELD.findall(form) if field == name]
    for field, options in _CHOICES.findall(form):
        if field == name:
            found += [each[2] if each[1] is None else each[1] for each in _VALUE.finditer(options) if each[1] != ""]
    return [unescape(each) for each in found]


def offered(html: str) -> set[tuple[str, str]]:
    """Return the commands of a page's forms, each with the chats in which it can be given; `…` stands for inputs."""
    return {
        (f"{command} …" if 'name="arguments"' in form else command, chat)
        for form in _FORM.findall(html)
        for command in chosen(form, "command")
        for chat in chosen(form, "chat")
    }


async def filled(world: AdminWorld) -> None:
    """Let there be a job and a heartbeat in chats of an owner, of a member and of a group, and an admin."""
    bot = world.bot
    for name, person, group in (("aaa111", "ann", None), ("bbb222", "bob", None), ("ccc333", "bob", "team")):
        await bot.hears("hello", sender=person, group=group)
        chat = bot.channel.chat(person, group=group)
        assert await bot.made.base.store.jobs.add(replace(NINE, id=name, chat=chat, person=person))
        await bot.made.base.store.heartbeats.save(Heartbeat(chat, person, name))
    by = By(bot.channel.chat("ann"), Sender(id="ann", name="Ann"))
    await bot.made.people.membership.give(by, Account("memory:carl"), Role.ADMIN)


async def page_for(world: AdminWorld, path: str, visitor: Visitor, role: Role) -> str:
    name, _, item = path.partition("/")
    screen = world.desk.screen(name)
    assert screen is not None
    visit = Visit(visitor, visitor.sender("You"), role, "en", item, {}, f"/admin/{path}")
    return world.desk.templates.page(visit, await screen.view(visit), screen=name)


async def test_an_admin_is_offered_what_ends_a_job_of_a_member_and_nothing_about_an_owners(tmp_path: Path) -> None:
    async with admin_world(tmp_path, "Hi.", "Hi.", "Hi.") as world:
        await filled(world)
        of_admin = offered(await page_for(world, "schedules", CARL, Role.ADMIN))
        of_owner = offered(await page_for(world, "schedules", Visitor(), Role.OWNER))

        ann, bob = str(world.bot.channel.chat("ann")), str(world.bot.channel.chat("bob"))
        assert {("/cron pause bbb222", bob), ("/cron rm bbb222", bob)} <= of_admin
        assert ("/cron run bbb222", bob) not in of_admin
        assert [chat for _, chat in of_admin if chat == ann] == []
        assert {("/cron run aaa111", ann), ("/cron run bbb222", bob), ("/heartbeat now", ann)} <= of_owner
        assert "New time" not in await page_for(world, "schedules/bbb222", CARL, Role.ADMIN)
        assert "New time" in await page_for(world, "schedules/bbb222", Visitor(), Role.OWNER)


async def test_no_screen_offers_an_admin_a_form_that_is_refused(tmp_path: Path) -> None:
    async with admin_world(tmp_path, "Hi.", "Hi.", "Hi.", skills=shared(tmp_path)) as world:
        await filled(world)
        screens = [each.name for each in world.desk.screens]
        paths = [*screens, "schedules/aaa111", "schedules/ccc333", "skills/chart"]
        found = [(path, *each) for path in paths for each in offered(await page_for(world, path, CARL, Role.ADMIN))]
        assert len(found) > len(screens)

        for path, line, chat in found:
            name, _, arguments = line.removeprefix("/").partition(" ")
            at = ChatKey.parse(chat) if chat else CARL.chat()
            assert world.bot.made.commands.table.refusal(at, CARL.sender("You"), name, arguments) == "", (
                path,
                line,
                chat,
            )
