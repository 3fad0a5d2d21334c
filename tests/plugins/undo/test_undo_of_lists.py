"""The list of the heartbeat, which a button replaces, is brought back."""

from gateway.permissions.workspaces import workspace_of
from gateway.schedule.heartbeat.checklist import NAME
from tests.gateway.heartbeat.beating import PLANTS
from tests.gateway.heartbeat.conftest import StartBeating
from tests.gateway.jobs.kit import ANN


async def test_the_list_that_was_there_before_can_be_brought_back(start_looking: StartBeating) -> None:
    bot = await start_looking()
    await bot.hears("/heartbeat on feed the cat")
    await bot.presses("Use this list")
    file = workspace_of(bot.home, ANN) / NAME
    assert "cat" in file.read_text()

    await bot.hears("/undo")
    assert bot.screen[-1] == f"Undone:\n- {NAME} is as it was before"
    assert file.read_text() == PLANTS
