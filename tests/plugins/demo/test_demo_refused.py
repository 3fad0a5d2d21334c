"""The demo model says why a call of it was refused."""

from pathlib import Path

import pytest

from gateway.app.chosen_plugins import own_plugins
from tests.gateway.conftest import StartBot
from tests.gateway.test_config import loaded
from tests.plugins.gate import REFUSED, Guard


@pytest.mark.parametrize(
    "wish", ["remind me in 20 minutes to dust vault/", "send me a report of vault/ every day at 9:00"]
)
async def test_what_refuses_a_plan_is_said_and_not_that_its_time_is_missing(
    start_bot: StartBot, tmp_path: Path, wish: str
) -> None:
    bot = await start_bot(loaded=loaded(tmp_path), plugins=(*own_plugins(), Guard))
    await bot.hears("/config set model demo")

    await bot.hears(wish)

    assert bot.screen[-1] == f"That did not work: {REFUSED}"
