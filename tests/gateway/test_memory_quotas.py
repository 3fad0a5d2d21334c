"""Programs that run at once in one chat, or for one user, share a memory limit."""

import asyncio
import sys
from dataclasses import dataclass
from pathlib import Path

import pytest

from agent_core.clock import SystemClock
from agent_core.messages import text_of
from agent_core.models.scripted import Calls, calls
from agent_core.sandbox.command import Launcher
from agent_core.sandbox.limits import CommandLimits
from agent_core.sandbox.process import ProcessSandbox
from agent_core.tools.shell import run_command_tool
from agent_core.tools.tool import Tool, ToolContext, ToolEnvironment
from channels.base import ChatKey
from gateway.permissions.policy import Policy
from gateway.permissions.workspaces import Versions
from gateway.settings.limits import MB, QuotaSettings
from tests.agent_core.sandbox.running import LAUNCHERS, PlainLauncher, launcher_called
from tests.gateway.approving import last_result
from tests.gateway.conftest import StartBot
from tests.gateway.tasking import IN_BACKGROUND, Cast, begins, in_background
from tests.process import until

pytestmark = pytest.mark.skipif(sys.platform != "linux", reason="looks into /proc")

COMMAND = CommandLimits(seconds=60, all_memory_bytes=300 * MB)
OF_A_CHAT = QuotaSettings(chat_memory_mb=300, reserve_mb=0)
OF_A_PERSON = QuotaSettings(person_memory_mb=300, reserve_mb=0)
HELD = 180_000_000
HOLDS = f"""
import sys, time
from pathlib import Path
held = b"x" * {HELD}
while not Path(sys.argv[1]).exists():
    time.sleep(0.05)
"""
"""Uses less than a command may, but two of them exceed the shared limit."""


@dataclass
class Programs:
    """Runs the tool in several chats of one installation."""

    versions: Versions
    tool: Tool

    async def run(self, room: str, person: str, until_there: str) -> str:
        chat = self.versions.of(room_called(room))
        context = ToolContext(until_there, ToolEnvironment("s", chat.workspace, user_id=person, keeper=chat))
        arguments = self.tool.validate({"argv": ["python3", "-I", "-S", "-c", HOLDS, until_there]})
        return text_of((await self.tool.execute(arguments, context)).content)

    def is_seen(self, room: str, person: str) -> bool:
        """Return True if all memory of a running program has been measured.

        With a part of it measured, a second program could still be within the limit while the first grows, and the
        first would be the one that exceeds it.
        """
        return any(
            pool.left_to(self) <= 300 * MB - HELD
            for pool in self.versions.of(room_called(room)).quota.room(person).pools
        )

    def allow_end(self, room: str, name: str) -> None:
        (self.versions.of(room_called(room)).workspace / name).touch()


def room_called(name: str) -> ChatKey:
    return ChatKey(platform="memory", account="here", chat=name)


def programs(place: Path, quotas: QuotaSettings, launcher: Launcher) -> Programs:
    tool = run_command_tool(ProcessSandbox(launcher, SystemClock()), limits=lambda: COMMAND)
    return Programs(Versions(place / "home", SystemClock(), quotas=lambda: quotas), tool)


@pytest.mark.in_turn("name", LAUNCHERS)
@pytest.mark.parametrize(
    ("quotas", "rooms", "people", "whose"),
    [
        pytest.param(OF_A_CHAT, ("one", "one"), ("bob", "carl"), "this chat", id="one chat"),
        pytest.param(OF_A_PERSON, ("one", "two"), ("bob", "bob"), "this person in all chats", id="one person"),
    ],
)
async def test_the_program_that_goes_over_is_ended_and_the_other_goes_on(
    tmp_path: Path, name: str, quotas: QuotaSettings, rooms: tuple[str, str], people: tuple[str, str], whose: str
) -> None:
    house = programs(tmp_path, quotas, await launcher_called(name, tmp_path / "scratch"))
    first = asyncio.create_task(house.run(rooms[0], people[0], "first"))
    await until(lambda: house.is_seen(rooms[0], people[0]))
    said = await house.run(rooms[1], people[1], "second")
    assert f"killed for using more memory than the programs of {whose} may use together: 300 MB" in said
    assert "of which the others use 1" in said

    house.allow_end(rooms[0], "first")
    assert (await first).startswith("[exit code 0")


async def test_a_helper_in_the_background_shares_with_the_answer_of_its_chat(start_bot: StartBot) -> None:
    def hold(until_there: str) -> Calls:
        return calls(("run_command", {"argv": ["python3", "-I", "-S", "-c", HOLDS, until_there]}))

    cast = Cast(begins("hold"), IN_BACKGROUND, hold("second"), "Ended.", tasks={"hold": [hold("first"), "Held."]})
    tool = run_command_tool(ProcessSandbox(PlainLauncher(), SystemClock()), limits=lambda: COMMAND)
    bot = await start_bot(*cast.turns, tools=(tool,), quotas=OF_A_CHAT, policy=Policy(shut_in=lambda _: True))
    versions = bot.made.files.versions
    await bot.channel.hears("hold it in the background")
    await until(lambda: Programs(versions, tool).is_seen("ann", "ann"))
    await in_background(bot)
    await bot.channel.hears("and once more")
    await bot.channel.until(lambda: "Ended." in bot.screen)
    assert "killed for using more memory than the programs of this chat may use together" in last_result(bot)

    Programs(versions, tool).allow_end("ann", "first")
    await bot.app.settled()
    assert "Held." in cast.told[0]


async def test_what_a_program_has_used_is_free_when_it_has_ended(tmp_path: Path) -> None:
    house = programs(tmp_path, OF_A_CHAT, await launcher_called("plain", tmp_path))
    pool = house.versions.of(room_called("one")).quota.room("bob").pools[0]
    for name in ("first", "second"):
        running = asyncio.create_task(house.run("one", "bob", name))
        await until(lambda: house.is_seen("one", "bob"))
        house.allow_end("one", name)
        assert (await running).startswith("[exit code 0")
        assert pool.left_to(house) == 300 * MB


async def test_other_people_in_other_chats_share_nothing(tmp_path: Path) -> None:
    quotas = QuotaSettings(chat_memory_mb=300, person_memory_mb=300, reserve_mb=0)
    house = programs(tmp_path, quotas, await launcher_called("plain", tmp_path))
    both = [asyncio.create_task(house.run(room, person, "end")) for room, person in (("one", "bob"), ("two", "carl"))]
    await until(lambda: house.is_seen("one", "bob") and house.is_seen("two", "carl"))
    house.allow_end("one", "end")
    house.allow_end("two", "end")
    assert [said.startswith("[exit code 0") for said in await asyncio.gather(*both)] == [True, True]
