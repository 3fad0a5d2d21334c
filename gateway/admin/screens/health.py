"""The screen of health: version, uptime, the state of channels, and the findings of `parley doctor`."""

import asyncio
import os
import sys
from collections.abc import Awaitable, Callable, Mapping, Sequence
from pathlib import Path

from gateway.admin.screen import Group, View, Visit
from gateway.security.secrets import Secrets
from gateway.texts.about import About
from gateway.texts.findings import finding_in
from gateway.texts.say import Language

CHECK_SECONDS = 60.0
_MARKS = {"✓": "ok", "·": "note", "✗": "problem"}


class HealthScreen:
    """Shows what is connected and ready, and runs `parley doctor` when asked to."""

    name = "health"
    group = Group.SYSTEM
    icon = "heart-pulse"

    def __init__(
        self,
        about: Callable[[], About],
        unready: Callable[[], Awaitable[Mapping[str, str]]],
        channels: Callable[[], Sequence[str]],
        home: Path,
        secrets: Secrets,
    ) -> None:
        """`unready` returns what is not ready, with reasons; `channels` the names of all channels."""
        self._about = about
        self._unready = unready
        self._channels = channels
        self._home = home
        self._secrets = secrets

    async def view(self, visit: Visit) -> View:
        """Return the state, with the doctor's findings if the query asks for them."""
        about = self._about()
        findings = await self._examined(visit.language) if visit.is_owner and visit.query.get("check") else None
        facts = {
            "about": about,
            "unready": await self._unready(),
            "channels": self._channels(),
            "findings": findings,
        }
        return View("health.html", facts)

    async def _examined(self, language: Language) -> list[tuple[str, str, str]]:
        """Return mark, words and fix of each finding. A process of its own looks, as this one holds the locks."""
        environ = {**os.environ, "PARLEY_HOME": str(self._home)}
        process = await asyncio.create_subprocess_exec(
            sys.executable,
            "-m",
            "gateway.cli",
            "doctor",
            env=environ,
            stdin=asyncio.subprocess.DEVNULL,
            stdout=asyncio.subprocess.PIPE,
            stderr=asyncio.subprocess.DEVNULL,
        )
        try:
            async with asyncio.timeout(CHECK_SECONDS):
                out, _ = await process.communicate()
        except TimeoutError:
            process.kill()
            await process.wait()
            return [("problem", f"no answer for {CHECK_SECONDS:g} s", "parley doctor")]
        lines = [self._secrets.mask(line) for line in out.decode("utf-8", "replace").splitlines()]
        return [_finding(line, language) for line in lines]


def _finding(line: str, language: Language) -> tuple[str, str, str]:
    what, _, fix = line.lstrip("".join((*_MARKS, " "))).partition(" → ")
    return _MARKS.get(line[:1], "note"), finding_in(what, language), finding_in(fix, language)
