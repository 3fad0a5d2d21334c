"""The shards of one bot: Discord divides its servers among them, and tells how many there have to be.

Several processes may share them, and several sessions of one shard may be open at a time: each gets all its events.
"""

import asyncio
import logging
from collections.abc import Callable, Coroutine
from functools import partial

from msgspec import Struct

from channels.backoff import Backoff, until_answered
from channels.base import ChatKey
from channels.capabilities import Gap
from channels.discord.client import Rest
from channels.discord.connection import Connection, TooFewShards, gateway_of
from channels.discord.normalise import DIRECT
from channels.sharing import Ready, Sharing

log = logging.getLogger(__name__)


class Shard(Struct, frozen=True):
    """One shard of so many."""

    number: int
    count: int

    def has(self, guild: str) -> bool:
        """Return True if Discord sends the events of a server, or of private chats, to this shard."""
        return (0 if guild == DIRECT else (int(guild) >> 22) % self.count) == self.number


class Shards:
    """The connections of this process, one for each shard that it receives."""

    def __init__(self, rest: Rest, silence: float) -> None:
        self._rest = rest
        self._silence = silence
        self._connections: dict[Shard, Connection] = {}
        """One for each shard that was ever received here: it remembers when sessions were started."""
        self._received: set[Shard] = set()
        self._missed: set[Shard] = set()
        """Shards with a new session here since `gap` returned last."""
        self._gap = asyncio.Event()

    @property
    def is_connected(self) -> bool:
        """True if each shard that this process receives is connected, and there is one."""
        return bool(self._received) and all(self._connections[shard].is_connected for shard in self._received)

    def receive(self, guild: str) -> bool:
        """Return True if this process receives the events of a server, or of private chats."""
        return any(shard.has(guild) for shard in self._received)

    def tells(self, guild: str) -> bool:
        """Return True while the gateway tells this process of all changes of a server."""
        return any(shard.has(guild) and self._connections[shard].is_connected for shard in self._received)

    async def gap(self) -> Gap:
        """See `CatchesUp.gap`."""
        await self._gap.wait()
        self._gap.clear()
        missed, self._missed = self._missed, set()

        def concerns(chat: ChatKey) -> bool:
            return any(shard.has(chat.account) for shard in missed)

        return Gap(concerns, private=any(shard.has(DIRECT) for shard in missed))

    async def run(self, sharing: Sharing, begins: Callable[[int], None]) -> None:
        """Receive until cancelled. Raises a permanent ChannelError if a person must act.

        `begins` is called with the number of each shard from when on it is received here.
        """
        backoff, refused = Backoff(), 0
        while True:
            wanted = (await until_answered("Discord", partial(gateway_of, self._rest))).shards
            count = await sharing.agreed(wanted, refused)
            log.info("discord shards=%d", count)

            def receive(number: int, ready: Ready, count: int = count) -> Coroutine[object, object, None]:
                begins(number)
                return self._receive(Shard(number, count), sharing, ready)

            try:
                await sharing.each(count, receive)
            except TooFewShards as error:
                refused = count
                backoff.failed(error.reason)
                await backoff.wait()

    async def _receive(self, shard: Shard, sharing: Sharing, ready: Ready) -> None:
        if shard not in self._connections:
            self._connections[shard] = Connection(self._rest, self._silence, shard=(shard.number, shard.count))
        self._received.add(shard)
        is_first = True

        def on_session(*, is_new: bool) -> None:
            nonlocal is_first
            ready()
            if is_new or is_first:  # also a session from before another process has had the shard, and noted gaps there
                self._missed.add(shard)
                self._gap.set()
            is_first = False

        try:
            await self._connections[shard].run(on_session, sharing.turn)
        finally:
            self._received.discard(shard)
