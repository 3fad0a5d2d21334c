"""The platforms that this process is connected to, as far as it can reach them."""

from collections.abc import Iterator

from channels.capabilities import KnowsReach
from channels.connected import Connected


class PlatformsHere:
    """Implements `Platforms`."""

    def __init__(self, channels: Connected) -> None:
        self._channels = channels

    def failing(self) -> Iterator[str]:
        """See `Platforms`."""
        return (each.name for each in self._channels if isinstance(each, KnowsReach) and each.reach.is_failing())

    def out_of_reach(self) -> Iterator[str]:
        """See `Platforms`."""
        return (each.name for each in self._channels if isinstance(each, KnowsReach) and each.reach.is_cut_off)

    async def try_reach(self, platform: str) -> None:
        """See `Platforms`."""
        channel = self._channels.on(platform)
        if isinstance(channel, KnowsReach):
            await channel.try_reach()
