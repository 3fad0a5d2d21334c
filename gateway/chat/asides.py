"""The questions aside that a chat is being answered, which a stop ends."""

from collections.abc import Iterator
from contextlib import contextmanager

from agent_core.cancel import CancelToken
from channels.base import Sender


class Asides:
    """Holds the open questions aside of a chat."""

    def __init__(self) -> None:
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

    def may_be_stopped_by(self, sender: Sender, *, is_admin: bool) -> bool:
        return bool(self._stoppable(sender, is_admin=is_admin))

    def stop(self, by: Sender, *, is_admin: bool) -> bool:
        """Stop the user's questions, or those of all if it is an admin. Return True if there were any."""
        found = self._stoppable(by, is_admin=is_admin)
        for token in found:
            token.cancel()
        return bool(found)

    def _stoppable(self, by: Sender, *, is_admin: bool) -> list[CancelToken]:
        return [token for token, person in self._open.items() if is_admin or person == by.id]
