"""Gives people the menu of commands that fits their role, in private chats and groups, where a platform has menus."""

import asyncio
import hashlib
import json
from collections.abc import Iterable, Sequence
from typing import Protocol, runtime_checkable

import structlog

from channels.base import ChannelError, ChatKey
from channels.capabilities import FindsPrivateChats, HasMenusPerChat
from channels.commands import CommandSpec
from gateway.commands.command import CommandTable
from gateway.permissions.roles import Role
from gateway.plugin import Core
from gateway.plugins.menus.table import MenuPlace, Menus

log = structlog.get_logger(__name__)

TRIES = 5
"""Tries for one menu, before the others and a new round."""
LONGEST_PAUSE = 60.0
AGAIN_SECONDS = 600.0
"""Seconds until menus that could not be set are tried again."""
_BEGUN = "begun"
"""Digest of a menu that is being set."""
_OWN_MENUS = {Role.OWNER, Role.ADMIN, Role.GUEST}
"""Roles whose menus differ from the one that everyone is offered."""


@runtime_checkable
class _Platform(FindsPrivateChats, HasMenusPerChat, Protocol):
    name: str

    def is_group(self, chat: ChatKey) -> bool: ...


class RoleMenus:
    """Keeps the menus as the roles are, in groups for those who speak there.

    Members have the one that everyone is offered.
    """

    def __init__(self, core: Core) -> None:
        self._rows = core.store.table(Menus)
        self._roles = core.roles
        self._speakers = core.access.speakers
        self._channels = core.delivery.connected
        self._clock = core.clock
        self._absent: set[MenuPlace] = set()
        """Chats that do not exist yet, since the person has never written there, and members with whom it failed."""

    @property
    def _platforms(self) -> list[_Platform]:
        return [each for each in self._channels if isinstance(each, _Platform)]

    async def run(self, commands: CommandTable) -> None:
        """Set the menus, and again after each change of roles and when somebody is new in a chat, until cancelled."""
        while True:
            self._roles.changed.clear()
            self._speakers.changed.clear()
            is_whole = await self._refresh(commands)
            changes = [asyncio.create_task(each.changed.wait()) for each in (self._roles, self._speakers)]
            try:
                await asyncio.wait(
                    changes, timeout=None if is_whole else AGAIN_SECONDS, return_when=asyncio.FIRST_COMPLETED
                )
            finally:
                for each in changes:
                    each.cancel()

    async def _refresh(self, table: CommandTable) -> bool:
        """Set the menus that are not as they should be. Return False if some are left."""
        known, is_whole = await self._rows.all(), True
        self._absent -= {MenuPlace(chat) for chat, _ in self._speakers}
        for platform in self._platforms:
            of_platform = {place: digest for place, digest in known.items() if place.chat.platform == platform.name}
            wanted = await self._wanted(platform, of_platform)
            for place in [*wanted, *(of_platform.keys() - wanted.keys())]:
                commands = _commands(table, place, wanted.get(place, Role.MEMBER))
                digest = None if commands is None else _digest(commands)
                if digest != of_platform.get(place) and place not in self._absent:
                    is_whole &= await self._set(platform, place, commands, digest)
        return is_whole

    async def _wanted(self, platform: _Platform, known: Iterable[MenuPlace]) -> dict[MenuPlace, Role]:
        """Return the role of each person by private chat, owners and admins first, then by group."""
        found: dict[MenuPlace, Role] = {}
        for role in (Role.OWNER, Role.ADMIN, Role.GUEST):
            for account in (each for known in self._roles.having(role) for each in known.accounts):
                name, _, person = account.principal.rpartition(":")
                if name == platform.name and self._roles.of(account.principal) is role:
                    found[MenuPlace(await platform.private_chat(person))] = role
        spoken = ((chat, person) for chat, person in self._speakers if chat.platform == platform.name)
        in_groups = {MenuPlace(chat, person) for chat, person in spoken if platform.is_group(chat)}
        for place in sorted({*known, *in_groups}, key=str):
            if place.member:
                found[place] = self._roles.of(f"{platform.name}:{place.member}") or Role.MEMBER
        return found

    async def _set(
        self, platform: _Platform, place: MenuPlace, commands: Sequence[CommandSpec] | None, digest: str | None
    ) -> bool:
        """Set one menu, as slowly as the platform asks. Return False if it has to be tried again later."""
        await self._rows.save(place, _BEGUN)  # known after a crash, too
        for tried in range(TRIES):
            try:
                await platform.set_menu(place.chat, commands, place.member)
            except ChannelError as error:
                if error.permanent:
                    log.info("no menu in a chat", place=str(place), reason=error.reason)
                    self._absent.add(place)
                    if not place.member:
                        self._speakers.forget(place.chat)
                    await self._rows.save(place, None)
                    return True
                await self._clock.sleep(max(error.retry_after or 0.0, min(2.0**tried, LONGEST_PAUSE)))
            else:
                await self._rows.save(place, digest)
                return True
        return False


def _commands(table: CommandTable, place: MenuPlace, role: Role) -> list[CommandSpec] | None:
    """Return the commands of a menu, or None if it is that of everyone."""
    if role not in _OWN_MENUS:
        return None
    return [each.spec for each in table.offered(role) if not (place.member and each.spec.private)]


def _digest(commands: Sequence[CommandSpec]) -> str:
    told = [(command.name, sorted(command.description.items())) for command in commands]
    return hashlib.sha256(json.dumps(told).encode()).hexdigest()[:16]
