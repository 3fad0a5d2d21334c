"""The commands of a chat that are in progress, numbered as they began: a message waits for those before it."""


class OpenCommands:
    """Numbers commands, and knows up to which number all of them are over."""

    def __init__(self) -> None:
        self.newest = 0
        """The number of the command that began last."""
        self._open: set[int] = set()

    def __bool__(self) -> bool:
        return bool(self._open)

    def begin(self) -> int:
        """Return the number of a command that begins."""
        self.newest += 1
        self._open.add(self.newest)
        return self.newest

    def end(self, number: int) -> None:
        self._open.discard(number)

    @property
    def over(self) -> int:
        """The highest number up to which all commands are over."""
        return min(self._open, default=self.newest + 1) - 1
