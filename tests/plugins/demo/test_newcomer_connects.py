"""A newcomer gets from the clone to a bot on Telegram without an editor."""

from pathlib import Path

import pytest

from tests import connecting
from tests.end_to_end.newcomer import Newcomer
from tests.end_to_end.program import Program
from tests.end_to_end.typist import Startable
from tests.process import until

MOST_ACTIONS = 9

pytestmark = pytest.mark.timeout(150)


async def test_nine_actions_lead_from_the_clone_to_the_first_answer(tmp_path: Path) -> None:
    async with connecting.telegram() as telegram:
        program = Program(tmp_path, {"PARLEY_WEB_PORT": "0", **telegram.environ})

        async def listening(_: Startable) -> None:
            await until(lambda: "  Page " in program.console)

        newcomer = Newcomer(telegram, lambda _: program, listening, ["git clone ... && cd parley"])
        await newcomer.reaches_the_first_answer()

        assert len(newcomer.actions) <= MOST_ACTIONS
        assert "demo, no AI" in program.console
