"""Gives each private chat the menu of commands that fits the role of its person, where the platform has such menus."""

import asyncio
import hashlib
import json
from collections.abc import Callable, Iterable, Sequence
from contextlib import suppress
from typing import Protocol, runtime_checkable

import structlog

from agent_core.clock import Clock
from channels.base import Channel, ChannelError, ChatKey
from channels.capabilities import FindsPrivateChats, HasMenusPerChat
from channels.commands import CommandSpec
from gateway.permissions.roles import Role, Roles
from gateway.store.menus import Menus

log = structlog.get_logger(__name__)

TRIES = 5
"""Tries for one menu, before the others and a new round."""
LONGEST_PAUSE = 60.0
AGAIN_SECONDS = 600.0
"""Seconds until menus that could not be set are tried again."""


@runtime_checkable
class _Platform(FindsPrivateChats, HasMenusPerChat, Protocol):
    name: str


class RoleMenus:
    """Keeps the menus of private chats as the roles are. Members have the one that everyone is offered."""

    def __init__(
        self,
        rows: Menus,
        roles: Roles,
        channels: Iterable[Channel],
        offered: Callable[[Role], Sequence[CommandSpec]],
        clock: Clock,
    ) -> None:
        """`offered` returns the commands for a role."""
        self._rows = rows
        self._roles = roles
        self._channels = channels
        self._offered = offered
        self._clock = clock
        self._absent: set[ChatKey] = set()
        """Chats that do not exist yet, since the person has never written there."""

    def heard(self, chat: ChatKey) -> None:
        """Set the menu of a chat that did not exist before."""
        if chat in self._absent:
            self._absent.discard(chat)
            self._roles.changed.set()

    async def run(self) -> None:
        """Set the menus, and again after each change of roles, until cancelled."""
        while True:
            self._roles.changed.clear()
            is_whole = await self._refresh()
            with suppress(TimeoutError):
                async with asyncio.timeout(None if is_whole else AGAIN_SECONDS):
                    await self._roles.changed.wait()

    async def _refresh(self) -> bool:
        """Set the menus that are not as they should be. Return False if some are left."""
        known, is_whole = await self._rows.all(), True
        for platform in [each for each in self._channels if isinstance(each, _Platform)]:
            wanted = await self._wanted(platform)
            of_platform = {chat: digest for chat, digest in known.items() if chat.platform == platform.name}
            for chat in [*wanted, *(of_platform.keys() - wanted.keys())]:
                role = wanted.get(chat, Role.MEMBER)
                commands = None if role is Role.MEMBER else self._offered(role)
                digest = None if commands is None else _digest(commands)
                if digest != of_platform.get(chat) and chat not in self._absent:
                    is_whole &= await self._set(platform, chat, commands, digest)
        return is_whole

    async def _wanted(self, platform: _Platform) -> dict[ChatKey, Role]:
        """Return the role of each person by private chat, owners and admins first."""
        found: dict[ChatKey, Role] = {}
        for role in (Role.OWNER, Role.ADMIN, Role.GUEST):
            for account in (each for known in self._roles.having(role) for each in known.accounts):
                name, _, person = account.principal.rpartition(":")
                if name == platform.name and self._roles.of(account.principal) is role:
                    found[await platform.private_chat(person)] = role
        return found

    async def _set(
        self, platform: _Platform, chat: ChatKey, commands: Sequence[CommandSpec] | None, digest: str | None
    ) -> bool:
        """Set one menu, as slowly as the platform asks. Return False if it has to be tried again later."""
        for tried in range(TRIES):
            try:
                await platform.set_menu(chat, commands)
            except ChannelError as error:
                if error.permanent:
                    log.info("no menu in a chat", chat=str(chat), reason=error.reason)
                    self._absent.add(chat)
                    return True
                await self._clock.sleep(max(error.retry_after or 0.0, min(2.0**tried, LONGEST_PAUSE)))
            else:
                await self._rows.save(chat, digest)
                return True
        return False


def _digest(commands: Sequence[CommandSpec]) -> str:
    told = [(command.name, sorted(command.description.items())) for command in commands]
    return hashlib.sha256(json.dumps(told).encode()).hexdigest()[:16]
