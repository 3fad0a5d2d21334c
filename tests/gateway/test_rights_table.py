"""Every form of every command, by role and place, against docs/people.md and docs/tools.md."""

import re
import sqlite3
from collections.abc import Callable
from contextlib import closing
from pathlib import Path

import pytest
from msgspec.structs import replace

from agent_core.clock import SystemClock
from agent_core.loop.permissions import Proposal
from agent_core.messages import AssistantMessage, StopReason, ToolCall, ToolResultMessage
from agent_core.origin import CLEAN, named
from agent_core.sandbox.process import ProcessSandbox
from agent_core.tools.catalogue import builtin_tools
from agent_core.tools.shell import run_command_tool
from agent_core.tools.tool import Tool
from agent_core.tools.web.fetch import Fetcher
from agent_core.tools.web.tools import web_fetch_tool
from channels.base import ChatKey, Sender
from channels.memory import NO_PACE, MemoryChannel, user
from channels.web.visitor import Visitor
from gateway.admin.screen import NoSuchItem, TakesForms, Visit
from gateway.permissions.policy import Policy
from gateway.permissions.rights import OTHERWISE, Place, Right
from gateway.permissions.roles import Role
from gateway.permissions.rules import Rules
from gateway.settings.permissions import PermissionSettings
from tests.agent_core.sandbox.running import PlainLauncher
from tests.gateway.admin.desk import admin_world
from tests.gateway.bot import Bot
from tests.gateway.conftest import StartBot
from tests.gateway.ruling import admit
from tests.process import REPOSITORY

PEOPLE = REPOSITORY / "docs" / "people.md"
TOOLS = REPOSITORY / "docs" / "tools.md"
HEAD = "| class | what | owner | admin | member | guest | tainted |"
STRICT = ("", "allow", "ask", "deny")
SPEAKERS = {"ann": Role.OWNER, "carl": Role.ADMIN, "bob": Role.MEMBER, "gus": Role.GUEST}
ELSEWHERE = {Place.VISITED, Place.OTHERS, Place.OWNERS}


def table_of(page: Path, head: str) -> dict[str, list[str]]:
    """Return the rows of a table by their first cell, without backticks."""
    rows = page.read_text("utf-8").partition(head)[2].splitlines()[2:]
    found = {}
    for row in rows:
        if not row.startswith("|"):
            break
        first, *rest = [cell.strip() for cell in row.strip("|").split("|")]
        found[first.strip("`")] = rest
    return found


def allowed(role: Role, acts: str) -> bool:
    """Return True if docs/tools.md does not deny people of this role what a class does."""
    words = table_of(TOOLS, HEAD)
    return acts == "talk" or words[acts][1 + list(Role).index(role)] != "deny"


@pytest.mark.parametrize("place", Place)
@pytest.mark.parametrize("role", Role)
async def test_no_form_of_a_command_is_wider_than_the_pages_say(start_bot: StartBot, role: Role, place: Place) -> None:
    bot, policy = await start_bot(), Policy()
    for command in bot.made.commands.table.commands:
        for form, right in command.rights.forms.items():
            if not policy.permits(right, role, place):
                continue
            assert allowed(role, right.acts), (command.name, form)
            if place in ELSEWHERE:
                assert role.is_at_least(Role.ADMIN), (command.name, form)
            if place is Place.OWNERS:
                assert role is Role.OWNER, (command.name, form)
            if place in {Place.VISITED, Place.OTHERS} and role is Role.ADMIN:
                told = PEOPLE.read_text("utf-8").partition("## On the page")[2]
                assert f"`/{command.name}`" in told, (command.name, form)


