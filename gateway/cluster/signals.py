"""News between nodes by LISTEN and NOTIFY. What is lost with a connection costs time only: all rows are read again."""

import asyncio
import json
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from typing import Self

import psycopg
import structlog

from agent_core.background import Background
from agent_core.clock import SystemClock
from agent_core.supervise import supervise
from gateway.store.connection import Connection
from gateway.store.postgres import address
from gateway.store.signals import React
from gateway.store.writer import STORE_ERRORS, TakenOver, may_pass

ALL = "parley"
"""The channel of NOTIFY on which all nodes listen."""
OF_NODE = f"{ALL}_"
"""The channel on which one node listens begins with this, and ends with its id."""
TRY_EVERY = 5.0
"""Seconds without news after which the connection is tried: behind a proxy it may be dead without a sign."""
ANSWER_WITHIN = 5.0
"""Seconds for the answer to that."""
AGAIN_AFTER = 0.5
"""Seconds until a lost connection is made again, or a reaction that the database has refused is tried again."""
IN_ONE_ORDER = {"inbox", "gaps"}
"""Topics whose news is reacted to in the order in which it was sent: a message waits for the gap before it."""
MOST_SHOWN = 100
"""Characters of news that cannot be read, in the log."""

_Queue = asyncio.Queue[tuple[str, str]]

log = structlog.get_logger(__name__)


def channel_of(node: str) -> str:
    """Return the channel of NOTIFY on which one node listens."""
    return f"{OF_NODE}{node}"


def written(sender: str, topic: str, key: str) -> str:
    """Return what is sent of a change that the node `sender` has made."""
    return json.dumps([sender, topic, key])


class NodeSignals:
    """Implements `Signals`, on a connection of its own."""

    def __init__(self, url: str, node: str) -> None:
        self._url = url
        self._node = node
        self._reactions: dict[str, list[React]] = {}
        self._news: dict[str, _Queue] = {}
        """Topics and keys to react to, by topic; some topics share a queue."""
        self._ordered: _Queue = asyncio.Queue()
        self._reacting = Background("reacting to a change by another node failed")
        self.listening = asyncio.Event()
        """Set while the connection stands."""

    @classmethod
    @asynccontextmanager
    async def opened(cls, url: str, node: str) -> AsyncIterator[Self]:
        """Listen while the context is open."""
        signals = cls(url, node)
        listening = asyncio.create_task(supervise("signals", signals._keep_listening, SystemClock()), name="signals")
        try:
            yield signals
        finally:
            listening.cancel()
            await asyncio.wait([listening])
            await signals.close()

    async def close(self) -> None:
        """React to nothing any more; called before the store is closed, in which reactions read."""
        await self._reacting.stop()

    def changed(self, connection: Connection, topic: str, key: str = "") -> None:
        """See `Signals`."""
        self._notify(connection, ALL, topic, key)

    def tell(self, connection: Connection, node: str, topic: str, key: str) -> None:
        """Tell one node of a change, when the open transaction is committed."""
        self._notify(connection, channel_of(node), topic, key)

    def news(self, topic: str, key: str) -> str:
        """Return what other nodes are sent of a change that this one has made."""
        return written(self._node, topic, key)

    def on(self, topic: str, react: React) -> None:
        """See `Signals`."""
        self._reactions.setdefault(topic, []).append(react)
        if topic not in self._news:
            news = self._ordered if topic in IN_ONE_ORDER else asyncio.Queue()
            if news not in self._news.values():
                self._reacting.start(self._react(news), f"news of {topic}")
            self._news[topic] = news
        if self.listening.is_set():  # news since the connection stands have passed unheard
            self._news[topic].put_nowait((topic, ""))

    def _notify(self, connection: Connection, channel: str, topic: str, key: str) -> None:
        connection.execute("SELECT pg_notify(?, ?)", (channel, self.news(topic, key))).fetchall()

    async def _react(self, news: _Queue) -> None:
        while True:
            topic, key = await news.get()
            for react in self._reactions[topic]:
                await asyncio.wait([self._reacting.start(_reacted(react, key), f"news of {topic}")])

    async def _keep_listening(self) -> None:
        while True:
            try:
                await self._listen()
            except (psycopg.Error, TimeoutError) as error:
                log.warning("the connection for news of other nodes was lost", reason=str(error))
            finally:
                self.listening.clear()
            await asyncio.sleep(AGAIN_AFTER)

    async def _listen(self) -> None:
        async with await psycopg.AsyncConnection.connect(address(self._url), autocommit=True) as raw:
            for channel in (ALL, channel_of(self._node)):
                await raw.execute(f"LISTEN {channel}")
            self.listening.set()
            for topic, news in self._news.items():
                news.put_nowait((topic, ""))
            while True:
                async for heard in raw.notifies(timeout=TRY_EVERY):
                    self._take(heard.payload)
                async with asyncio.timeout(ANSWER_WITHIN):
                    await raw.execute("SELECT 1")

    def _take(self, payload: str) -> None:
        try:
            sender, topic, key = map(str, json.loads(payload))
        except (ValueError, TypeError, RecursionError):
            log.warning("news that cannot be read, perhaps of another version", payload=payload[:MOST_SHOWN])
            return
        if sender != self._node and topic in self._news:
            self._news[topic].put_nowait((topic, key))


async def _reacted(react: React, key: str) -> None:
    """React to a change, again and again while the database is in the way: nobody tells of it a second time."""
    while True:
        try:
            await react(key)
        except TakenOver as error:
            log.info("news came too late for this node", reason=str(error))
            return
        except STORE_ERRORS as error:
            if not may_pass(error):
                raise
            log.warning("the database is in the way of reacting to a change by another node", reason=str(error))
        else:
            return
        await asyncio.sleep(AGAIN_AFTER)
