"""The commands of a chat that are in progress, numbered as they began: a message waits for those before it."""


class OpenCommands:
    """Numbers commands, and knows up to which number all of them are over."""

    def __init__(self) -> None:
        self.newest = 0
        """The number of the command that began last."""
        self.open: set[int] = set()
        """The numbers of those that are in progress."""

    def begin(self) -> int:
        """Return the number of a command that begins."""
        self.newest += 1
        self.open.add(self.newest)
        return self.newest

    def end(self, number: int) -> None:
        self.open.discard(number)

    @property
    def over(self) -> int:
        """The highest number up to which all commands are over."""
        return min(self.open, default=self.newest + 1) - 1