async def test_a_guest_does_by_command_what_the_page_allows_guests_and_nothing_else(start_bot: StartBot) -> None:
    bot = await start_bot()
    for name, role in SPEAKERS.items():
        if role is not Role.OWNER:
            await bot.hears(f"/role memory:{name} {role}")
    lines = ["/remind tomorrow at 9 call", "/cron add every day at 9:00 look", "/report chat", "/heartbeat on"]
    lines += ["/model default", "/think high", "/tz Asia/Tokyo", "/rename Garden"]
    lines += ["/compact", "/skill load chart", "/budget here 5 USD a day"]
    for line in lines:
        for group in (None, "team"):
            await bot.hears(line, sender="gus", group=group)
            assert "nly " in bot.screen[-1], (line, group, bot.screen[-1])
    for group in (None, "team"):
        chat = bot.channel.chat("gus", group=group)
        assert await bot.made.jobs.jobs.shown(chat) == []
        assert await bot.made.base.store.heartbeats.find(chat) is None


@pytest.mark.parametrize("gap", ["\t", "\n", "  ", "\u00a0", "\u3000", " \u202e"])
@pytest.mark.parametrize("spelt", [str.upper, str.title])
async def test_however_a_command_is_spelt_a_guest_sets_nothing(
    start_bot: StartBot, spelt: Callable[[str], str], gap: str
) -> None:
    bot = await start_bot(*["Well."] * 40, channel=MemoryChannel(limits=NO_PACE))
    await bot.hears("/role memory:gus guest")
    await bot.hears("/remind in 5 hours drink", group="team")
    set_by_ann = await bot.made.base.store.jobs.active()
    assert len(set_by_ann) == 1
    lines = ["/remind tomorrow at 9 call", "/cron add every day at 9:00 look", "/report chat", "/heartbeat on"]
    lines += [
        "/tz Asia/Tokyo",
        "/rules rm 1",
        f"/cron run {set_by_ann[0].id}",
        "/model test scripted",
    ]
    for line in lines:
        name, *words = line.split(" ")
        for group in (None, "team"):
            await bot.hears(spelt(f"{name} ") + gap.join(map(spelt, words)), sender="gus", group=group)
            await bot.hears(f"{spelt(name)}{gap}{gap.join(words)}", sender="gus", group=group)

    assert await bot.made.base.store.jobs.active() == set_by_ann
    for group in (None, "team"):
        chat = bot.channel.chat("gus", group=group)
        assert len(await bot.made.jobs.jobs.shown(chat)) == (1 if group else 0)
        assert await bot.made.base.store.heartbeats.find(chat) is None


FOR_ADMINS = [
    *("/allow memory:eve", "/role memory:bob admin", "/role memory:eve guest", "/block memory:carl"),
    *("/budget here 5 USD a day", "/budget me off", "/budget raise me 9 USD a day"),
    *("/model scripted everywhere", "/model default workspace", "/think high everywhere", "/think high workspace"),
    *(
        "/config set keep_days 60",
        "/skill load chart",
        "/skill lock chart",
        "/plugins approve dice",
        "/forget memory:carl",
    ),
]
"""Lines that members may give nowhere."""
FOR_ADMINS_OF_GROUPS = [
    *("/tz Asia/Tokyo", "/model scripted", "/think high", "/voice on"),
]


def kept(bot: Bot) -> dict[str, list[object]]:
    """Return what the lines for admins could change."""
    tables = ("accounts", "budgets", "chat_settings", "chat_skills", "heartbeats", "jobs", "people", "person_zones")
    with closing(sqlite3.connect(bot.home / "parley.db")) as connection:
        rows = {table: connection.execute(f"SELECT * FROM {table}").fetchall() for table in tables}  # noqa: S608
        rows["chats"] = connection.execute("SELECT chat, zone FROM chats WHERE zone IS NOT NULL").fetchall()
    return rows


