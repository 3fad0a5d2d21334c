"""Connects platforms and models on the nodes of other machines, for a guide on a machine without a node.

The guide writes the settings into the shared home. Its process joins the cluster for a moment, to keep the nodes from
listening on the platform meanwhile and to notify them of the new settings.
"""

import asyncio
from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import AsyncExitStack, asynccontextmanager
from typing import Self

from msgspec import Struct

from agent_core.clock import SystemClock, new_id
from agent_core.origin import CLEAN
from channels import discovery
from channels.base import OutboundMessage
from gateway.app.peers import SharedDatabase, opened
from gateway.cluster.leases import connecting_of, held
from gateway.cluster.protocols import Peers
from gateway.connect.program import MODEL, Met
from gateway.errors import ParleyError
from gateway.runs.toolbox import digest_of, skill_library
from gateway.settings.digests import digests
from gateway.settings.settings import Settings
from gateway.store.nodes import NodeStatus, node_statuses, settings_told
from gateway.store.rows import Post
from gateway.store.server import PostgresServer
from gateway.store.store import Store
from gateway.texts.say import language_of, say

WITHIN = 20.0
"""Seconds to wait for the other nodes."""
LOOK_EVERY = 0.1
OF_MODEL = "model", "openai_base_url"
"""Settings that select the model."""


class _Pause(Struct, frozen=True):
    """A pause in which no node listens on a platform."""

    store: Store
    peers: Peers
    listening: AsyncExitStack
    """Ends the pause when it is closed."""
    name: str
    """The run of the greeting to the owner."""


class OtherNodes:
    """Implements `Program` through nodes on other machines."""

    def __init__(self, settings: Settings, url: str) -> None:
        self._settings = settings
        self._url = url
        self._clock = SystemClock()
        self._pause: _Pause | None = None

    @classmethod
    async def found(cls, settings: Settings) -> Self | None:
        """Return the other nodes, or None if there are none or their database cannot be read."""
        if settings.database is None:
            return None
        try:
            nodes = await asyncio.to_thread(_seen, settings.database)
        except ParleyError:
            return None
        return cls(settings, settings.database) if any(map(_works, nodes)) else None

    @asynccontextmanager
    async def paused(self, platform: str) -> AsyncIterator[None]:
        """See `Program.paused`. Raises ParleyError if this home is not the one that the nodes share."""
        async with self._joined() as (store, peers), AsyncExitStack() as listening:
            await listening.enter_async_context(held(peers.leases, connecting_of(platform)))
            await store.chat_settings.tell_of_connection(platform)
            self._pause = _Pause(store, peers, listening, f"connect-{self._clock.time():.0f}")
            yield

    async def connect(self, platform: str, owner: Met) -> str:
        """See `Program.connect`: a node that has connected the platform says hello. Called during the pause."""
        if self._pause is None:
            raise RuntimeError("nodes still listen")
        pause = self._pause
        await pause.listening.aclose()
        text = say(
            "connect_hello_running",
            language_of(owner.language, "en"),
            name=owner.name,
            slash=await self._slash(platform),
        )
        post = Post(f"{pause.name}:notice:{owner.chat}", pause.name, owner.chat, OutboundMessage(markdown=text), CLEAN)
        await pause.store.outbox.add([post])
        await pause.peers.sending.forward(owner.chat, [post.key])  # otherwise a sweep finds it

        async def is_sent() -> bool:
            return post.key not in {each.key for each in await pause.store.outbox.unsent(owner.chat)}

        if await self._comes_true(is_sent):
            return ""
        return f"no node has said hello within {WITHIN:g} s; their logs say why"

    async def use_model(self) -> bool:
        """See `Program.use_model`."""
        wanted = _of_model(digests(await self._files()))
        async with self._joined() as (store, _):
            await store.chat_settings.tell_of_connection(MODEL)

            async def is_used() -> bool:
                return all(_of_model(each.settings) == wanted for each in await store.nodes.seen() if _works(each))

            return await self._comes_true(is_used)

    @asynccontextmanager
    async def _joined(self) -> AsyncIterator[tuple[Store, Peers]]:
        """Join the cluster as a node that accepts no chats while the context is open. Raises ParleyError."""
        settings = self._settings
        skills = await asyncio.to_thread(lambda: digest_of(skill_library(settings)))
        shared = SharedDatabase(self._url, settings.node, digests(settings), skills, takes_chats=False)
        # without the tables of plugins, which it does not use: only a start may change them
        opening = opened(settings.home, self._clock, new_id, settings.secrets, shared=shared)
        async with opening as (store, peers, _):
            await store.home_marker.check(settings.home)
            yield store, peers

    async def _files(self) -> Settings:
        """Return the settings as the guide has written them. Raises SettingsError."""
        reread = self._settings.reread
        return self._settings if reread is None else await asyncio.to_thread(reread, {})

    async def _slash(self, platform: str) -> str:
        """Return the character with which commands begin there."""
        channel = discovery.open_channel(platform, (await self._files()).channels[platform], self._clock.time)
        try:
            return channel.limits.slash
        finally:
            await channel.close()

    async def _comes_true(self, condition: Callable[[], Awaitable[bool]]) -> bool:
        until = self._clock.monotonic() + WITHIN
        while not (is_true := await condition()) and self._clock.monotonic() < until:
            await self._clock.sleep(LOOK_EVERY)
        return is_true


def _seen(url: str) -> list[NodeStatus]:
    with PostgresServer(url).read() as connection:
        return node_statuses(connection)


def _works(node: NodeStatus) -> bool:
    return not (node.is_silent or node.is_draining)


def _of_model(told: str) -> list[str | None]:
    """Return the digests of the settings that select the model."""
    found = settings_told(told)
    return [found.get(name) for name in OF_MODEL]
