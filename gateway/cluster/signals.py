"""Notifications between nodes by LISTEN and NOTIFY.

After a lost connection each handler is called with an empty key, and reads its rows again.
"""

import asyncio
import json
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from typing import Self

import psycopg
import structlog

from agent_core.background import Background
from agent_core.clock import SystemClock
from agent_core.json_text import read_json
from agent_core.supervise import supervise
from gateway.store.connection import Connection
from gateway.store.postgres import address
from gateway.store.signals import Handler
from gateway.store.writer import STORE_ERRORS, WriterFenced, may_pass

ALL = "parley"
"""The NOTIFY channel of all nodes."""
OF_NODE = f"{ALL}_"
"""Prefix of the NOTIFY channel of a single node; its id follows."""
TRY_EVERY = 5.0
"""Seconds without a notification after which the connection is probed; a proxy may hide that it is dead."""
ANSWER_WITHIN = 5.0
"""Timeout of the probe in seconds."""
AGAIN_AFTER = 0.5
"""Seconds before reconnecting, and before a handler that failed on the database is called again."""
IN_ONE_ORDER = {"inbox", "gaps"}
"""Topics whose notifications are handled in the order of sending: a message waits for the gap before it."""
MOST_SHOWN = 100
"""Characters of an unreadable payload shown in the log."""

_Queue = asyncio.Queue[tuple[str, str]]

log = structlog.get_logger(__name__)


def channel_of(node: str) -> str:
    """Return the NOTIFY channel of a node."""
    return f"{OF_NODE}{node}"


def payload_of(sender: str, topic: str, key: str) -> str:
    """Return the payload of a notification sent by the node `sender`."""
    return json.dumps([sender, topic, key])


class NodeSignals:
    """Implements `Signals`, on a connection of its own."""

    def __init__(self, url: str, node: str) -> None:
        self._url = url
        self._node = node
        self._handlers: dict[str, list[Handler]] = {}
        self._queues: dict[str, _Queue] = {}
        """Notifications to handle (topic and key), by topic; some topics share a queue."""
        self._ordered: _Queue = asyncio.Queue()
        self._handling = Background("handling a notification failed")
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
        """Stop all handlers. Call it before the store is closed, from which they read."""
        await self._handling.stop()

    def publish(self, connection: Connection, topic: str, key: str = "") -> None:
        """See `Signals`."""
        self._notify(connection, ALL, topic, key)

    def notify(self, connection: Connection, node: str, topic: str, key: str) -> None:
        """Send a notification to one node when the open transaction is committed."""
        self._notify(connection, channel_of(node), topic, key)

    def payload(self, topic: str, key: str) -> str:
        """Return the payload of a notification sent by this node."""
        return payload_of(self._node, topic, key)

    def subscribe(self, topic: str, handler: Handler) -> None:
        """See `Signals`."""
        self._handlers.setdefault(topic, []).append(handler)
        if topic not in self._queues:
            queue = self._ordered if topic in IN_ONE_ORDER else asyncio.Queue()
            if queue not in self._queues.values():
                self._handling.start(self._handle_all(queue), f"notifications of {topic}")
            self._queues[topic] = queue
        if self.listening.is_set():  # notifications since then were dropped
            self._queues[topic].put_nowait((topic, ""))

    def _notify(self, connection: Connection, channel: str, topic: str, key: str) -> None:
        connection.execute("SELECT pg_notify(?, ?)", (channel, self.payload(topic, key))).fetchall()

    async def _handle_all(self, queue: _Queue) -> None:
        while True:
            topic, key = await queue.get()
            for handler in self._handlers[topic]:
                await asyncio.wait([self._handling.start(_handle(handler, key), f"notifications of {topic}")])

    async def _keep_listening(self) -> None:
        while True:
            try:
                await self._listen()
            except (psycopg.Error, TimeoutError) as error:
                log.warning("the connection for notifications was lost", reason=str(error))
            finally:
                self.listening.clear()
            await asyncio.sleep(AGAIN_AFTER)

    async def _listen(self) -> None:
        async with await psycopg.AsyncConnection.connect(address(self._url), autocommit=True) as raw:
            for channel in (ALL, channel_of(self._node)):
                await raw.execute(f"LISTEN {channel}")
            self.listening.set()
            for topic, queue in self._queues.items():
                queue.put_nowait((topic, ""))
            while True:
                async for heard in raw.notifies(timeout=TRY_EVERY):
                    self._take(heard.payload)
                async with asyncio.timeout(ANSWER_WITHIN):
                    await raw.execute("SELECT 1")

    def _take(self, payload: str) -> None:
        try:
            found = read_json(payload)
            sender, topic, key = map(str, found if isinstance(found, list) else ())
        except ValueError:
            log.warning("a notification cannot be read; perhaps another version sent it", payload=payload[:MOST_SHOWN])
            return
        if sender != self._node and topic in self._queues:
            self._queues[topic].put_nowait((topic, key))


async def _handle(handler: Handler, key: str) -> None:
    """Call a handler, again after each error of the database: a notification is sent only once."""
    while True:
        try:
            await handler(key)
        except WriterFenced as error:
            log.info("a notification came too late for this node", reason=str(error))
            return
        except STORE_ERRORS as error:
            if not may_pass(error):
                raise
            log.warning("a notification cannot be handled while the database is unavailable", reason=str(error))
        else:
            return
        await asyncio.sleep(AGAIN_AFTER)
