"""The attempts to send one message: how often it may have arrived, and when it is tried again."""

from collections.abc import Callable

from channels.base import ChannelError

FIRST_DELAY = 0.5
LONGEST_DELAY = 30.0


class Unconfirmed(ChannelError):
    """It is unknown if a message has arrived, and it was already repeated once."""

    def __init__(self) -> None:
        super().__init__("nobody knows whether it arrived")


def _nothing() -> None:
    """End nothing, as nothing was sent yet."""


class Attempts:
    """Retry policy and counter for one post."""

    def __init__(self, give_up_at: float, unknown: int) -> None:
        self._give_up_at = give_up_at
        self._delay = FIRST_DELAY
        self.unknown = unknown
        """Number of sends, including those before restarts, that may have arrived."""
        self.answered: Callable[[], None] = _nothing
        """Called once the message is acknowledged, or is certainly not on the screen."""

    def wait_after(self, error: ChannelError, now: float) -> float | None:
        """Return the seconds until the next try, or None to give up."""
        if error.permanent or now > self._give_up_at:
            return None
        wait = self._delay if error.retry_after is None else error.retry_after
        self._delay = min(self._delay * 2, LONGEST_DELAY)
        return wait
