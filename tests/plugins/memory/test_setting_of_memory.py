"""Owners share a memory if the files say so, under the former name of the setting too."""

from pathlib import Path

import pytest

from gateway.plugins.memory.settings import MemorySettings
from gateway.settings.settings import load_settings
from tests.gateway.conftest import StartBot


@pytest.mark.parametrize(
    ("name", "warnings"), [("PARLEY_PLUGIN_MEMORY_SHARED", 0), ("PARLEY_SHARED_MEMORY", 1)], ids=["now", "formerly"]
)
async def test_it_is_shared_if_the_files_say_so(tmp_path: Path, name: str, warnings: int) -> None:
    loaded = load_settings({"PARLEY_HOME": str(tmp_path), name: "on"}, tmp_path)

    assert [each for each in loaded.plugin.values() if isinstance(each, MemorySettings)] == [
        MemorySettings(shared=True)
    ]
    assert len(loaded.warnings) == warnings


async def test_it_needs_a_restart(start_bot: StartBot) -> None:
    bot = await start_bot()

    await bot.hears("/config set shared_memory on")

    assert "needs a restart" in bot.screen[-1]