@pytest.mark.parametrize("gap", [" ", "\t", "\n", "  ", "\u00a0", "\u3000", "\x1c", " \u202e"])
@pytest.mark.parametrize("spelt", [str.lower, str.upper, str.title])
async def test_however_a_command_is_spelt_a_member_sets_nothing_for_others(
    start_bot: StartBot, spelt: Callable[[str], str], gap: str
) -> None:
    bot = await start_bot(*["Well."] * 100, channel=MemoryChannel(limits=NO_PACE))
    for group in (None, "team"):
        await bot.hears("hello", sender="bob", group=group)
    before = kept(bot)
    for group, lines in {None: FOR_ADMINS, "team": [*FOR_ADMINS, *FOR_ADMINS_OF_GROUPS]}.items():
        for line in lines:
            name, *words = line.split(" ")
            await bot.hears(spelt(f"{name} ") + gap.join(map(spelt, words)), sender="bob", group=group)
            await bot.hears(f"{spelt(name)}{gap}{gap.join(words)}", sender="bob", group=group)
            assert kept(bot) == before, line


@pytest.mark.parametrize("line", ["/allow memory:eve", "/think high everywhere", "/budget here 5 USD a day"])
async def test_an_admin_sets_it(start_bot: StartBot, line: str) -> None:
    bot = await start_bot()
    await bot.hears("/role memory:carl admin")
    before = kept(bot)
    await bot.hears(line, sender="carl")
    assert kept(bot) != before


async def test_a_stranger_whom_a_group_admits_sets_no_job(start_bot: StartBot) -> None:
    bot = await start_bot()
    await admit(bot)
    for line in ("/cron add every 5 minutes tell all", "/remind in 5 minutes x", "/report chat", "/heartbeat on"):
        await bot.hears(line, sender="eve", group="team")
        assert bot.screen[-1] == "Only members, admins and owners can do this."
    assert await bot.made.base.store.jobs.active() == []


async def test_a_button_asks_the_same_table_as_the_command(start_bot: StartBot) -> None:
    bot = await start_bot()
    await admit(bot)
    await bot.hears("/cron add every day at 9:00 look", group="team")
    await bot.channel.presses("Confirm", sender="eve")
    await bot.app.settled()
    assert await bot.made.base.store.jobs.active() == []


async def test_suggestions_ask_the_same_table(start_bot: StartBot) -> None:
    bot = await start_bot()
    await bot.hears("/allow memory:gus guest")
    for command in bot.made.commands.table.commands:
        policy = Policy()
        is_offered = command in bot.made.commands.table.offered(Role.GUEST)
        can = [
            each
            for each in command.rights.forms.values()
            for place in (Place.DIRECT, Place.GROUP)
            if policy.permits(each, Role.GUEST, place)
        ]
        assert not is_offered or can, command.name


async def test_a_command_that_is_denied_by_the_settings_is_denied_to_all_but_owners() -> None:
    policy = Policy(PermissionSettings.model_validate({"owner": {"write": "deny"}, "user": {"write": "deny"}}))
    assert policy.permits(Right("write"), Role.OWNER, Place.DIRECT)
    assert policy.permits(Right("write"), Role.ADMIN, Place.DIRECT)
    assert not policy.permits(Right("write"), Role.MEMBER, Place.DIRECT)
    assert policy.permits(Right("talk"), Role.MEMBER, Place.DIRECT)


async def test_whose_private_chat_it_is_decides_and_an_unknown_one_counts_as_an_owners(start_bot: StartBot) -> None:
    bot = await start_bot("Hi.")
    await bot.hears("hello", sender="bob")
    access, carl = bot.made.people.access, user("memory:carl")
    await bot.hears("/role memory:carl admin")
    assert access.place(bot.channel.chat("bob"), user("bob")) is Place.DIRECT
    assert access.place(bot.channel.chat("bob"), carl) is Place.OTHERS
    assert access.place(bot.channel.chat("ann"), carl) is Place.OWNERS
    assert access.place(ChatKey(platform="memory", account="here", chat="nobody"), carl) is Place.OWNERS
    assert access.place(bot.channel.chat("bob", group="team"), carl) is Place.VISITED


async def test_every_command_says_what_its_other_forms_are(start_bot: StartBot) -> None:
    bot = await start_bot()
    for command in bot.made.commands.table.commands:
        assert OTHERWISE in command.rights.forms, command.name
        assert re.fullmatch(r"talk|read|write|net|exec|admin", command.rights.of("any words at all").acts)


