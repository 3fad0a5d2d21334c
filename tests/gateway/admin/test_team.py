"""A team whose owner stays on the page: a stranger is let in, promoted, held up by a budget, explained and revoked."""

import asyncio
import re
from pathlib import Path

from aiohttp import ClientSession

from agent_core.models.scripted import Waits
from channels.memory import user
from gateway.permissions.roles import Role
from tests.agent_core.skills.making import library_of
from tests.clock import OffsetClock
from tests.gateway.admin.desk import AdminWorld, admin_world
from tests.gateway.admin.test_overview import NOON
from tests.gateway.admin.test_pages import act
from tests.gateway.peopled import Platform, role_of, told
from tests.process import REPOSITORY, until


async def form_on(client: ClientSession, screen: str, pattern: str) -> str:
    """Return the command of a form on a screen, waiting until it is there."""
    async with asyncio.timeout(30):
        while True:
            async with client.get(f"/admin/{screen}") as page:
                if found := re.search(rf'value="({pattern})"', await page.text()):
                    return found[1]


async def test_a_team_is_run_from_the_page(tmp_path: Path) -> None:
    late, clock = asyncio.Event(), OffsetClock.at(NOON)  # no midnight comes in between, at which budgets begin anew
    channel = Platform(now=clock.time)
    turns = ("At noon.", "I can look for flights.", "It is sunny.", Waits(late, "Too late."))
    async with (
        admin_world(tmp_path, *turns, clock=clock, channel=channel, skills=library_of(REPOSITORY / "skills")) as world,
        world.client() as client,
    ):
        bot = world.bot
        await bot.channel.hears("When is lunch?", sender=user("eve"))
        await act(client, await form_on(client, "inbox", r"/stranger guest \w+"))
        await until(lambda: told(bot, "eve")[-1] == "At noon.")
        assert role_of(bot, "eve") is Role.GUEST

        assert "Member, from now on." in await act(client, "/role memory:eve", "member")
        chat = str(bot.channel.chat("eve"))
        assert "is loaded" in await act(client, "/skill load", "chart", chat=chat)
        await bot.hears("Can you find flights?", sender="eve")

        await act(client, "/budget memory:eve", "10", "tokens", "a day")
        await bot.channel.hears("How is the weather?", sender=user("eve"))
        await until(lambda: "has no room" in told(bot, "eve")[-1])
        await act(client, "/budget raise memory:eve", "50000", "tokens", "a day")
        await until(lambda: told(bot, "eve")[-1] == "It is sunny.")
        assert "When is lunch?" in await act(client, "/sessions", chat=chat)

        await act(client, "/budget memory:eve", "100000", "tokens", "a day")
        await bot.channel.hears("Write a long story", sender=user("eve"))
        await until(lambda: len(bot.llm.requests) == len(turns))
        assert "No role, from now on." in await act(client, "/role memory:eve", "none")
        late.set()
        await bot.app.settled()
        assert role_of(bot, "eve") is None
        assert "Too late." not in told(bot, "eve")
        await until(lambda: _audited(world))  # the file is written a little later


def _audited(world: AdminWorld) -> bool:
    written = "".join(file.read_text() for file in (world.bot.home / "audit").glob("*.jsonl"))
    return "guest → member" in written
