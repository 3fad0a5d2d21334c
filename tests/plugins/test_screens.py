"""Plugins add screens to the page, which are guarded, masked and contained as Parley's own are."""

import asyncio
from collections.abc import Awaitable, Callable, Mapping, Sequence
from pathlib import Path
from typing import ClassVar

import pytest
from aiohttp import ClientSession
from structlog.testing import capture_logs

from channels.base import OutboundMessage
from gateway.admin import watch
from gateway.admin.icons import icon
from gateway.admin.screen import Group, NoSuchItem, Screen, View, Visit
from gateway.admin.screens.inbox import InboxScreen
from gateway.admin.tables import Action, Cell, Moment, Pick, PlainTable, tables_view
from gateway.app.chosen_plugins import own_plugins
from gateway.app.plugins import PluginFailed, screens_of
from gateway.chat.replies import Answer, Settling
from gateway.commands.command import Command, Invocation, reply
from gateway.permissions.rights import Right, always
from gateway.permissions.roles import Role
from gateway.plugin import Core, Plugin
from gateway.store.connection import Connection
from gateway.texts.say import LANGUAGES, say
from tests.gateway.admin.desk import admin_world
from tests.gateway.admin.test_chosen_rows import give
from tests.gateway.admin.test_pages import act
from tests.plugins.poll import Poll
from tests.postgres import execute

ATTACK = "<img src=x onerror=alert(1)>"


class Rolls:
    """A screen of plain tables, or of a template where there is one."""

    name = "rolls"

    def __init__(self, shows: Callable[[Visit], Awaitable[View]]) -> None:
        self._shows = shows

    async def view(self, visit: Visit) -> View:
        return await self._shows(visit)

    async def waiting(self) -> int:
        return 7


class Odd(Rolls):
    name = "odd"


class Spaced(Rolls):
    name = "my rolls"


async def plain(visit: Visit) -> View:
    if visit.item:
        raise NoSuchItem
    rows: list[list[Cell]] = [
        [ATTACK, 6, Moment(0.0), Action("/roll again", "Again")],
        ["b", 5, Moment(1.0), Action("/help", "Help")],
    ]
    return tables_view(
        PlainTable("Rolls", ["Who", "Eyes", "When", ""], rows, "none"),
        PlainTable("Coins", ["Who"], [], "No coins yet."),
        about="What was rolled.",
    )


def dice(shows: Callable[[Visit], Awaitable[View]], **more: object) -> type[Plugin]:
    """Return a plugin with a screen that shows this, and a command for owners."""

    class Dice(Plugin):
        name = "dice"
        texts: ClassVar[Mapping[str, Mapping[str, str]]] = {"page_rolls": {"en": "Rolled dice", "zh": "骰子"}}

        def __init__(self, core: Core) -> None:
            super().__init__(core)
            self.rolled = 0

        def screens(self) -> Sequence[Screen]:
            return [Rolls(shows)]

        async def roll(self, given: Invocation) -> OutboundMessage:
            return reply(f"rolled {given.arguments}")

        def commands(self) -> Sequence[Command]:
            right = Right("write", Role.OWNER, None, refusal="only_owners")
            return [Command("roll", {"en": "Roll", "zh": "掷骰子"}, self.roll, rights=always(right))]

    for name, value in more.items():
        setattr(Dice, name, value)
    return Dice


def with_dice(shows: Callable[[Visit], Awaitable[View]]) -> dict[str, object]:
    return {"plugins": (*own_plugins(), dice(shows))}


async def get(client: ClientSession, path: str, status: int = 200, language: str = "en") -> str:
    async with client.get(f"/admin/{path}", headers={"Accept-Language": language}) as answer:
        assert answer.status == status
        return await answer.text()


async def test_it_is_in_the_navigation_with_its_title_and_badge(tmp_path: Path) -> None:
    async with admin_world(tmp_path, **with_dice(plain)) as world, world.client() as client:
        text = await get(client, "inbox")
        entry = text[text.index('<a href="/admin/rolls">') :]
        assert "<span>Rolled dice</span>" in entry.partition("</a>")[0]
        assert text.index('id="group-system"') < text.index('<a href="/admin/rolls">'), "it names no group"
        assert '<span class="count" data-badge="rolls"><b>7</b>' in text
        assert "骰子" in await get(client, "rolls", language="zh")
        await get(client, "rolls/nothing", status=404)
        assert not world.desk.failures.of("dice")


