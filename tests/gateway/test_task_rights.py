"""A task runs with the rights of the person for whom it was begun."""

from pathlib import Path

from msgspec.structs import replace

from agent_core.clock import SystemClock, new_id
from channels.base import ChatKey
from gateway.runs.attempts import MOST_DEATHS
from gateway.store.store import Store
from tests.gateway.conftest import StartBot
from tests.gateway.dying import died
from tests.gateway.tasking import Cast, states
from tests.gateway.test_task_recovery import COUNT

TEAM = ChatKey(platform="memory", account="here", chat="#team")


async def test_an_admin_has_no_task_of_an_owner_go_on(start_bot: StartBot, tmp_path: Path) -> None:
    task = replace(COUNT, chat=TEAM)
    async with Store.open(tmp_path, SystemClock(), new_id) as store:
        await store.tasks.add(task)
        await store.tasks.start(task)
        await died(store, task.run, MOST_DEATHS - 1)
    bot = await start_bot(*Cast(tasks={"count": ["42 files."]}).turns)
    await bot.app.settled()
    await bot.hears("/role memory:carl admin")

    for sender, state in (("carl", "killed"), ("ann", "completed")):
        await bot.hears("/tasks continue abc123", sender=sender, group="team")
        await bot.app.settled()
        assert states(bot.home) == [state]
