"""Refreshes the caches of this process when other nodes change the rows behind them."""

import structlog

from channels.base import ChatKey, ChatMoved
from gateway.app.parts.commands import CommandParts
from gateway.app.parts.parts import Parts
from gateway.errors import SettingsError
from gateway.permissions.groups import RULES
from gateway.store.signals import Handler
from gateway.store.topics import Topic

log = structlog.get_logger(__name__)


class SharedState:
    """Refreshes the parts that cache rows of the store when other nodes change them."""

    def __init__(self, parts: Parts, commands: CommandParts) -> None:
        self._store, self._settings, self._signals = parts.base.store, parts.base.settings, parts.base.peers.signals
        self._servers = parts.base.servers
        self._planned = parts.base.planned
        self._people, self._live = parts.people, parts.agents.live
        self._budgets, self._sessions = parts.guards.budgets, parts.chats.sessions
        self._revocation = commands.revocation

    def subscribe(self) -> None:
        """Subscribe to the changes of other nodes."""
        handlers: dict[Topic, Handler] = {
            Topic.PEOPLE: self._people_changed,
            Topic.STANDINGS: self._standings_changed,
            Topic.SETTINGS: self._settings_changed,
            Topic.ZONES: self._zones_changed,
            Topic.FILES: self._files_changed,
            Topic.BUDGETS: self._budgets_changed,
            Topic.ROOM: self._room_came,
            Topic.STRANGERS: self._strangers_changed,
            Topic.PAIRING: self._pairing_changed,
            Topic.JOBS: self._jobs_changed,
            Topic.BROWSERS: self._browsers_changed,
            Topic.LINKS: self._browsers_changed,
            Topic.ERASED: self._erased,
            Topic.SPOKEN: self._spoken,
        }
        for topic, handler in handlers.items():
            self._signals.subscribe(topic, handler)

    async def moved(self, event: ChatMoved) -> None:
        """Read again what belongs to a chat that has got another id in this process."""
        for changed in (self._settings_changed, self._zones_changed, self._jobs_changed, self._spoken):
            await changed("")
        await self._budgets.recount()
        for chat in (event.chat, event.to):
            await self._erased(str(chat))

    async def _people_changed(self, _: str) -> None:
        await self._people.membership.reload()
        self._people.pairing.look()
        self._people.strangers.look()
        await self._revocation.sweep()

    async def _standings_changed(self, _: str) -> None:
        self._people.groups.standings.update(await self._store.standings.all())
        await self._revocation.sweep()

    async def _settings_changed(self, _: str) -> None:
        rows = self._store.chat_settings
        await rows.reload()
        self._people.groups.rules.replace(await rows.named(*RULES))
        await self._live.refresh()
        await self._servers.refresh()
        await self._revocation.sweep()

    async def _zones_changed(self, _: str) -> None:
        await self._people.zones.reload()

    async def _files_changed(self, _: str) -> None:
        try:
            await self._live.reread()
        except SettingsError as error:
            log.warning("the settings that another node has read again cannot be used here", reason=error.sentence)

    async def _budgets_changed(self, _: str) -> None:
        await self._budgets.reload()

    async def _room_came(self, _: str) -> None:
        self._budgets.wake()

    async def _strangers_changed(self, _: str) -> None:
        self._people.strangers.look()

    async def _pairing_changed(self, _: str) -> None:
        self._people.pairing.look()

    async def _jobs_changed(self, _: str) -> None:
        self._store.jobs.look_again()
        self._planned.set()

    async def _browsers_changed(self, _: str) -> None:
        if self._settings.entrance is not None:
            await self._settings.entrance.reload()

    async def _spoken(self, chat: str) -> None:
        self._people.access.also_spoke([chat] if chat else await self._store.chats.spoken_in())

    async def _erased(self, chat: str) -> None:
        self._sessions.forget_agents(ChatKey.parse(chat) if chat else None)