WALKED = (web_fetch_tool(Fetcher(lambda *_: False)), run_command_tool(ProcessSandbox(PlainLauncher(), SystemClock())))
READ_OF_A_STRANGER = ToolResultMessage(tool_call_id="0", tool_name="x", content=(), origin=named("page:eve.example"))


def word_of(place: Place, tool: Tool, role: Role, rules: Rules, *, tainted: bool) -> str:
    """Return what is decided about a call of a tool, for somebody of a role in such a place."""
    who = next(name for name, each in SPEAKERS.items() if each is role)
    is_away = place in ELSEWHERE
    person = f"memory:{who}" if is_away else who
    chat = {Place.GROUP: "#team", Place.VISITED: "#team", Place.OTHERS: "oscar", Place.OWNERS: "olga"}.get(place, who)
    key = ChatKey(platform="memory", account="here", chat=chat)
    if is_away or place is Place.DIRECT:
        assert rules.access.place(key, Sender(id=person, name="")) is place
    call = ToolCall(id="1", name=tool.name, arguments={})
    before = (READ_OF_A_STRANGER,) if tainted else ()
    asked = AssistantMessage(content=(call,), stop_reason=StopReason.TOOL_USE, origin=CLEAN)
    return rules.of(Proposal(call, tool, Path("/w"), "s", str(key), person, (*before, asked))).behavior


@pytest.mark.parametrize("tainted", [False, True], ids=["clean", "tainted"])
@pytest.mark.parametrize("place", Place)
@pytest.mark.parametrize("role", Role)
async def test_no_tool_is_wider_than_the_page_says(
    start_bot: StartBot,
    role: Role,
    place: Place,
    tainted: bool,  # noqa: FBT001 - pytest fills it in
) -> None:
    bot = await start_bot(*["Hi."] * 2, tools=(*builtin_tools(SystemClock()), *WALKED))
    for name, given in [*SPEAKERS.items(), ("olga", Role.OWNER), ("oscar", Role.MEMBER)]:
        await bot.hears(f"/role memory:{name} {given}")
    for name in ("olga", "oscar"):
        await bot.hears("hello", sender=name)
    words = table_of(TOOLS, HEAD)
    tools = bot.made.chats.agents.parts.tools
    assert {each.acts for each in tools} >= {"read", "write", "net", "exec"}
    for tool in tools:
        told = words[tool.acts][1 + [*Role].index(role)]
        least = max(told, words[tool.acts][5] if tainted else "", key=STRICT.index)
        found = word_of(place, tool, role, bot.made.guards.rules, tainted=tainted)
        if place in ELSEWHERE and role is not Role.OWNER:
            assert found == "deny", tool.name
        elif not (tainted and tool.name in {"web_search", "web_fetch"}):
            assert STRICT.index(found) >= STRICT.index(least), (tool.name, found, least)


@pytest.mark.parametrize("role", [Role.ADMIN, Role.MEMBER, Role.GUEST])
async def test_no_screen_of_the_page_takes_a_form_from_anybody_but_owners(tmp_path: Path, role: Role) -> None:
    async with admin_world(tmp_path) as world:
        visitor = Visitor("memory:carl", "Carl")
        taking = [each for each in world.desk.screens if isinstance(each, TakesForms)]
        assert taking
        for screen in taking:
            offered = Visit(visitor, visitor.sender("You"), Role.OWNER, "en", "", {}, f"/admin/{screen.name}")
            places = (await screen.view(offered)).facts["places"]
            assert isinstance(places, list)
            assert places
            for item in [*(each.name for each in places), "", "nowhere"]:
                for do in ("begin", "answer", "leave", ""):
                    with pytest.raises(NoSuchItem):
                        await screen.submit(replace(offered, role=role, item=item), {"do": do, "number": "1"})
        assert await world.bot.made.base.store.jobs.active() == []
