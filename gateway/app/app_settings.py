"""The inputs of the composition: its settings, the system around it, and the store."""

import sys
from collections.abc import Callable, Mapping, Sequence, Set
from pathlib import Path

from msgspec import Struct, field

from agent_core.clock import Clock, NewId, SystemClock, new_id
from agent_core.sandbox.command import Launcher
from agent_core.tools.web.fetch import Fetcher
from channels.base import (
    ChatKey,
    Sender,
)
from channels.values import Standing
from gateway.app.chosen_plugins import ChosenPlugins, own_plugins
from gateway.app.peers import NoPeers
from gateway.cluster.protocols import Peers
from gateway.commands.page import Entrance
from gateway.permissions.groups import RULES
from gateway.permissions.request import new_request_id
from gateway.permissions.roles import People
from gateway.records.logs import Level, set_log_level
from gateway.runs.model_set import CurrentModels, ModelSource
from gateway.security.secrets import Secrets
from gateway.settings.current import CurrentSettings
from gateway.store.person import Person
from gateway.store.person_zones import PersonZone
from gateway.store.restores import Restored
from gateway.store.store import Store


class AppSettings(Struct, frozen=True):
    """The settings of a gateway."""

    current: CurrentSettings
    """The settings in force."""
    people: People
    secrets: Secrets | None = None
    """Values masked in every model, chat and console; None for those of the store."""
    tick_every: float | None = None
    """Longest time in seconds between two checks for due jobs; None for no checks but `Scheduler.tick`."""
    nightly: bool = False
    """Make backups and shorten old entries each night."""
    models: CurrentModels | None = None
    """The models in force; None for that of the agents' parts alone."""
    model_source: ModelSource = field(default_factory=ModelSource)
    """Chooses others when the settings change."""
    entrance: Entrance | None = None
    """The way into the page; None if it is off."""

    @property
    def home(self) -> Path:
        return self.current.now.home


def _to_standard_error(line: str) -> None:
    sys.stderr.write(f"{line}\n")


class System(Struct, frozen=True):
    """The surroundings of this process, such as the clock, the ids and the console; tests replace it."""

    clock: Clock = field(default_factory=SystemClock)
    new_id: NewId = new_id
    new_request_id: Callable[[], str] = new_request_id
    """Returns ids that users can type."""
    console: Callable[[str], None] = _to_standard_error
    """Shows a line to the operator."""
    set_log_level: Callable[[Level], None] = set_log_level
    fetcher: Fetcher = field(default_factory=Fetcher)
    """Downloads what people name, from the public web."""
    plugins: ChosenPlugins = field(default_factory=lambda: ChosenPlugins(own_plugins()))
    """The plugins to be made."""
    peers: Peers = field(default_factory=NoPeers)
    """The other processes on the database."""
    launcher: Launcher | None = None
    """Starts programs of plugins in a sandbox; None if none of them runs any."""


class Stored(Struct, frozen=True):
    """The store, and what was read from it at the start."""

    store: Store
    spoken_in: Set[str]
    """Chats in which Parley has posted."""
    restored: Restored | None
    """The last restore from a backup."""
    people: Sequence[Person] = ()
    """The people known from chats."""
    group_rules: Sequence[tuple[str, str, str]] = ()
    """Places, names and values of the rules of groups."""
    standings: Mapping[str, Standing] = field(default_factory=dict)
    """The standings of people whom groups admit by them."""
    zones: Mapping[str, str] = field(default_factory=dict)
    """The time zones of chats, by chat key."""
    person_zones: Mapping[str, PersonZone] = field(default_factory=dict)
    """The time zones of people as far as they are known, by account."""
    seen: Sequence[tuple[ChatKey, Sender, str]] = ()
    """Those who wrote last in the chats, with the names of groups, oldest first."""

    @classmethod
    async def of(cls, store: Store) -> "Stored":
        """Read it from the store."""
        return cls(
            store,
            await store.chats.spoken_in(),
            await store.restores.last(),
            await store.people.all(),
            await store.chat_settings.named(*RULES),
            await store.standings.all(),
            await store.chats.zones(),
            await store.person_zones.all(),
            await store.inbox.last_senders(),
        )
