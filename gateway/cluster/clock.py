"""The clock of a node, on which all nodes agree."""

from agent_core.clock import Clock
from gateway.cluster.node import Node
from gateway.store.nodes import MOST_APART


class SharedClock:
    """Implements `Clock` by the machine's clock, or the database's if the two disagree."""

    def __init__(self, own: Clock, node: Node) -> None:
        self._own = own
        self._node = node

    def time(self) -> float:
        own, of_database = self._own.time(), self._node.database_time
        return own if abs(own - of_database) <= MOST_APART else of_database

    def monotonic(self) -> float:
        return self._own.monotonic()

    async def sleep(self, seconds: float) -> None:
        await self._own.sleep(seconds)
