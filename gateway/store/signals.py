"""Notifications of changed rows between processes that share a database."""

from collections.abc import Callable, Coroutine
from typing import Protocol

from msgspec import Struct, field

from gateway.store.connection import Connection, Fence

Handler = Callable[[str], Coroutine[object, object, None]]


class Signals(Protocol):
    """Publishes changes of rows to other nodes, and receives theirs."""

    def publish(self, connection: Connection, topic: str, key: str = "") -> None:
        """Notify the other nodes when the open transaction is committed."""

    def subscribe(self, topic: str, handler: Handler) -> None:
        """Call `handler` with the key of each change by another node, one at a time.

        The key is "" if notifications may have been lost; then anything may have changed.
        """


class NoSignals:
    """Implements `Signals` for a single process."""

    def publish(self, connection: Connection, topic: str, key: str = "") -> None:
        """Do nothing: there are no other nodes."""

    def subscribe(self, topic: str, handler: Handler) -> None:
        """Do nothing: there are no other nodes."""


class StoreNode(Struct, frozen=True):
    """The node that opens a store."""

    fence: Fence
    signals: Signals = field(default_factory=NoSignals)
