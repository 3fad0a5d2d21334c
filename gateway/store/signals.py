"""A process among those that use the same database, and news of changed rows for the others."""

from collections.abc import Callable, Coroutine
from dataclasses import dataclass, field
from typing import Protocol

from gateway.store.connection import Connection, Fence

React = Callable[[str], Coroutine[object, object, None]]


class Signals(Protocol):
    """Tells other nodes that rows have changed, and hears it from them."""

    def changed(self, connection: Connection, topic: str, key: str = "") -> None:
        """Tell the other nodes of a change, when the transaction that is open on the connection is committed."""

    def on(self, topic: str, react: React) -> None:
        """Call `react` with the key of each change that another node makes, one after the other.

        The key is "" where news may have been lost; then anything may have changed.
        """


class NoSignals:
    """Implements `Signals` for a process that is alone."""

    def changed(self, connection: Connection, topic: str, key: str = "") -> None:
        """Do nothing: nobody else is there."""

    def on(self, topic: str, react: React) -> None:
        """Do nothing: nobody else changes anything."""


@dataclass(frozen=True)
class StoreNode:
    """The process that opens a store, one of several on the database."""

    fence: Fence
    signals: Signals = field(default_factory=NoSignals)
