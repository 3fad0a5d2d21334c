"""The channels of a running program, which may come and be replaced while it runs."""

from collections.abc import Callable, Collection, Iterable, Iterator

from channels.base import Channel


class Connected(Collection[Channel]):
    """The channels by their names. Everything that asks for a channel asks here at that moment, and keeps none."""

    def __init__(self, channels: Iterable[Channel] = ()) -> None:
        self._channels = {channel.name: channel for channel in channels}
        self.on = self._channels.get
        """Returns a platform's channel, or None if it is not connected."""

    @classmethod
    def of(cls, channels: "Iterable[Channel] | Connected") -> "Connected":
        """Return the collection itself, or one of these channels."""
        return channels if isinstance(channels, Connected) else cls(channels)

    def __iter__(self) -> Iterator[Channel]:
        return iter(tuple(self._channels.values()))

    def __len__(self) -> int:
        return len(self._channels)

    def __contains__(self, channel: object) -> bool:
        return channel in self._channels.values()

    def put(self, channel: Channel) -> Channel | None:
        """Add a channel. Return the one of the same platform that it replaces, which the caller closes."""
        replaced = self._channels.get(channel.name)
        self._channels[channel.name] = channel
        return replaced

    def names(self, which: Callable[[Channel], bool] = lambda _: True) -> Collection[str]:
        """Return the names of those channels; the collection stays up to date."""
        return _Names(self, which)

    async def close(self) -> None:
        """Close all channels."""
        for channel in self:
            await channel.close()


class _Names(Collection[str]):
    """The names of some channels at the moment when they are asked for."""

    def __init__(self, channels: Connected, which: Callable[[Channel], bool]) -> None:
        self._channels = channels
        self._which = which

    def __iter__(self) -> Iterator[str]:
        return (channel.name for channel in self._channels if self._which(channel))

    def __len__(self) -> int:
        return sum(1 for _ in self)

    def __contains__(self, name: object) -> bool:
        return any(name == each for each in self)
