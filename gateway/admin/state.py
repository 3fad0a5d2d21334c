"""Tells in a line each whether the model, the channels, the store and the backups are well, and what mends them."""

import asyncio
from collections.abc import Awaitable, Callable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import Literal

from msgspec import Struct

from agent_core.clock import Clock
from channels import discovery
from gateway.admin.screen import Visit
from gateway.settings.current import CurrentSettings
from gateway.texts.about import About
from gateway.upkeep.kept import kept

Mark = Literal["ok", "note", "problem"]
OLD = 2 * 86_400.0
"""Age in seconds from which on the newest backup is too old: one is made each night."""


class Line(Struct, frozen=True):
    """The state of one part.

    Attributes:
        mark: Whether it is well.
        what: The part.
        how: Its state.
        fix: What to do; empty if nothing is.
        link: The address where that is done.
        at: The moment that the state names, if it names one.
    """

    mark: Mark
    what: str
    how: str
    fix: str = ""
    link: str = ""
    at: float | None = None


class State(Struct, frozen=True):
    """Reads the state of a running Parley."""

    about: Callable[[], About]
    unready: Callable[[], Awaitable[Mapping[str, str]]]
    """Returns what is not ready, with reasons."""
    channels: Callable[[], Sequence[str]]
    """Returns the names of all channels."""
    resting: Callable[[], Mapping[str, float]]
    """Returns the models that have failed and are not asked for these seconds."""
    current: CurrentSettings
    clock: Clock
    home: Path

    @property
    def has_model(self) -> bool:
        """True if a model answers that is none that only plays one."""
        return self.about().is_ai

    def platforms(self) -> list[str]:
        """Return the titles of the connected chat platforms."""
        return [setup.title for name, setup in sorted(discovery.setups().items()) if name in self.channels()]

    async def lines(self, visit: Visit) -> list[Line]:
        """Return a line for each part."""
        unready = await self.unready()
        return [
            self._model(visit),
            *self._channels(visit, unready),
            self._store(visit, unready),
            await asyncio.to_thread(self._backup, visit),
        ]

    def _model(self, visit: Visit) -> Line:
        about, say, link = self.about(), visit.say, "/admin/connect/model"
        if not about.has_model:
            return Line("problem", say("state_model"), say("state_model_none"), say("state_model_connect"), link)
        if about.model in self.resting():
            how = say("state_model_rests", model=about.model)
            return Line("problem", say("state_model"), how, say("state_look"), "/admin/models")
        if not about.is_ai:
            return Line("problem", say("state_model"), say("state_model_plays"), say("state_model_connect"), link)
        return Line("ok", say("state_model"), about.model)

    def _channels(self, visit: Visit, unready: Mapping[str, str]) -> Iterator[Line]:
        say, what = visit.say, visit.say("state_channels")
        platforms = {name: each.title for name, each in sorted(discovery.setups().items()) if name in self.channels()}
        away = [name for name in platforms if name in unready]
        for name in away:
            yield Line("problem", platforms[name], say("state_channel_away"), say("state_look"), "/admin/health")
        if not platforms:
            yield Line("note", what, say("state_channels_none"), say("state_channels_connect"), "/admin/connect")
        elif not away:
            yield Line("ok", what, say("state_channels_all", names=", ".join(platforms.values())))

    def _store(self, visit: Visit, unready: Mapping[str, str]) -> Line:
        what = visit.say("state_store")
        for part in ("store", "disk"):
            if part in unready:
                how = visit.say(f"state_{part}_trouble")
                return Line("problem", what, how, visit.say("state_look"), "/admin/health")
        return Line("ok", what, visit.say("state_store_ok"))

    def _backup(self, visit: Visit) -> Line:
        """Return the state of the newest backup. Blocks."""
        say, what, link = visit.say, visit.say("state_backup"), "/admin/settings?q=backup"
        if not self.current.now.nightly_backups:
            return Line("note", what, say("state_backup_off"), say("state_backup_settings"), link)
        newest = next(iter(kept(self.home)), None)
        if newest is None:
            return Line("note", what, say("state_backup_none"))
        at = newest.stat().st_mtime
        if self.clock.time() - at > OLD:
            return Line("problem", what, say("state_backup_old"), say("state_look"), "/admin/log", at)
        return Line("ok", what, say("state_backup_ok"), at=at)
