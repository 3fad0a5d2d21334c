"""The button on the page's screen of a run tells how that run came about."""

from pathlib import Path

from agent_core.models.scripted import calls
from channels.memory import user
from tests.gateway.admin.desk import admin_world
from tests.gateway.admin.test_pages import act
from tests.gateway.admin.test_runs import only_run, shown
from tests.gateway.approving import acting, asked, recorder

RUNS = calls(("run", {"command": ["cat", "sales.csv"]}))


async def test_it_tells_who_approved_a_call(tmp_path: Path) -> None:
    tool, _ = recorder()
    async with admin_world(tmp_path, RUNS, "Done!", tools=(tool,)) as world, world.client() as client:
        request, chat = await asked(world.bot, sender=user("bob")), str(world.bot.channel.chat("bob"))
        await act(client, f"/approve {request}", chat=chat)
        await world.bot.app.settled()
        run = await only_run(world)

        assert f'value="/why {run}"' in await shown(world, f"runs/{run}")
        assert "approved by" in await act(client, f"/why {run}", chat=chat)


async def test_an_admin_is_not_offered_it_for_a_run_of_somebody_else(tmp_path: Path) -> None:
    async with admin_world(tmp_path, RUNS, "Done!", tools=(acting("read"),)) as world:
        await world.bot.hears("go", sender="bob")

        assert "/why" not in await world.seen_by_admin(f"runs/{await only_run(world)}")
