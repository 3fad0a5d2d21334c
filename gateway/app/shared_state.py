"""Refreshes the caches of this process when other nodes change the rows behind them."""

import structlog

from channels.base import ChatKey
from gateway.app.command_table import Commands
from gateway.errors import SettingsError
from gateway.permissions.groups import RULES
from gateway.store.signals import Handler
from gateway.store.topics import Topic

log = structlog.get_logger(__name__)


class SharedState(Commands):
    """The parts that cache rows of the store, refreshed when other nodes change them."""

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
            self._system.peers.signals.subscribe(topic, handler)

    async def _people_changed(self, _: str) -> None:
        await self.membership.reload()
        self.pairing.look()
        self.strangers.look()
        await self.revocation.sweep()

    async def _standings_changed(self, _: str) -> None:
        self.groups.standings.update(await self.store.standings.all())
        await self.revocation.sweep()

    async def _settings_changed(self, _: str) -> None:
        rows = self.store.chat_settings
        await rows.reload()
        self.groups.rules.replace(await rows.named(*RULES))
        await self.live.refresh()
        await self.revocation.sweep()

    async def _zones_changed(self, _: str) -> None:
        await self.zones.reload()

    async def _files_changed(self, _: str) -> None:
        try:
            await self.live.reread()
        except SettingsError as error:
            log.warning("the settings that another node has read again cannot be used here", reason=error.sentence)

    async def _budgets_changed(self, _: str) -> None:
        await self.budgets.reload()

    async def _room_came(self, _: str) -> None:
        self.budgets.wake()

    async def _strangers_changed(self, _: str) -> None:
        self.strangers.look()

    async def _pairing_changed(self, _: str) -> None:
        self.pairing.look()

    async def _jobs_changed(self, _: str) -> None:
        self.planned.set()

    async def _browsers_changed(self, _: str) -> None:
        if self.settings.entrance is not None:
            await self.settings.entrance.reload()

    async def _spoken(self, chat: str) -> None:
        self.access.also_spoke([chat] if chat else await self.store.chats.spoken_in())

    async def _erased(self, chat: str) -> None:
        self.sessions.forget_agents(ChatKey.parse(chat) if chat else None)
