"""Sets the rules of groups."""

from collections.abc import Awaitable, Callable

from channels.base import ChatKey
from gateway.permissions.groups import SPEAKERS, Groups
from gateway.permissions.membership import Records
from gateway.store.chat_settings import ChatSettings, Place


class GroupRules:
    """Sets the rules of groups for a place. Each is stored, holds at once, and is recorded with who set it."""

    def __init__(self, groups: Groups, settings: ChatSettings, audit: Records) -> None:
        self.groups = groups
        """The rules in force."""
        self.sweep: Callable[[], Awaitable[object]] | None = None
        """Ends what is open for people who may no longer speak; None until Parley runs."""
        self._settings = settings
        self._audit = audit

    async def set(self, chat: ChatKey, person: str, place: Place, name: str, value: str | None) -> None:
        """Set a rule for a place, or remove it (None). `chat` and `person` tell where and by whom it was asked for."""
        await self._settings.set(place, name, value, person)
        self.groups.put(place.key, name, value)
        self._audit.changed(chat, person, f"{name} {place.key}".strip(), details=value or "default")
        if name == SPEAKERS and self.sweep is not None:
            await self.sweep()
