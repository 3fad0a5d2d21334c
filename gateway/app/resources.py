"""Opens what every way of running Parley needs: the model, the store, the sandbox and the plugins."""

import asyncio
from collections.abc import AsyncIterator, Mapping
from contextlib import AbstractAsyncContextManager, AsyncExitStack, asynccontextmanager

from msgspec import Struct

from agent_core.clock import Clock, SystemClock, new_id
from agent_core.sandbox.command import Launcher
from agent_core.sandbox.probe import NoLauncher, find_launcher
from gateway.app.chosen_plugins import ChosenPlugins, choose
from gateway.app.peers import SharedDatabase, opened
from gateway.app.plugins import tables_of
from gateway.cluster.protocols import Peers
from gateway.permissions.approved_plugins import ApprovedPlugins
from gateway.runs.model_set import CurrentModels, ModelSet, ModelSource
from gateway.runs.toolbox import digest_of, skill_library
from gateway.security.packages import version
from gateway.settings.digests import digests
from gateway.settings.limits import MB
from gateway.settings.settings import Settings
from gateway.store.opening import FILE, NodeNameTaken, StoreNotMoved, locked
from gateway.store.store import Extras, Store
from gateway.texts.about import About


class Resources(Struct, frozen=True):
    """Resources that every way of running Parley needs."""

    settings: Settings
    clock: Clock
    store: Store
    peers: Peers
    """The other processes on the same database."""
    models: CurrentModels
    source: ModelSource
    launcher: Launcher | None
    """Starts programs in a sandbox; without one no programs are run."""
    start: About
    """The facts about the process at the start."""
    plugins: ChosenPlugins
    """The plugins that are made."""

    def about(self) -> About:
        """Return the facts about the process, with the model that answers now."""
        return self.models.now.told(self.start)


@asynccontextmanager
async def prepare(
    settings: Settings, clock: Clock | None = None, *, takes_chats: bool = True
) -> AsyncIterator[Resources]:
    """Open the model, the store and the sandbox. Raises as `serve` does.

    `takes_chats` is False for a process that is reached by its own terminal only.
    """
    hidden = (settings.home, *settings.files)
    trying = asyncio.create_task(find_launcher(settings.local / "scratch", hidden=hidden))
    own = clock or SystemClock()
    approved = ApprovedPlugins(settings.home)
    plugins = await asyncio.to_thread(choose, settings.plugins, settings.plugins_off, approved)
    settings = plugins.configured(settings)
    plugins.read_models(settings, own)
    source = ModelSource(own, plugins.models)
    async with AsyncExitStack() as life:
        life.push_async_callback(source.close)
        models = await source.choose(settings)
        url, shared = settings.database, None
        if url is not None:
            shared = await asyncio.to_thread(
                _shared, settings, url, plugins.digests, takes_chats=takes_chats, agrees_on_time=clock is None
            )
            if (file := settings.home / FILE).exists():
                raise StoreNotMoved(file)
            life.enter_context(locked(settings.local, NodeNameTaken))

        def opening() -> AbstractAsyncContextManager[tuple[Store, Peers, Clock]]:
            extras = Extras(settings.quotas.ballast_mb * MB, tables_of(plugins.kinds))
            return opened(settings.home, own, new_id, settings.secrets, extras=extras, shared=shared)

        store, peers, now = await life.enter_async_context(plugins.opened(opening))
        if shared is not None:
            await store.home_marker.check(settings.home)
        found = await trying
        launcher = None if isinstance(found, NoLauncher) else found
        about = _about(models, found, now)
        yield Resources(settings, now, store, peers, CurrentModels(models), source, launcher, about, plugins)


def _shared(
    settings: Settings, url: str, plugins: Mapping[str, str], *, takes_chats: bool, agrees_on_time: bool
) -> SharedDatabase:
    """Return what the other nodes are told of this one. Blocks."""
    skills = digest_of(skill_library(settings))
    told = digests(settings, plugins)
    return SharedDatabase(url, settings.node, told, skills, takes_chats=takes_chats, agrees_on_time=agrees_on_time)


def _about(models: ModelSet, found: Launcher | NoLauncher, clock: Clock) -> About:
    sandbox, reason = ("", f"{found.reason}; {found.fix}") if isinstance(found, NoLauncher) else (found.name, "")
    return About(
        model=models.default.model.id,
        why=models.why,
        is_ai=models.is_ai,
        sandbox=sandbox,
        no_sandbox=reason,
        version=version(),
        started=clock.time(),
    )
