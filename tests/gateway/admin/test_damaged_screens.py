"""A damaged word of one run hides nothing of the screens that list runs and chats."""

import asyncio
import shutil
from pathlib import Path

import pytest

from tests.gateway.admin.desk import admin_world
from tests.gateway.damaging import used
from tests.postgres import execute


@pytest.fixture(scope="module")
def ready(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A store that was used in many ways."""
    home = tmp_path_factory.mktemp("ready")
    asyncio.run(used(home))
    return home


@pytest.mark.parametrize("damage", ["reason = 'compmeted'", "chat = 'memory:here'", "chat = ''"])
async def test_every_screen_is_shown_beside_a_damaged_run(ready: Path, tmp_path: Path, damage: str) -> None:
    home = tmp_path / "home"
    shutil.copytree(ready, home)
    last = "(SELECT run FROM runs WHERE reason = 'completed' ORDER BY started DESC LIMIT 1)"
    execute(home, None, f"UPDATE runs SET {damage} WHERE run = {last}")  # noqa: S608

    async with admin_world(home) as world, world.client() as client:
        refused = []
        for screen in world.desk.screens:
            async with client.get(f"/admin/{screen.name}") as answer:
                refused += [screen.name] if answer.status != 200 else []
        assert refused == []
