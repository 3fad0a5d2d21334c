"""A heartbeat never runs with more rights than the people have who can write its list."""

from pathlib import Path

import pytest

from agent_core.messages import ToolResultMessage, text_of
from agent_core.models.scripted import calls
from agent_core.tools.catalogue import file_tools
from channels.memory import MemoryChannel
from gateway.permissions.access import Access
from gateway.permissions.policy import Policy
from gateway.permissions.roles import Role, Roles
from gateway.permissions.rules import Rules
from gateway.settings.permissions import PermissionSettings, Row
from tests.clock import FakeClock
from tests.gateway.admin.desk import admin_world
from tests.gateway.bot import PEOPLE
from tests.gateway.heartbeat.beating import NOTHING, Beating
from tests.gateway.heartbeat.conftest import StartBeating
from tests.gateway.jobs.kit import ANN, TEAM, stopped_clock

DEFAULT = PermissionSettings()
READS = calls(("read_file", {"path": "plans.md"}))
LIST = "- [ ] read plans.md\n"


async def look_in_the_team(bot: Beating) -> None:
    bot.writes(LIST, chat=TEAM)
    bot.writes("Our plans.", "plans.md", chat=TEAM)
    await bot.hears("/heartbeat on", group="team")
    await bot.hears("/heartbeat now", group="team")


def result(bot: Beating) -> str:
    return next(
        text_of(message.content)
        for message in bot.llm.requests[-1].messages
        if isinstance(message, ToolResultMessage) and message.tool_name == "read_file"
    )


async def test_in_a_group_an_owners_heartbeat_has_the_rights_of_a_member(start_beating: StartBeating) -> None:
    policy = Policy(PermissionSettings(user={**DEFAULT.user, "read": "deny"}))
    bot = await start_beating(READS, NOTHING, clock=stopped_clock(), tools=file_tools(), policy=policy)
    await look_in_the_team(bot)

    assert "That is not allowed here." in result(bot)


async def test_with_the_usual_rights_it_reads_what_its_list_names(start_beating: StartBeating) -> None:
    bot = await start_beating(READS, NOTHING, clock=stopped_clock(), tools=file_tools())
    await look_in_the_team(bot)

    assert "Our plans." in result(bot)
    assert "read_history" in {tool.name for tool in bot.llm.requests[0].tools}


async def test_where_guests_write_the_list_it_does_not_read_what_others_said(start_beating: StartBeating) -> None:
    policy = Policy(PermissionSettings(guest={**DEFAULT.guest, "write": "ask"}))
    bot = await start_beating(READS, NOTHING, clock=stopped_clock(), tools=file_tools(), policy=policy)
    await look_in_the_team(bot)

    assert "read_history" not in {tool.name for tool in bot.llm.requests[0].tools}


@pytest.mark.parametrize(
    ("guest", "user", "weakest"),
    [
        (DEFAULT.guest, DEFAULT.user, Role.MEMBER),
        ({**DEFAULT.guest, "write": "ask"}, DEFAULT.user, Role.GUEST),
        ({**DEFAULT.guest, "sandboxed": "ask"}, DEFAULT.user, Role.GUEST),
        (DEFAULT.guest, {**DEFAULT.user, "write": "deny", "exec": "deny", "sandboxed": "deny"}, Role.ADMIN),
        (DEFAULT.guest, {**DEFAULT.user, "write": "deny"}, Role.MEMBER),
    ],
)
def test_the_weakest_writer_of_a_group_is_the_least_role_that_can_have_files_changed(
    guest: Row, user: Row, weakest: Role
) -> None:
    policy = Policy(PermissionSettings(guest=dict(guest), user=dict(user)))
    rules = Rules(policy, Access(Roles(PEOPLE), [MemoryChannel()], [], FakeClock()))

    assert rules.weakest_writer(TEAM, "ann") is weakest
    assert rules.weakest_writer(ANN, "ann") is Role.OWNER


async def test_in_somebodys_private_chat_it_has_the_rights_of_that_person(tmp_path: Path) -> None:
    async with admin_world(tmp_path, "Hi.") as world:
        await world.bot.hears("hello", sender="bob")
        rules = world.bot.made.guards.rules

        assert rules.weakest_writer(world.bot.channel.chat("bob"), "memory:ann") is Role.MEMBER
        assert rules.weakest_writer(world.bot.channel.chat("nobody"), "memory:ann") is Role.GUEST
