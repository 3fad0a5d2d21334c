"""The questions aside that a chat is being answered, which a stop ends."""

from collections.abc import Callable, Iterator
from contextlib import contextmanager

from agent_core.cancel import CancelToken
from channels.base import Sender


class Asides:
    """Holds the open questions aside of a chat."""

    def __init__(self, may_act_for: Callable[[Sender, str], bool]) -> None:
        """`may_act_for` returns True if somebody may act for the person with an id."""
        self._may_act_for = may_act_for
        self._open: dict[CancelToken, str] = {}

    @property
    def are_open(self) -> bool:
        return bool(self._open)

    @contextmanager
    def asked(self, by: Sender) -> Iterator[CancelToken]:
        """Hold a question of this user while the context is open; the token is cancelled when it is stopped."""
        token = CancelToken()
        self._open[token] = by.id
        try:
            yield token
        finally:
            del self._open[token]

    def may_be_stopped_by(self, sender: Sender) -> bool:
        return any(self._may_act_for(sender, person) for person in self._open.values())

    def stop(self, by: Sender) -> bool:
        """Stop the questions of those whom the user may act for. Return True if there were any."""
        found = [token for token, person in self._open.items() if self._may_act_for(by, person)]
        for token in found:
            token.cancel()
        return bool(found)
