"""Preparation of the clients of models that will soon be asked."""

from weakref import WeakSet

from agent_core.background import Background
from agent_core.models.llm import LlmClient, WarmsUp


class WarmModels:
    """Prepares clients beside everything else, each once."""

    def __init__(self) -> None:
        self._running = Background("the client of a model could not be prepared")
        self._begun: WeakSet[WarmsUp] = WeakSet()

    def begin(self, llm: LlmClient) -> None:
        """Prepare a client whose first call would be slow; nothing if that has begun."""
        if isinstance(llm, WarmsUp) and llm not in self._begun:
            self._begun.add(llm)
            self._running.start(llm.warm_up())

    async def stop(self) -> None:
        """End what has not ended by itself."""
        await self._running.stop()
