"""The doctor reports whether programs can run in a sandbox here, and how to fix it where they cannot."""

import os
from pathlib import Path

from agent_core.sandbox.probe import NoLauncher, find_launcher
from channels.checkup import ok
from gateway.settings.settings import Settings
from gateway.upkeep.doctor.machine import look_at_sandbox


async def test_it_tries_to_shut_a_program_in_and_says_how_that_went(tmp_path: Path) -> None:
    found = await find_launcher(tmp_path / "scratch")
    home = tmp_path / "home"

    first, *others = await look_at_sandbox(Settings(home=home))

    if isinstance(found, NoLauncher):
        assert found.reason in first.what
        assert first.fix == found.fix
    else:
        assert first == ok(f"programs are sandboxed by {found.name}, without the network")
    assert [finding.what.startswith("PARLEY RUNS AS ROOT") for finding in others] == [True] * (os.geteuid() == 0)
    assert not home.exists()


async def test_it_says_where_programs_have_the_network(tmp_path: Path) -> None:
    first, *_ = await look_at_sandbox(Settings(home=tmp_path, commands_network=True))

    assert "without the network" not in first.what
