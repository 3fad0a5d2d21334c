"""A shared limit on the memory of programs that run at the same time."""

import threading


class MemoryPool:
    """Limit on the memory of all running programs of one chat or one user.

    A program that asks for more than is left is refused, and its use is not recorded, so that the others are not
    affected.
    """

    def __init__(self, whose: str, most: int) -> None:
        self.most = most
        """Bytes."""
        self._whose = whose
        self._used: dict[object, int] = {}
        self._lock = threading.Lock()

    @property
    def is_shared(self) -> bool:
        """Return True if more than one program is running."""
        return len(self._used) > 1

    def left_to(self, program: object) -> int:
        """Return the bytes that the other programs leave."""
        with self._lock:
            return self._left_to(program)

    def use(self, program: object, amount: int) -> str:
        """Record how many bytes a program uses now; returns why that is too much, or an empty string."""
        with self._lock:
            left = self._left_to(program)
            if amount <= left:
                self._used[program] = amount
                return ""
        return (
            f"more memory than the programs of {self._whose} may use together: {self.most / 1e6:,.0f} MB, of which the "
            f"others use {(self.most - left) / 1e6:,.0f} MB"
        )

    def release(self, program: object) -> None:
        """Forget a program that has ended."""
        with self._lock:
            self._used.pop(program, None)

    def _left_to(self, program: object) -> int:
        return self.most - sum(used for each, used in self._used.items() if each is not program)