async def test_one_that_names_a_group_and_an_icon_stands_there(tmp_path: Path) -> None:
    class Placed(Rolls):
        group = Group.WORK
        icon = "users"

    with_group = dice(plain, screens=lambda _: [Placed(plain)])
    async with admin_world(tmp_path, plugins=(*own_plugins(), with_group)) as world, world.client() as client:
        text = await get(client, "inbox")
        work = text[text.index('id="group-work"') : text.index('id="group-people"')]
        assert f'<a href="/admin/rolls">{icon("users")}<span>Rolled dice</span>' in work
    assert icon("no-such-icon") == icon("puzzle")


async def test_plain_tables_are_shown_escaped_with_times_and_buttons(tmp_path: Path) -> None:
    async with admin_world(tmp_path, **with_dice(plain)) as world, world.client() as client:
        text = await get(client, "rolls")
        assert ATTACK not in text
        assert "&lt;img" in text
        assert '<td data-label="Eyes" class="number">6</td>' in text
        assert '<time datetime="1970-01-01T01:00:00+01:00" title="1 Jan 1970 01:00:00 Europe/Paris">' in text
        assert "What was rolled." in text
        assert "No coins yet." in text
        assert 'value="/roll again"' in text
        assert "rolled again" in await act(client, "/roll again")


async def test_chosen_rows_of_a_plain_table_are_acted_on_by_who_may(tmp_path: Path) -> None:
    async def view(_: Visit) -> View:
        rows: list[list[Cell]] = [[Pick("one", "the first"), "1"], [Pick("two", ATTACK), "2"]]
        return tables_view(PlainTable("Rolls", ["", "Who"], rows, "none", each=[Action("/roll", "Roll them")]))

    async with admin_world(tmp_path, **with_dice(view)) as world, world.client() as client:
        text = await get(client, "rolls")
        assert '<button name="command" value="/roll" class="" hidden>Roll them</button>' in text
        assert 'value="&#9;one" aria-label="Choose: the first"' in text
        assert ATTACK not in text
        answer = await give(client, "/roll", [("", "one"), ("", "two")])
        assert "rolled one" in answer
        assert "rolled two" in answer
        assert 'class="choice"' not in await world.seen_by_admin("rolls")


async def test_a_table_with_the_title_of_its_screen_has_it_once(tmp_path: Path) -> None:
    async def view(visit: Visit) -> View:
        titles = (visit.say("page_rolls"), "More")
        return tables_view(*(PlainTable(title, ["Who"], [], "none") for title in titles))

    async with admin_world(tmp_path, **with_dice(view)) as world, world.client() as client:
        text = await get(client, "rolls")
        assert text.count("<h1>Rolled dice</h1>") == 1
        assert text.count("<h2>") == 1
        assert "<h2>More</h2>" in text


async def test_a_command_of_a_screen_writes_the_rows_that_its_answer_settles(tmp_path: Path) -> None:
    async with admin_world(tmp_path, plugins=(Poll,)) as world, world.client() as client:
        assert "lunch? Tea 0, Coffee 0" in await act(client, "/poll lunch?")
        assert execute(tmp_path, None, "SELECT question FROM poll_polls") == [("lunch?",)]


async def test_a_command_of_a_screen_whose_change_fails_says_so(tmp_path: Path) -> None:
    class Broken(Poll):
        async def ask(self, given: Invocation) -> Answer:
            def change(connection: Connection) -> OutboundMessage:
                connection.execute("INSERT INTO poll_polls (chat, question, closed) VALUES ('c', 'half', 0)")
                raise LookupError("the ballot box is lost")

            return Settling(change)

    async with admin_world(tmp_path, plugins=(Broken,)) as world, world.client() as client:
        assert "The plugin poll failed" in await act(client, "/poll lunch?")
        assert execute(tmp_path, None, "SELECT question FROM poll_polls") == []


async def test_who_may_not_give_a_command_is_not_offered_it(tmp_path: Path) -> None:
    async with admin_world(tmp_path, **with_dice(plain)) as world:
        text = await world.seen_by_admin("rolls")
        assert "/roll again" not in text
        assert 'value="/help"' in text


