"""Checks that programs can be sandboxed on this machine."""

import os
import tempfile
from collections.abc import Sequence
from pathlib import Path

from agent_core.sandbox.probe import NoLauncher, find_launcher
from channels.checkup import Finding, note, ok
from gateway.settings.settings import Settings


async def look_at_sandbox(settings: Settings) -> Sequence[Finding]:
    """Run a program in the sandbox, in a temporary folder."""
    with tempfile.TemporaryDirectory(prefix="parley-") as scratch:
        found = await find_launcher(Path(scratch), hidden=(settings.home, *settings.files))
    if isinstance(found, NoLauncher):
        findings = [note(f"no programs and no scripts of skills are run: {found.reason}", found.fix)]
    else:
        network = "with the network" if settings.commands_network else "without the network"
        findings = [ok(f"programs are run shut in by {found.name}, {network}")]
    if os.geteuid() == 0:
        findings.append(note("PARLEY RUNS AS ROOT: a mistake in it has every right", "give it a user of its own"))
    return findings
