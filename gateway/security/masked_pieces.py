"""Masks a text that comes in pieces, in time proportional to its length."""

from gateway.security.secrets import Secrets


class MaskedPieces:
    """Passes on the masked text as far as nothing that follows can change it.

    Of ordinary words that is all but a few letters; of what may become a secret it is nothing.
    """

    def __init__(self, secrets: Secrets) -> None:
        self._secrets = secrets
        self._kept: list[str] = []
        self._size = 0
        self._enough = 0
        """Characters from which what is kept is looked at again, so that a long rest is not with each piece."""

    def add(self, piece: str) -> str:
        """Take the next piece, and return what can be passed on now."""
        self._kept.append(piece)
        self._size += len(piece)
        if self._size < self._enough:
            return ""
        safe, rest = self._secrets.settled("".join(self._kept))
        self._kept, self._size = [rest], len(rest)
        self._enough = len(rest) + len(rest) // 8
        return safe

    def end(self) -> str:
        """Return what is left, once all has come."""
        return self._secrets.mask("".join(self._kept))