async def test_a_template_of_the_plugin_extends_those_of_parley(tmp_path: Path) -> None:
    file = tmp_path / "rolls.html"
    file.write_text('{% extends "base.html" %}{% block content %}<p>{{ word }} {{ t("page_rolls") }}</p>{% endblock %}')

    async def shows(_: Visit) -> View:
        return View(file, {"word": ATTACK})

    async with admin_world(tmp_path / "bot", **with_dice(shows)) as world, world.client() as client:
        text = await get(client, "rolls")
        assert "<p>&lt;img src=x onerror=alert(1)&gt; Rolled dice</p>" in text
        assert 'href="/admin/inbox"' in text


async def raises(_: Visit) -> View:
    raise RuntimeError("the secret reason")


async def leaves(_: Visit) -> View:
    raise SystemExit(3)


async def hangs(_: Visit) -> View:
    await asyncio.Event().wait()
    raise AssertionError


async def names_no_file(_: Visit) -> View:
    return View(Path("/nowhere/rolls.html"), {})


async def lacks_a_fact(_: Visit) -> View:
    return View("tables.html", {})


async def is_no_view(_: Visit) -> View:
    return "rolls"  # type: ignore[return-value]


@pytest.mark.parametrize("shows", [raises, leaves, hangs, names_no_file, lacks_a_fact, is_no_view])
async def test_one_that_fails_says_so_with_a_code_and_the_others_go_on(
    tmp_path: Path, shows: Callable[[Visit], Awaitable[View]], monkeypatch: pytest.MonkeyPatch
) -> None:
    if shows is hangs:
        monkeypatch.setattr(watch, "WAITS", 3.0)
    async with admin_world(tmp_path, **with_dice(shows)) as world, world.client() as client:
        with capture_logs() as logged:
            text = await get(client, "rolls", status=500)
        [entry] = [each for each in logged if each["event"] == "a screen failed" and each["plugin"] == "dice"]
        assert entry["screen"] == "rolls"
        assert f"under the code {entry['code']};" in text
        assert "the secret reason" not in text
        assert "Traceback" not in text
        assert 'href="/admin/inbox"' in text
        await get(client, "inbox")
        assert world.desk.failures.of("dice")[0].where == "/admin/rolls"


async def test_a_badge_that_fails_is_none(tmp_path: Path) -> None:
    class Broken(Rolls):
        async def waiting(self) -> int:
            raise RuntimeError

    plugin = dice(plain, screens=lambda _: [Broken(plain)])
    async with admin_world(tmp_path, plugins=(*own_plugins(), plugin)) as world, world.client() as client:
        assert '<span class="count" data-badge="rolls" hidden>' in await get(client, "inbox")


@pytest.mark.parametrize(
    ("more", "why"),
    [
        ({"texts": {}}, "the screen rolls has no title, the text page_rolls"),
        ({"texts": {"page_odd": {"en": "{eyes}", "zh": "{eyes}"}}, "screens": lambda _: [Odd(plain)]}, "KeyError"),
        ({"screens": lambda _: 1 / 0}, "ZeroDivisionError"),
        ({"screens": lambda _: None}, "should be of the type Iterable, not NoneType"),
        ({"screens": lambda _: [Rolls]}, "the screen rolls is a class, not an instance of one"),
        ({"screens": lambda _: [Spaced(plain)]}, "the name of the screen my rolls is not made of a-z"),
        ({"screens": lambda _: [Rolls(plain), Rolls(plain)]}, "two plugins have a screen rolls"),
    ],
)
async def test_what_cannot_be_a_screen_is_the_plugins_failure(
    tmp_path: Path, more: dict[str, object], why: str
) -> None:
    with pytest.raises(PluginFailed, match=why) as failed:
        async with admin_world(tmp_path, plugins=(dice(plain, **more),)):
            pass
    assert failed.value.plugin == "dice"


async def test_no_plugin_replaces_a_screen_of_parley(tmp_path: Path) -> None:
    class Inbox(Rolls):
        name = "inbox"

    title = {"page_inbox": {language: say("page_inbox", language) for language in LANGUAGES}}
    plugin = dice(plain, texts=title, screens=lambda _: [Inbox(plain)])
    async with admin_world(tmp_path, plugins=(plugin,)) as world:
        assert [type(each) for each in world.desk.screens if each.name == "inbox"] == [InboxScreen]


async def test_strangers_see_none_of_it(tmp_path: Path) -> None:
    async with (
        admin_world(tmp_path, **with_dice(plain)) as world,
        ClientSession(world.server.url) as stranger,
        stranger.get("/admin/rolls") as answer,
    ):
        assert "Rolled dice" not in await answer.text()


def test_without_screens_a_plugin_costs_nothing() -> None:
    assert screens_of([]) == {}
