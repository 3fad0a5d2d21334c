"""Connects platforms and models while Parley runs, for the guides of `gateway/connect`."""

import asyncio
from collections.abc import AsyncIterator, Mapping
from contextlib import asynccontextmanager

import structlog
from msgspec import Struct
from pydantic import BaseModel

from agent_core.background import Background
from agent_core.clock import Clock
from agent_core.origin import CLEAN
from channels import discovery
from channels.base import ChatKey, OutboundMessage
from channels.capabilities import CatchesUp
from gateway.app.channel_server import ChannelServer
from gateway.chat.gaps import Gaps
from gateway.cluster.leases import connecting_of, held
from gateway.cluster.protocols import Dispatcher, Peers
from gateway.connect.program import MODEL, Met
from gateway.delivery.delivery import Delivery
from gateway.errors import SettingsError
from gateway.permissions.roles import People, Roles
from gateway.settings.digests import digests
from gateway.settings.settings import Settings
from gateway.store.rows import Post
from gateway.store.store import Store
from gateway.texts.say import language_of, say
from gateway.upkeep.live_settings import LiveSettings

WITHIN = 20.0
"""Seconds for a connection; a channel that takes longer keeps trying."""

log = structlog.get_logger(__name__)


class Life(Struct, frozen=True):
    """The parts that a new channel needs when it begins."""

    dispatcher: Dispatcher
    gaps: Gaps
    roles: Roles
    peers: Peers
    plugins: Mapping[str, str]
    """Digests of the plugins of others, which are told with those of the settings."""


class Connections:
    """Implements `Program`: the running gateway, as far as guides use it.

    Where several processes share the store, the others follow: they do not listen on a platform while a guide does, and
    use the new settings, which they read from the home that all share.
    """

    def __init__(
        self, server: ChannelServer, live: LiveSettings, delivery: Delivery, store: Store, life: Life, *, clock: Clock
    ) -> None:
        self._server = server
        self._live = live
        self._delivery = delivery
        self._store = store
        self._life = life
        self._clock = clock
        self._sending = Background("sending what was kept failed")
        self._following = Background("connecting what another node has connected failed")
        self._used = dict(live.files.channels)
        """The settings with which each platform was connected."""
        self._followed: dict[str, asyncio.Task[None]] = {}
        """By platform, what follows the newest guide of another node."""

    @asynccontextmanager
    async def paused(self, platform: str) -> AsyncIterator[None]:
        """Let no process listen on a platform while the context is open. Messages can still be sent there."""
        async with held(self._life.peers.leases, connecting_of(platform)):
            await self._store.chat_settings.tell_of_connection(platform)
            if self._delivery.on(platform) is None:
                yield
                return
            await self._server.pause(platform)
            try:
                yield
            finally:
                self._server.start(platform)

    async def connect(self, platform: str, owner: Met) -> str:
        """Read the settings again, connect the platform with its new tokens, and say hello to its owner.

        Returns the reason if that has failed, else "". It may be tried again.
        """
        try:
            files = await self._adopted(platform)
        except SettingsError as error:
            return error.sentence
        config = files.channels.get(platform)
        if config is None:
            return f"the settings hold no token for {platform}"
        return await self._use(platform, config) or await self._greet(owner)

    async def use_model(self) -> bool:
        """Read the settings again, and let the model that they name answer, also instead of one set in a chat."""
        if not await self._adopt_model():
            return False
        await self._store.chat_settings.tell_of_connection(MODEL)
        return True

    async def follow(self, what: str) -> None:
        """Do here what a guide of another node does: with a platform, or with the model.

        If `what` is empty, notifications may have been lost: follow all running guides. Raises sqlite3.Error.
        """
        if what == MODEL:
            await self._adopt_model()
        elif what:
            self._begin_following(what)
        else:
            for platform in discovery.setups():
                if not await self._life.peers.leases.is_free(connecting_of(platform)):
                    self._begin_following(platform)

    async def close(self) -> None:
        """Leave what was not sent to the next start."""
        await self._following.stop()
        await self._sending.stop()

    def _begin_following(self, platform: str) -> None:
        earlier = self._followed.get(platform)
        self._followed[platform] = self._following.start(self._follow(platform, earlier), f"connect {platform}")

    async def _follow(self, platform: str, earlier: "asyncio.Task[None] | None") -> None:
        """Do not listen on a platform until a guide of another node is over; then use what it has written.

        `earlier` follows a guide before that, perhaps still.
        """
        await self._server.pause(platform)
        if earlier is not None and not earlier.done():
            await asyncio.wait([earlier])
            await self._server.pause(platform)
        await self._life.peers.leases.wait_free(connecting_of(platform))
        before = self._used.get(platform)
        try:
            config = (await self._adopted(platform)).channels.get(platform)
        except SettingsError as error:
            log.warning("what another node has connected cannot be used", reason=error.sentence)
            config = before
        if config is None or config == before:
            self._server.start(platform)
        else:
            await self._use(platform, config)

    async def _adopted(self, platform: str) -> Settings:
        """Read the settings again, and make people owners who are so by them. Raises SettingsError."""
        files = await self._live.adopt("channels", "owners")
        self._let_in({each for each in files.owners if each.startswith(f"{platform}:")})
        await self._life.peers.note_settings(digests(self._live.files, self._life.plugins))
        return files

    async def _use(self, platform: str, config: BaseModel) -> str:
        """Connect a platform with its new tokens. Returns the reason if that has failed, else ""."""
        channel, self._used[platform] = discovery.open_channel(platform, config, self._clock.time), config
        if isinstance(channel, CatchesUp):
            self._life.gaps.reopen(platform)
        was_there = await self._server.put(channel)
        if not was_there:
            await self._life.dispatcher.resume(platform)
        trouble = await self._server.connect(channel, WITHIN)
        if trouble:
            log.warning("a platform could not be connected", platform=platform, reason=trouble)
            return trouble
        log.info("a platform was connected", platform=platform)
        self._sending.start(self._delivery.deliver_kept(platform), f"kept for {platform}")
        return ""

    async def _adopt_model(self) -> bool:
        """Read the settings again, and let the model that they name answer. Returns False if it cannot be used."""
        try:
            await self._live.adopt("environ", "openai_base_url", "model")
            if await self._live.chosen("model") is not None:
                await self._live.choose("model", None, "connect")
            await self._life.peers.note_settings(digests(self._live.files, self._life.plugins))
        except SettingsError as error:
            log.warning("the model is not used before a restart", reason=error.sentence)
            return False
        return True

    def _let_in(self, owners: set[str]) -> None:
        """Make people owners who are so by the settings."""
        now = self._life.roles.settings
        if not owners <= now.owners:
            self._life.roles.seed(People(now.owners | owners, now.allow))

    async def _greet(self, owner: Met) -> str:
        """Say hello to the owner. Returns the reason if that has failed."""
        channel = self._delivery.on(owner.chat.platform)
        slash = channel.limits.slash if channel is not None else "/"
        text = say("connect_hello_running", language_of(owner.language, "en"), name=owner.name, slash=slash)
        return await self._say(owner.chat, text)

    async def _say(self, chat: ChatKey, text: str) -> str:
        name = f"connect-{self._clock.time():.0f}"
        post = Post(f"{name}:notice:{chat}", name, chat, OutboundMessage(markdown=text), CLEAN)
        await self._store.outbox.add([post])
        error = await self._delivery.attempt(chat, [post])
        return "" if error is None else error.reason
